// What the Grafana dashboard shows: its panels and their queries.

type Query = readonly [legend: string, expr: string];

export interface Panel {
  title: string;
  /** What a reader may not know; shown behind the panel's (i). */
  description?: string;
  unit?: string;
  stacked?: boolean;
  queries: readonly Query[];
}

const chosen = 'namespace=~"$namespace",daemonset=~"$daemonset"';
const daemonSet = 'controller, namespace, daemonset';
const manager = 'job=~"$job"';
const rate = '[$__rate_interval]';
const legend = '{{namespace}}/{{daemonset}}';

/** Of each DaemonSet, once also around a failover, when two replicas have exported it. */
const each = (metric: string, matchers = '', by = ''): string =>
  `max by (${daemonSet}${by && `, ${by}`}) (${metric}{${chosen}${matchers && `,${matchers}`}})`;

/** Green below `warning`, orange from there. */
export const stats: readonly (Panel & { warning?: number })[] = [
  { title: 'DaemonSets', queries: [['DaemonSets', 'sum(max by (controller) (edgeset_rollouts))']] },
  {
    title: 'Not complete',
    description: 'DaemonSets of which an online node does not run the target.',
    queries: [['not complete', `count(${each('edgeset_rollout_complete')} == 0) or vector(0)`]],
  },
  {
    title: 'Halted',
    warning: 1,
    queries: [['halted', 'sum(max by (controller) (edgeset_rollouts_halted))']],
  },
  {
    title: 'Failed nodes',
    warning: 1,
    queries: [['failed', `sum(${each('edgeset_nodes', 'phase="failed"')})`]],
  },
  {
    title: 'Offline with an old version',
    queries: [['offline', `sum(${each('edgeset_node_causes', 'cause="offline-outdated"')}) or vector(0)`]],
  },
  {
    title: 'Managers that lead',
    description: 'One of them leads; the others stand by.',
    warning: 2,
    queries: [['leaders', `sum(leader_election_master_status{${manager}})`]],
  },
];

const quantile = (of: number, metric: string, labels: string, by = ''): string =>
  `histogram_quantile(${of}, sum by (${by}le) (rate(${metric}_bucket{${labels}}${rate})))`;

