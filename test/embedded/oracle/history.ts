import type { ScenarioCluster } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import { createDaemonSet, createReady, rolling, setImage, untilReady, untilStatus, withoutUid } from './steps.ts';

const HASH = 'controller-revision-hash';

const observed = (cluster: ScenarioCluster, generation: number): Promise<void> =>
  untilStatus(cluster, { observedGeneration: generation });

/** Scenarios about ControllerRevisions. */
export const history: readonly Scenario[] = [
  {
    name: 'a revision holds the template as a patch that replaces it, with its labels and owner',
    nodes: 1,
    async run(cluster) {
      await createDaemonSet(cluster, { annotations: { note: 'in the template' } });
      await untilStatus(cluster, { numberAvailable: 1 });
      const [revision] = await cluster.list('controllerrevisions');
      const text = JSON.stringify(revision?.data).replaceAll(cluster.namespace, 'node');
      const { labels = {}, name = '', ownerReferences = [] } = revision?.metadata ?? {};
      return {
        data: JSON.parse(text) as unknown,
        labels: Object.keys(labels).toSorted(),
        named: name === `app-${labels[HASH]}`,
        hash: /^[bcdfghjklmnpqrstvwxz2456789]{8,10}$/.test(labels[HASH] ?? ''),
        owners: ownerReferences.map(withoutUid),
      };
    },
  },
  {
    name: 'returning to an earlier template raises its revision number',
    async run(cluster) {
      await createReady(cluster);
      const before = (await cluster.list('controllerrevisions'))[0]?.metadata.name;
      await setImage(cluster, 'app:v2');
      await observed(cluster, 2);
      await setImage(cluster, 'app:v1');
      await observed(cluster, 3);
      await untilStatus(cluster, { updatedNumberScheduled: 3 });
      const all = await cluster.list('controllerrevisions');
      return all.find(({ revision }) => revision === 3)?.metadata.name === before;
    },
  },
  {
    name: 'the oldest revisions beyond the limit are deleted',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster, { strategy: rolling({ maxUnavailable: 1 }), spec: { revisionHistoryLimit: 2 } });
      for (const version of [2, 3, 4, 5]) {
        await setImage(cluster, `app:v${version}`);
        await untilReady(cluster, `app:v${version}`);
      }
      await cluster.until('three are left', async () => (await cluster.list('controllerrevisions')).length === 3);
    },
  },
  {
    name: 'a revision that a pod still runs is kept beyond the limit',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster, { spec: { revisionHistoryLimit: 0 } });
      await setImage(cluster, 'app:v2');
      await observed(cluster, 2);
      await setImage(cluster, 'app:v3');
      await observed(cluster, 3);
      await cluster.until('two are left', async () => (await cluster.list('controllerrevisions')).length === 2);
    },
  },
  {
    name: 'a revision name taken by another template raises the collision count',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster);
      const [taken] = await cluster.list('controllerrevisions');
      const name = taken?.metadata.name ?? '';
      await cluster.remove('daemonsets', 'app', { propagationPolicy: 'Background' });
      await cluster.until('all is gone', async () => {
        const left = await Promise.all([cluster.list('pods'), cluster.list('controllerrevisions')]);
        return left.flat().length === 0;
      });
      await cluster.create('controllerrevisions', {
        metadata: { name, labels: { mine: 'yes' } },
        data: { spec: {} },
        revision: 7,
      });
      await createReady(cluster);
      await untilStatus(cluster, { numberAvailable: 1, collisionCount: 1 });
      const all = await cluster.list('controllerrevisions');
      return all.filter((revision) => revision.metadata.name !== name).length;
    },
  },
  {
    name: 'of two revisions with the current template the newest is kept, and pods get its label',
    nodes: 2,
    async run(cluster) {
      await createReady(cluster);
      const [revision] = await cluster.list('controllerrevisions');
      if (!revision) throw new Error('there is no revision');
      const { labels, ownerReferences } = revision.metadata;
      await cluster.create('controllerrevisions', {
        metadata: { name: 'app-copy', labels: { ...labels, [HASH]: 'copy' }, ownerReferences },
        data: revision.data,
        revision: 5,
      });
      // A new revision makes the controller look at nothing, and the DaemonSet's change may reach it before the revision does.
      await cluster.until('one is left', async () => {
        await cluster.patch('daemonsets', 'app', { metadata: { annotations: { look: String(performance.now()) } } });
        return (await cluster.list('controllerrevisions')).length === 1;
      });
      await cluster.until('pods are relabelled', async () =>
        (await cluster.list('pods')).every(({ metadata }) => metadata.labels?.[HASH] === 'copy'),
      );
    },
  },
  {
    name: 'a matching revision without an owner is adopted',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster);
      const [revision] = await cluster.list('controllerrevisions');
      await cluster.patch('controllerrevisions', revision?.metadata.name ?? '', {
        metadata: { ownerReferences: null },
      });
      await cluster.until('it has an owner again', async () =>
        (await cluster.list('controllerrevisions')).every(({ metadata }) => metadata.ownerReferences?.length === 1),
      );
    },
  },
  {
    name: 'a deleted revision is created again with the next number',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster);
      await setImage(cluster, 'app:v2');
      await observed(cluster, 2);
      const newest = (await cluster.list('controllerrevisions')).find(({ revision }) => revision === 2);
      await cluster.remove('controllerrevisions', newest?.metadata.name ?? '');
      await cluster.until('it is back', async () => {
        const all = await cluster.list('controllerrevisions');
        return all.some(({ metadata, revision }) => revision === 2 && metadata.uid !== newest?.metadata.uid);
      });
    },
  },
];
