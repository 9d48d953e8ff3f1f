import {
  create,
  imageOf,
  isReady,
  podOn,
  rolling,
  setImage,
  settled,
  statusOf,
  untilReady,
  untilStatus,
} from './acts.ts';
import type { Situation } from './situation.ts';
import type { Stage } from './stage.ts';

const BAD = 'app:v2--never-ready';

/** With a version that never gets ready, how far it comes shows the limit. */
const stuckAfter =
  (limits: object, replaced: number, total: number, image = BAD) =>
  async (stage: Stage): Promise<unknown> => {
    await settled(stage, { strategy: rolling(limits) });
    // Of two pods the older counts, by times in whole seconds: they must not be of the same one.
    await stage.quiet();
    await setImage(stage, image);
    await stage.until(`${replaced} of the new version run`, async () => {
      const pods = await stage.list('pods');
      const started = pods.filter(
        (pod) => imageOf(pod) === image && (pod.status as { phase?: string }).phase === 'Running',
      );
      return started.length === replaced && pods.length === total;
    });
    await stage.quiet();
    // Which nodes were taken is chance.
    const pods = await stage.list('pods');
    const tally = pods.map((pod) => `${imageOf(pod)} ${isReady(pod) ? 'ready' : 'not ready'}`).toSorted();
    const status = await statusOf(stage);
    await setImage(stage, 'app:v1');
    await untilStatus(stage, { updatedNumberScheduled: stage.nodes.length, numberAvailable: stage.nodes.length });
    await untilReady(stage);
    await stage.until('only they are left', async () => (await stage.list('pods')).length === stage.nodes.length);
    return { tally, status };
  };

/** A good version, to the end. */
const completes =
  (limits: object | undefined) =>
  async (stage: Stage): Promise<void> => {
    await settled(stage, limits ? { strategy: rolling(limits) } : { strategy: { type: 'RollingUpdate' } });
    await setImage(stage, 'app:v2');
    await untilReady(stage, 'app:v2');
    await stage.until('the old are gone', async () => (await stage.list('pods')).length === stage.nodes.length);
    await untilStatus(stage, { updatedNumberScheduled: stage.nodes.length, numberAvailable: stage.nodes.length });
  };

export const updates: readonly Situation[] = [
  {
    name: 'OnDelete: a new template makes a revision and leaves the pods',
    async play(stage) {
      await settled(stage);
      await setImage(stage, 'app:v2');
      await untilStatus(stage, { observedGeneration: 2, updatedNumberScheduled: 0 });
    },
  },
  {
    name: 'OnDelete: a deleted pod comes back with the new template',
    async play(stage) {
      await settled(stage);
      await setImage(stage, 'app:v2');
      await untilStatus(stage, { observedGeneration: 2 });
      await stage.remove('pods', (await podOn(stage, stage.nodes[0])).metadata.name);
      await untilReady(stage, 'app:v2', 1);
      await untilStatus(stage, { updatedNumberScheduled: 1, numberAvailable: 3 });
    },
  },
  {
    name: 'OnDelete: a change that is not of the template is observed and makes no revision',
    async play(stage) {
      await settled(stage);
      await stage.patch('daemonsets', 'app', { spec: { minReadySeconds: 1 } });
      await untilStatus(stage, { observedGeneration: 2, numberAvailable: 3 });
    },
  },
  { name: 'RollingUpdate by default: one after another', play: completes(undefined) },
  { name: 'RollingUpdate with maxUnavailable 2 completes', play: completes({ maxUnavailable: 2 }) },
  { name: 'RollingUpdate with maxSurge 1 completes', play: completes({ maxSurge: 1, maxUnavailable: 0 }) },
  { name: 'maxUnavailable 1 stops at one bad pod', play: stuckAfter({ maxUnavailable: 1 }, 1, 3) },
  { name: 'maxUnavailable 2 stops at two', play: stuckAfter({ maxUnavailable: 2 }, 2, 3) },
  { name: 'maxUnavailable 34% of 3 nodes is 2', play: stuckAfter({ maxUnavailable: '34%' }, 2, 3) },
  { name: 'maxUnavailable 10% of 3 nodes is 1', play: stuckAfter({ maxUnavailable: '10%' }, 1, 3) },
  { name: 'maxSurge 1 puts one bad pod beside an old one', play: stuckAfter({ maxSurge: 1, maxUnavailable: 0 }, 1, 4) },
  { name: 'maxSurge 67% of 3 nodes is 3', play: stuckAfter({ maxSurge: '67%', maxUnavailable: 0 }, 3, 6) },
  {
    name: 'old pods that are not available are replaced all at once, whatever the limit',
    async play(stage) {
      await create(stage, { image: 'app:v1--never-ready', strategy: rolling({ maxUnavailable: 1 }) });
      await untilStatus(stage, { currentNumberScheduled: 3 });
      await stage.quiet();
      await setImage(stage, BAD);
      await stage.until('all are new', async () => {
        const pods = await stage.list('pods');
        return pods.length === 3 && pods.every((pod) => imageOf(pod) === BAD && !pod.metadata.deletionTimestamp);
      });
      await untilStatus(stage, { updatedNumberScheduled: 3 });
    },
  },
  {
    name: 'from OnDelete to RollingUpdate the waiting update begins',
    async play(stage) {
      await settled(stage);
      await setImage(stage, 'app:v2');
      await untilStatus(stage, { observedGeneration: 2 });
      await stage.patch('daemonsets', 'app', { spec: { updateStrategy: rolling({ maxUnavailable: 3 }) } });
      await untilReady(stage, 'app:v2');
    },
  },
  {
    name: 'a rolling update leaves an offline node its old pod',
    async play(stage) {
      await settled(stage, { strategy: rolling({ maxUnavailable: 1 }) });
      await stage.offline(stage.nodes.slice(0, 1));
      await untilStatus(stage, { numberReady: 2 });
      await setImage(stage, 'app:v2');
      await stage.quiet();
      const pods = (await stage.list('pods')).map(
        (pod) => `${imageOf(pod)} ${pod.metadata.deletionTimestamp ? 'terminating' : ''}`,
      );
      const { numberReady, numberAvailable } = await statusOf(stage);
      await stage.online(stage.nodes.slice(0, 1));
      await untilReady(stage, 'app:v2');
      return { pods: pods.toSorted(), numberReady, numberAvailable };
    },
  },
];