/** By the title of their row. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  Fleet: [
    {
      title: 'Nodes by phase',
      stacked: true,
      queries: [['{{phase}}', `sum by (phase) (${each('edgeset_nodes', '', 'phase')})`]],
    },
    {
      title: 'Why nodes do not run the target',
      stacked: true,
      queries: [['{{cause}}', `sum by (cause) (${each('edgeset_node_causes', 'phase!="updated"', 'cause')})`]],
    },
  ],
  Rollouts: [
    {
      title: 'Online nodes at the target',
      unit: 'percentunit',
      queries: [
        [
          legend,
          `sum by (${daemonSet}) (${each('edgeset_nodes', 'phase="updated"', 'phase')}) / (sum by (${daemonSet}) (${each('edgeset_nodes', 'phase!="offline"', 'phase')}) > 0)`,
        ],
      ],
    },
    {
      title: 'Running for',
      description: 'Since the template changed, until every online node was updated.',
      unit: 's',
      queries: [
        [
          legend,
          `time() - ${each('edgeset_rollout_started_timestamp_seconds')} unless ${each('edgeset_rollout_finished_timestamp_seconds')}`,
        ],
      ],
    },
    {
      title: 'Duration of the last rollout',
      unit: 's',
      queries: [
        [
          legend,
          `${each('edgeset_rollout_finished_timestamp_seconds')} - ${each('edgeset_rollout_started_timestamp_seconds')}`,
        ],
      ],
    },
    {
      title: 'Budget',
      description: 'Nodes that may be down at the same time, and online nodes that are down or in an update.',
      queries: [
        [`size: ${legend}`, each('edgeset_budget_nodes')],
        [`in use: ${legend}`, each('edgeset_budget_used_nodes')],
        [`in an update: ${legend}`, each('edgeset_updates_in_flight')],
      ],
    },
    {
      title: 'Failures and suspects',
      description: 'No update starts while failures and suspects together reach the threshold.',
      queries: [
        [`failures: ${legend}`, each('edgeset_breaker_failures')],
        [`suspects: ${legend}`, each('edgeset_breaker_suspects')],
        [`threshold: ${legend}`, each('edgeset_breaker_threshold')],
      ],
    },
    {
      title: 'What holds updates',
      description: 'Paused, halted, waiting for suspects, owners who decide, and so on.',
      stacked: true,
      queries: [[`{{hold}}: ${legend}`, each('edgeset_rollout_hold', '', 'hold')]],
    },
    {
      title: 'Time to update a node',
      description: 'From the reservation of a slot until the new pod is available.',
      unit: 's',
      queries: [
        ['median', quantile(0.5, 'edgeset_node_update_duration_seconds', chosen)],
        ['95th percentile', quantile(0.95, 'edgeset_node_update_duration_seconds', chosen)],
      ],
    },
    {
      title: 'Owners who have not decided',
      queries: [[legend, each('edgeset_owners_asked')]],
    },
  ],
  Manager: [
    {
      title: 'Writes to pods',
      unit: 'ops',
      queries: [['{{result}}', `sum by (result) (rate(edgeset_pod_writes_total{${manager}}${rate}))`]],
    },
    {
      title: 'Reservations and statuses',
      unit: 'ops',
      queries: [
        ['reservations: {{result}}', `sum by (result) (rate(edgeset_reservations_total{${manager}}${rate}))`],
        ['statuses', `sum(rate(edgeset_status_writes_total{${manager}}${rate}))`],
      ],
    },
    {
      title: 'Reconciles',
      unit: 'ops',
      queries: [
        [
          '{{controller}}: {{result}}',
          `sum by (controller, result) (rate(controller_runtime_reconcile_total{${manager}}${rate}))`,
        ],
      ],
    },
    {
      title: 'Since the last successful reconcile',
      description: 'Nothing is reconciled while nothing happens.',
      unit: 's',
      queries: [[legend, `time() - ${each('edgeset_last_reconcile_timestamp_seconds')}`]],
    },
    {
      title: 'Requests to the API server',
      unit: 'reqps',
      queries: [['{{method}} {{code}}', `sum by (method, code) (rate(rest_client_requests_total{${manager}}${rate}))`]],
    },
    {
      title: 'Latency of the API server, 99th percentile',
      unit: 's',
      queries: [['{{verb}}', quantile(0.99, 'rest_client_request_duration_seconds', manager, 'verb, ')]],
    },
    {
      title: 'Watches opened, and lists',
      description: 'API servers end a watch every 5 to 10 minutes. Many lists mean that watches cannot resume.',
      unit: 'ops',
      queries: [
        ['watch {{resource}}', `sum by (resource) (rate(edgeset_watches_opened_total{${manager}}${rate}))`],
        ['list {{resource}}', `sum by (resource) (rate(edgeset_lists_total{${manager}}${rate}))`],
      ],
    },
    {
      title: 'Work queue',
      queries: [
        ['waiting: {{name}}', `sum by (name) (workqueue_depth{${manager}})`],
        ['retries: {{name}}', `sum by (name) (increase(workqueue_retries_total{${manager}}${rate}))`],
      ],
    },
    {
      title: 'Time in the work queue, 99th percentile',
      unit: 's',
      queries: [['{{name}}', quantile(0.99, 'workqueue_queue_duration_seconds', manager, 'name, ')]],
    },
    {
      title: 'Delay of the event loop',
      unit: 's',
      queries: [['{{pod}}', `max by (pod) (nodejs_eventloop_lag_seconds{${manager}})`]],
    },
    {
      title: 'Memory',
      unit: 'bytes',
      queries: [
        ['heap: {{pod}}', `max by (pod) (nodejs_heap_size_used_bytes{${manager}})`],
        ['resident: {{pod}}', `max by (pod) (process_resident_memory_bytes{${manager}})`],
      ],
    },
    {
      title: 'CPU',
      unit: 'percentunit',
      queries: [['{{pod}}', `max by (pod) (rate(process_cpu_seconds_total{${manager}}${rate}))`]],
    },
    {
      title: 'Clock ahead of the API server',
      unit: 's',
      queries: [['{{pod}}', `max by (pod) (edgeset_clock_ahead_seconds{${manager}})`]],
    },
  ],
};
