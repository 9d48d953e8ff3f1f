import type { ScenarioCluster } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import {
  createDaemonSet,
  createReady,
  imageOf,
  isReady,
  podOn,
  rolling,
  setImage,
  statusOf,
  untilReady,
  untilStatus,
} from './steps.ts';

const BAD = 'app:v2--never-ready';

/** With a version that never becomes ready, progress shows the limit. */
const stuckAfter =
  (limits: object, replaced: number, total: number, image = BAD) =>
  async (cluster: ScenarioCluster): Promise<unknown> => {
    await createReady(cluster, { strategy: rolling(limits) });
    // Of two pods the older one counts. Times are in whole seconds, so the pods must not be created in the same one.
    await cluster.untilIdle();
    await setImage(cluster, image);
    await cluster.until(`${replaced} of the new version run`, async () => {
      const pods = await cluster.list('pods');
      const started = pods.filter(
        (pod) => imageOf(pod) === image && (pod.status as { phase?: string }).phase === 'Running',
      );
      return started.length === replaced && pods.length === total;
    });
    await cluster.untilIdle();
    // The choice of nodes is random.
    const pods = await cluster.list('pods');
    const tally = pods.map((pod) => `${imageOf(pod)} ${isReady(pod) ? 'ready' : 'not ready'}`).toSorted();
    const status = await statusOf(cluster);
    await setImage(cluster, 'app:v1');
    await untilStatus(cluster, { updatedNumberScheduled: cluster.nodes.length, numberAvailable: cluster.nodes.length });
    await untilReady(cluster);
    await cluster.until('only they are left', async () => (await cluster.list('pods')).length === cluster.nodes.length);
    return { tally, status };
  };

/** A working version completes. */
const completes =
  (limits: object | undefined) =>
  async (cluster: ScenarioCluster): Promise<void> => {
    await createReady(cluster, limits ? { strategy: rolling(limits) } : { strategy: { type: 'RollingUpdate' } });
    await setImage(cluster, 'app:v2');
    await untilReady(cluster, 'app:v2');
    await cluster.until('the old are gone', async () => (await cluster.list('pods')).length === cluster.nodes.length);
    await untilStatus(cluster, { updatedNumberScheduled: cluster.nodes.length, numberAvailable: cluster.nodes.length });
  };

export const updates: readonly Scenario[] = [
  {
    name: 'OnDelete: a new template creates a revision and keeps the pods',
    async run(cluster) {
      await createReady(cluster);
      await setImage(cluster, 'app:v2');
      await untilStatus(cluster, { observedGeneration: 2, updatedNumberScheduled: 0 });
    },
  },
  {
    name: 'OnDelete: a deleted pod is replaced with the new template',
    async run(cluster) {
      await createReady(cluster);
      await setImage(cluster, 'app:v2');
      await untilStatus(cluster, { observedGeneration: 2 });
      await cluster.remove('pods', (await podOn(cluster, cluster.nodes[0])).metadata.name);
      await untilReady(cluster, 'app:v2', 1);
      await untilStatus(cluster, { updatedNumberScheduled: 1, numberAvailable: 3 });
    },
  },
  {
    name: 'OnDelete: a change outside the template is observed and creates no revision',
    async run(cluster) {
      await createReady(cluster);
      await cluster.patch('daemonsets', 'app', { spec: { minReadySeconds: 1 } });
      await untilStatus(cluster, { observedGeneration: 2, numberAvailable: 3 });
    },
  },
  { name: 'RollingUpdate by default: one node at a time', run: completes(undefined) },
  { name: 'RollingUpdate with maxUnavailable 2 completes', run: completes({ maxUnavailable: 2 }) },
  { name: 'RollingUpdate with maxSurge 1 completes', run: completes({ maxSurge: 1, maxUnavailable: 0 }) },
  { name: 'maxUnavailable 1 stops at one bad pod', run: stuckAfter({ maxUnavailable: 1 }, 1, 3) },
  { name: 'maxUnavailable 2 stops at two', run: stuckAfter({ maxUnavailable: 2 }, 2, 3) },
  { name: 'maxUnavailable 34% of 3 nodes is 2', run: stuckAfter({ maxUnavailable: '34%' }, 2, 3) },
  { name: 'maxUnavailable 10% of 3 nodes is 1', run: stuckAfter({ maxUnavailable: '10%' }, 1, 3) },
  {
    name: 'maxSurge 1 creates one bad pod next to an old one',
    run: stuckAfter({ maxSurge: 1, maxUnavailable: 0 }, 1, 4),
  },
  { name: 'maxSurge 67% of 3 nodes is 3', run: stuckAfter({ maxSurge: '67%', maxUnavailable: 0 }, 3, 6) },
  {
    name: 'unavailable old pods are replaced at once, whatever the limit',
    async run(cluster) {
      await createDaemonSet(cluster, { image: 'app:v1--never-ready', strategy: rolling({ maxUnavailable: 1 }) });
      await untilStatus(cluster, { currentNumberScheduled: 3 });
      await cluster.untilIdle();
      await setImage(cluster, BAD);
      await cluster.until('all are new', async () => {
        const pods = await cluster.list('pods');
        return pods.length === 3 && pods.every((pod) => imageOf(pod) === BAD && !pod.metadata.deletionTimestamp);
      });
      await untilStatus(cluster, { updatedNumberScheduled: 3 });
    },
  },
  {
    name: 'switching from OnDelete to RollingUpdate starts the pending update',
    async run(cluster) {
      await createReady(cluster);
      await setImage(cluster, 'app:v2');
      await untilStatus(cluster, { observedGeneration: 2 });
      await cluster.patch('daemonsets', 'app', { spec: { updateStrategy: rolling({ maxUnavailable: 3 }) } });
      await untilReady(cluster, 'app:v2');
    },
  },
  {
    name: 'a rolling update keeps the old pod of an offline node',
    async run(cluster) {
      await createReady(cluster, { strategy: rolling({ maxUnavailable: 1 }) });
      await cluster.offline(cluster.nodes.slice(0, 1));
      await untilStatus(cluster, { numberReady: 2 });
      await setImage(cluster, 'app:v2');
      await cluster.untilIdle();
      const pods = (await cluster.list('pods')).map(
        (pod) => `${imageOf(pod)} ${pod.metadata.deletionTimestamp ? 'terminating' : ''}`,
      );
      const { numberReady, numberAvailable } = await statusOf(cluster);
      await cluster.online(cluster.nodes.slice(0, 1));
      await untilReady(cluster, 'app:v2');
      return { pods: pods.toSorted(), numberReady, numberAvailable };
    },
  },
];
