// When each alert of the chart fires, and when it doesn't.

const scraped = 'namespace="edgeset-system",job="edgeset-manager",pod="m-1"';
const daemonSet = 'controller="native",namespace="shop",daemonset="web"';
const nodes = (phase: string): string => `edgeset_nodes{${daemonSet},phase="${phase}",pod="m-1"}`;
const hold = (kind: string): string => `edgeset_rollout_hold{${daemonSet},hold="${kind}",pod="m-1"}`;
const budget = (what: string): string => `edgeset_budget_${what}{${daemonSet},pod="m-1"}`;
const cause = (name: string): string => `edgeset_node_causes{${daemonSet},phase="offline",cause="${name}",pod="m-1"}`;
const finished = `edgeset_rollout_finished_timestamp_seconds{${daemonSet},pod="m-1"}`;
const requests = (code: string): string => `rest_client_requests_total{${scraped},method="GET",code="${code}"}`;
const lease = (pod: string): string =>
  `leader_election_master_status{namespace="edgeset-system",name="edgeset-manager",pod="${pod}"}`;

export interface AlertCase {
  what: string;
  /** Values by series, one a minute. */
  series: Readonly<Record<string, string>>;
  at: string;
  /** Labels of each alert that fires. */
  fires: Readonly<Record<string, string>>;
}

const calm = { [lease('m-1')]: '1x200' } as const;

