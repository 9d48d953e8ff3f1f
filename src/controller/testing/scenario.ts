import assert from 'node:assert/strict';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { nodes, pods } from '../../kube/index.ts';
import type { DaemonRolloutStatus } from '../../words/index.ts';
import type { ControllerOptions, Notifier } from '../index.ts';
import type { Call } from './api.ts';
import { createTestCluster, type TestCluster } from './cluster.ts';
import { startManager, type TestManager } from './manager.ts';

const isReady = (conditions: readonly { type: string; status: string }[] = []): boolean =>
  conditions.some(({ type, status }) => type === 'Ready' && status === 'True');

const createScenario = (cluster: TestCluster) => {
  const managers: TestManager[] = [];
  const violations: string[] = [];
  let mostDown = 0;

  const down = (): number => {
    const serving = new Set(
      (cluster.api.objects.all(pods) as Pod[])
        .filter((pod) => !pod.metadata?.deletionTimestamp && isReady(pod.status?.conditions))
        .map((pod) => pod.spec?.nodeName),
    );
    return (cluster.api.objects.all(nodes) as Node[]).filter(
      (node) => isReady(node.status?.conditions) && !serving.has(node.metadata?.name),
    ).length;
  };

  cluster.api.objects.listen(({ plural }) => {
    if (plural !== 'pods') return;
    mostDown = Math.max(mostDown, down());
  });
  cluster.api.onDelete((call) => {
    if (call.plural !== 'pods') return;
    const { uid, resourceVersion } = call.body as { uid?: string; resourceVersion?: string };
    const held = cluster
      .rollout()
      ?.status?.reservations?.some(
        ({ podUID, podResourceVersion }) => podUID === uid && podResourceVersion === resourceVersion,
      );
    if (!uid || !resourceVersion || !held) violations.push(`${call.name} is deleted without a written slot`);
  });

  const parts = {
    cluster,
    api: cluster.api,
    clock: cluster.clock,
    /** Starts a manager that does not lead yet. */
    manage: (identity?: string, notifier?: Notifier, checks?: ControllerOptions['checks']): TestManager => {
      const manager = startManager(cluster, identity, notifier, checks);
      managers.push(manager);
      return manager;
    },
    /** `count` nodes n1, n2, ... that run v1, a DaemonSet with this budget, and a leader whose rollout is complete. */
    settled: async (count: number, budget: string, annotations: Record<string, string> = {}): Promise<TestManager> => {
      for (let index = 1; index <= count; index += 1) cluster.addNode(`n${index}`);
      cluster.createSet({ 'apps.openyurt.io/max-unavailable': budget, ...annotations });
      await cluster.clock.advance(10_000);
      const manager = parts.manage();
      manager.lead();
      await cluster.clock.advance(5_000);
      assert.equal(parts.condition('Complete')?.status, 'True');
      mostDown = 0;
      return manager;
    },
    /** Sets a template, and stops right before its revision is known: the first reservation comes next. */
    beforeReservation: async (tag: string): Promise<void> => {
      cluster.setImage(tag);
      await cluster.clock.advance(49);
    },
    status: (): DaemonRolloutStatus => cluster.rollout()?.status ?? {},
    condition: (type: string) => parts.status().conditions?.find((condition) => condition.type === type),
    /** Nodes with slots that the DaemonRollout does not call used. */
    open: (): string[] =>
      (parts.status().reservations ?? []).filter(({ carriedOut }) => !carriedOut).map(({ node }) => node),
    /** Requests since a point in time, such as `replace daemonrollouts`. */
    requests: (since: number): string[] =>
      cluster.api.calls.filter(({ at }) => at >= since).map(({ verb, plural }) => `${verb} ${plural}`),
    deletes: (): Call[] => cluster.api.calls.filter(({ verb, plural }) => verb === 'delete' && plural === 'pods'),
    /** The most online nodes that were without a ready pod at one time since `settled`. */
    mostDown: (): number => mostDown,
    down,
    async end(): Promise<void> {
      for (const manager of managers) await manager.stop();
      assert.deepEqual(violations, []);
      assert.deepEqual(cluster.api.unfired(), [], 'faults that never occurred');
    },
  };
  return parts;
};
export type Scenario = ReturnType<typeof createScenario>;

/** A test with its own cluster, in which no pod may be deleted unless its slot is on record. */
export const scenario = (play: (scene: Scenario) => Promise<void>) => async (): Promise<void> => {
  const parts = createScenario(createTestCluster());
  await play(parts);
  await parts.end();
};

export const conditionOf = (pod: Pod | undefined) =>
  pod?.status?.conditions?.find(({ type }) => type === 'PodNeedUpgrade');

/** Condition PodNeedUpgrade of each node's pod, such as `True NewRevision v2`. */
export const announcements = ({ api }: Scenario): Record<string, string> =>
  Object.fromEntries(
    (api.objects.all(pods) as Pod[])
      .map((pod): [string, string] => {
        const { status, reason, message = '' } = conditionOf(pod) ?? {};
        const text = status ? `${status} ${reason} ${message.replace('controllerrevision: ', '')}` : 'nothing';
        return [pod.spec?.nodeName ?? '', text];
      })
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

export const patches = ({ api }: Scenario): number => api.sent('patch', 'pods').length;

export const onEveryNode = (text: string, count = 3): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index + 1}`, text]));
