import { Gauge, Histogram, type Registry } from 'prom-client';
import { withRefusal } from '../rollout/index.ts';
import { phases } from '../words/index.ts';
import type { ComputedCounts, RolloutCounts } from './types.ts';

const daemonSetLabels = ['controller', 'namespace', 'daemonset'] as const;
type DaemonSetLabels = Record<(typeof daemonSetLabels)[number], string>;

/** From a pod that only restarts to an image of gigabytes on a slow link. */
const updateBuckets = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600];

const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);

/** One number of each DaemonSet; no series where it is undefined. */
const values: readonly [name: string, help: string, value: (rollout: ComputedCounts) => number | undefined][] = [
  [
    'edgeset_rollout_started_timestamp_seconds',
    'When the present rollout began, Unix time; none while the target is the first that is known.',
    ({ startedAt }) => seconds(startedAt),
  ],
  [
    'edgeset_rollout_finished_timestamp_seconds',
    'When all online nodes had been updated, Unix time; none before.',
    ({ finishedAt }) => seconds(finishedAt),
  ],
  [
    'edgeset_rollout_complete',
    '1 while every online node runs the target and no update is in flight, otherwise 0.',
    ({ summary }) => summary && Number(summary.complete),
  ],
  [
    'edgeset_rollout_image_drift',
    'How many images of the target differ between nodes, counted for each architecture.',
    ({ summary }) => summary?.drift.length,
  ],
  ['edgeset_budget_nodes', 'How many nodes may be down at the same time.', ({ summary }) => summary?.budget],
  [
    'edgeset_budget_used_nodes',
    'Online nodes that are down or in an update.',
    ({ summary }) => summary?.usage.occupied,
  ],
  [
    'edgeset_updates_in_flight',
    'Online nodes with an update that has not completed.',
    ({ summary }) => summary?.usage.inFlight,
  ],
  ['edgeset_breaker_failures', 'Nodes that the target revision failed on.', ({ summary }) => summary?.breaker.failures],
  [
    'edgeset_breaker_suspects',
    'Nodes that went offline soon after their update.',
    ({ summary }) => summary?.breaker.suspects,
  ],
  [
    'edgeset_breaker_threshold',
    'No update starts while failures and suspects together reach it.',
    ({ summary }) => summary?.breaker.threshold,
  ],
  [
    'edgeset_owners_asked',
    'Nodes whose owners have not approved the target; only where owners decide.',
    ({ ownersAsked }) => ownersAsked,
  ],
  [
    'edgeset_last_reconcile_timestamp_seconds',
    'When a reconcile of the DaemonSet last succeeded, Unix time. Nothing is reconciled while nothing happens.',
    ({ reconciledAt }) => seconds(reconciledAt),
  ],
];

/** Every rollout of every controller, read at the time of the call. */
export type RolloutSources = ReadonlyMap<string, () => Iterable<RolloutCounts>>;

/**
 * What is known about each managed DaemonSet. The gauges are read at each scrape: updating them on every event would cost
 * more. The series of a DaemonSet end with it.
 */