export const alertCases: readonly AlertCase[] = [
  {
    what: 'nothing fires while a rollout advances',
    series: {
      ...calm,
      [lease('m-2')]: '0x200',
      [nodes('updating')]: '2x200',
      [nodes('updated')]: '0+1x200',
      [nodes('outdated')]: '200-1x200',
      [nodes('broken')]: '1x200',
      [nodes('failed')]: '0x200',
      [budget('nodes')]: '3x200',
      [budget('used_nodes')]: '3x200',
      'edgeset_rollouts_halted{controller="native"}': '0x200',
      [`edgeset_clock_ahead_seconds{${scraped}}`]: '0x200',
      [`controller_runtime_reconcile_total{${scraped},controller="native",result="success"}`]: '0+9x200',
      [`controller_runtime_reconcile_total{${scraped},controller="native",result="error"}`]: '3x200',
      [`rest_client_requests_total{${scraped},method="GET",code="200"}`]: '0+9x200',
      'rest_client_requests_total{namespace="shop",job="other",method="GET",code="403"}': '0+9x200',
    },
    at: '150m',
    fires: {},
  },
  {
    what: 'a halted rollout',
    series: { ...calm, 'edgeset_rollouts_halted{controller="native"}': '0 0 1x10' },
    at: '2m',
    fires: { EdgesetRolloutHalted: 'controller="native"' },
  },
  {
    what: 'failed nodes',
    series: { ...calm, [nodes('failed')]: '2x20' },
    at: '5m',
    fires: { EdgesetNodesFailed: daemonSet },
  },
  {
    what: 'updates that do not complete',
    series: { ...calm, [nodes('updating')]: '2x200', [nodes('updated')]: '0+1x20 20x200' },
    at: '90m',
    fires: { EdgesetUpdateStuck: daemonSet },
  },
  {
    what: 'updates that have not completed for an hour yet',
    series: { ...calm, [nodes('updating')]: '2x200', [nodes('updated')]: '0+1x20 20x200' },
    at: '80m',
    fires: {},
  },
  {
    what: 'broken nodes and a rollout that does not advance',
    series: { ...calm, [nodes('missing')]: '1x200', [nodes('outdated')]: '5x200', [nodes('updated')]: '3x200' },
    at: '61m',
    fires: { EdgesetBudgetUsedByBrokenNodes: daemonSet },
  },
  {
    what: 'broken nodes of a complete rollout',
    series: { ...calm, [nodes('broken')]: '1x200', [nodes('outdated')]: '0x200', [nodes('updated')]: '3x200' },
    at: '61m',
    fires: {},
  },
  {
    what: 'a budget that is used by nodes of closed stages',
    series: {
      ...calm,
      [nodes('held')]: '2x200',
      [nodes('outdated')]: '5x200',
      [nodes('updated')]: '3x200',
      [budget('nodes')]: '2x200',
      [budget('used_nodes')]: '2x200',
    },
    at: '61m',
    fires: { EdgesetBudgetUsedByBrokenNodes: daemonSet },
  },
  {
    what: 'a budget that has room while nodes wait',
    series: {
      ...calm,
      [nodes('held')]: '2x200',
      [nodes('outdated')]: '5x200',
      [nodes('updated')]: '3x200',
      [budget('nodes')]: '2x200',
      [budget('used_nodes')]: '1x200',
    },
    at: '61m',
    fires: {},
  },
  { what: 'no manager', series: {}, at: '2m', fires: { EdgesetNoLeader: '' } },
  {
    what: 'managers that do not lead',
    series: { [lease('m-1')]: '1 1 0x10', [lease('m-2')]: '0x10' },
    at: '4m',
    fires: { EdgesetNoLeader: '' },
  },
  {
    what: 'a failover within two minutes',
    series: { [lease('m-1')]: '1 0x10', [lease('m-2')]: '0 0 1x10' },
    at: '3m',
    fires: {},
  },
  {
    what: 'two leaders',
    series: { ...calm, [lease('m-2')]: '1x10' },
    at: '3m',
    fires: { EdgesetSeveralLeaders: '' },
  },
  {
    what: 'a clock that is behind',
    series: { ...calm, [`edgeset_clock_ahead_seconds{${scraped}}`]: '-3600x10' },
    at: '5m',
    fires: { EdgesetClockWrong: 'namespace="edgeset-system",pod="m-1"' },
  },
  {
    what: 'reconciles that fail',
    series: {
      ...calm,
      [`controller_runtime_reconcile_total{${scraped},controller="advanced",result="error"}`]: '0+1x30',
    },
    at: '20m',
    fires: { EdgesetReconcileErrors: 'controller="advanced"' },
  },
  {
    what: 'requests that are forbidden',
    series: { ...calm, [`rest_client_requests_total{${scraped},method="PATCH",code="403"}`]: '0+1x30' },
    at: '20m',
    fires: { EdgesetRequestsForbidden: 'method="PATCH"' },
  },
  ...['waiting', 'unobserved', 'unsynced', 'refused', 'error'].map((kind) => ({
    what: `a rollout that is ${kind}`,
    series: { ...calm, [hold(kind)]: '1x60' },
    at: '31m',
    fires: { EdgesetWaitingTooLong: `${daemonSet},hold="${kind}"` },
  })),
  {
    what: 'a rollout that waited for suspects, and continues',
    series: { ...calm, [hold('waiting')]: '1x20 _x20 1x20' },
    at: '50m',
    fires: {},
  },
  {
    what: 'rollouts that people stopped, or owners decide on',
    series: { ...calm, [hold('paused')]: '1x200', [hold('owner')]: '1x200', [hold('frozen')]: '1x200' },
    at: '150m',
    fires: {},
  },
  {
    what: 'an invalid policy',
    series: { ...calm, [hold('invalid')]: '1x20' },
    at: '11m',
    fires: { EdgesetPolicyInvalid: daemonSet },
  },
  {
    what: 'an invalid policy that is corrected',
    series: { ...calm, [hold('invalid')]: '1x3 _x20' },
    at: '11m',
    fires: {},
  },
  {
    what: 'offline nodes with an old version, a day after the rollout finished',
    series: { ...calm, [finished]: '0x1500', [cause('offline-outdated')]: '3x1500', [lease('m-1')]: '1x1500' },
    at: '1450m',
    fires: { EdgesetStragglers: daemonSet },
  },
  {
    what: 'offline nodes with an old version, within a day after the rollout finished',
    series: { ...calm, [finished]: '0x1500', [cause('offline-outdated')]: '3x1500', [lease('m-1')]: '1x1500' },
    at: '1435m',
    fires: {},
  },
  {
    what: 'requests that fail',
    series: {
      ...calm,
      [requests('200')]: '0+9x40',
      [requests('<error>')]: '0+1x40',
      [requests('503')]: '0+1x40',
    },
    at: '25m',
    fires: { EdgesetApiErrors: '' },
  },
  {
    what: 'requests of which few fail, or the server is busy',
    series: {
      ...calm,
      [requests('200')]: '0+50x40',
      [requests('503')]: '0+1x40',
      [requests('429')]: '0+9x40',
    },
    at: '25m',
    fires: {},
  },
];

/** With the alert that Alertmanager inhibits another one by. */
export const inhibitorCases: readonly AlertCase[] = [
  {
    what: 'a DaemonSet of which nodes are offline and wait',
    series: { ...calm, [nodes('offline')]: '5x20', [nodes('held')]: '2x20', [nodes('broken')]: '0x20' },
    at: '5m',
    fires: { EdgesetRolloutStuckExpected: 'namespace="shop",daemonset="web"' },
  },
  {
    what: 'a DaemonSet of which an online node is broken',
    series: { ...calm, [nodes('offline')]: '5x20', [nodes('broken')]: '1x20', [nodes('missing')]: '0x20' },
    at: '5m',
    fires: {},
  },
];