export const createRolloutMetrics = (registry: Registry, sources: RolloutSources) => {
  const registers = [registry];
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name, help: `${help.replace(/\.$/, '')}; exported by the leader only.`, labelNames, registers });

  const nodes = gauge('edgeset_nodes', 'Eligible nodes of a DaemonSet by rollout phase', [...daemonSetLabels, 'phase']);
  const causes = gauge(
    'edgeset_node_causes',
    'Eligible nodes of a DaemonSet by why they are in their phase; no series for a cause without nodes',
    [...daemonSetLabels, 'phase', 'cause'],
  );
  const stageNodes = gauge(
    'edgeset_stage_nodes',
    'Nodes of a stage of the rollout plan: all of them, those that are online, those that run the target, and those that have it although the stage is closed',
    [...daemonSetLabels, 'stage', 'nodes'],
  );
  const stageState = gauge('edgeset_stage_state', '1 for what a stage of the rollout plan is: Passed, Open or Closed', [
    ...daemonSetLabels,
    'stage',
    'state',
  ]);
  const stageAwaits = gauge(
    'edgeset_stage_awaits',
    '1 for what the open stage of the rollout plan waits for; no series for other stages',
    [...daemonSetLabels, 'stage', 'reason'],
  );
  const ofStages = [stageNodes, stageState, stageAwaits];
  const hold = gauge(
    'edgeset_rollout_hold',
    '1 for what keeps all updates of a DaemonSet from starting; no series while updates may start',
    [...daemonSetLabels, 'hold'],
  );
  const served = gauge('edgeset_rollouts', 'DaemonSets that a controller manages', ['controller']);
  const halted = gauge('edgeset_rollouts_halted', 'Rollouts halted by the breaker', ['controller']);
  const gauges = values.map(([name, help, value]) => ({ metric: gauge(name, help, daemonSetLabels), value }));
  const updateSeconds = new Histogram({
    name: 'edgeset_node_update_duration_seconds',
    help: 'From the reservation of a slot until the new pod of the node is available; exported by the leader only.',
    labelNames: daemonSetLabels,
    buckets: updateBuckets,
    registers,
  });
  /** DaemonSets that `updateSeconds` has series of. */
  const measured = new Map<string, DaemonSetLabels>();
  const keyOf = ({ controller, namespace, daemonset }: DaemonSetLabels): string =>
    `${controller}/${namespace}/${daemonset}`;

  const forgetGone = (): void => {
    const present = new Set<string>();
    for (const [controller, rollouts] of sources)
      for (const { namespace, name } of rollouts()) present.add(keyOf({ controller, namespace, daemonset: name }));
    for (const [key, labels] of measured) {
      if (present.has(key)) continue;
      measured.delete(key);
      updateSeconds.remove(labels);
    }
  };

  return {
    read(): void {
      for (const metric of [nodes, causes, ...ofStages, hold, served, halted, ...gauges.map((each) => each.metric)])
        metric.reset();
      for (const [controller, rollouts] of sources) {
        served.set({ controller }, 0);
        halted.set({ controller }, 0);
        for (const rollout of rollouts()) {
          const labels: DaemonSetLabels = { controller, namespace: rollout.namespace, daemonset: rollout.name };
          const key = keyOf(labels);
          // A rate needs a zero to rise from: without it the first updates would not be seen.
          if (!measured.has(key)) updateSeconds.zero(labels);
          measured.set(key, labels);
          served.inc({ controller });
          if (rollout.hasError) {
            hold.set({ ...labels, hold: 'error' }, 1);
            continue;
          }
          if (rollout.halted) halted.inc({ controller });
          for (const phase of phases) nodes.set({ ...labels, phase }, rollout.phases[phase]);
          for (const { phase, cause, count } of rollout.causes) causes.set({ ...labels, phase, cause }, count);
          for (const { name: stage, state, nodes: numbers, awaits } of rollout.stages) {
            for (const [which, count] of Object.entries({ exposed: 0, ...numbers }))
              stageNodes.set({ ...labels, stage, nodes: which }, count);
            stageState.set({ ...labels, stage, state }, 1);
            if (awaits) stageAwaits.set({ ...labels, stage, reason: awaits.reason }, 1);
          }
          const held = rollout.summary && withRefusal(rollout.summary).hold;
          if (held) hold.set({ ...labels, hold: held.kind }, 1);
          for (const { metric, value } of gauges) {
            const now = value(rollout);
            if (now !== undefined) metric.set(labels, now);
          }
        }
      }
      forgetGone();
    },

    /** An update completed. Ignored while this process does not lead: another one counts it. */
    nodeUpdated(controller: string, { namespace, name }: { namespace: string; name: string }, duration: number): void {
      if (!sources.has(controller)) return;
      const labels: DaemonSetLabels = { controller, namespace, daemonset: name };
      const key = keyOf(labels);
      // Nobody may scrape, and the series of DaemonSets that are gone must not add up.
      if (!measured.has(key)) forgetGone();
      measured.set(key, labels);
      updateSeconds.observe(labels, duration);
    },
  };
};
