import { create, rolling, setImage, settled, untilReady, untilStatus, withoutUid } from './acts.ts';
import type { Situation } from './situation.ts';
import type { Stage } from './stage.ts';

const HASH = 'controller-revision-hash';

const observed = (stage: Stage, generation: number): Promise<void> =>
  untilStatus(stage, { observedGeneration: generation });

/** ControllerRevisions. */
export const history: readonly Situation[] = [
  {
    name: 'a revision holds the template as a patch that replaces it, with its labels and owner',
    nodes: 1,
    async play(stage) {
      await create(stage, { annotations: { note: 'in the template' } });
      await untilStatus(stage, { numberAvailable: 1 });
      const [revision] = await stage.list('controllerrevisions');
      const text = JSON.stringify(revision?.data).replaceAll(stage.namespace, 'node');
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
    name: 'an old template that returns raises its revision',
    async play(stage) {
      await settled(stage);
      const before = (await stage.list('controllerrevisions'))[0]?.metadata.name;
      await setImage(stage, 'app:v2');
      await observed(stage, 2);
      await setImage(stage, 'app:v1');
      await observed(stage, 3);
      await untilStatus(stage, { updatedNumberScheduled: 3 });
      const all = await stage.list('controllerrevisions');
      return all.find(({ revision }) => revision === 3)?.metadata.name === before;
    },
  },
  {
    name: 'the oldest revisions go beyond the limit',
    nodes: 1,
    async play(stage) {
      await settled(stage, { strategy: rolling({ maxUnavailable: 1 }), spec: { revisionHistoryLimit: 2 } });
      for (const version of [2, 3, 4, 5]) {
        await setImage(stage, `app:v${version}`);
        await untilReady(stage, `app:v${version}`);
      }
      await stage.until('three are left', async () => (await stage.list('controllerrevisions')).length === 3);
    },
  },
  {
    name: 'a revision that a pod still runs stays beyond the limit',
    nodes: 1,
    async play(stage) {
      await settled(stage, { spec: { revisionHistoryLimit: 0 } });
      await setImage(stage, 'app:v2');
      await observed(stage, 2);
      await setImage(stage, 'app:v3');
      await observed(stage, 3);
      await stage.until('two are left', async () => (await stage.list('controllerrevisions')).length === 2);
    },
  },
  {
    name: 'a name that is taken by another template raises the collision count',
    nodes: 1,
    async play(stage) {
      await settled(stage);
      const [taken] = await stage.list('controllerrevisions');
      const name = taken?.metadata.name ?? '';
      await stage.remove('daemonsets', 'app', { propagationPolicy: 'Background' });
      await stage.until('all is gone', async () => {
        const left = await Promise.all([stage.list('pods'), stage.list('controllerrevisions')]);
        return left.flat().length === 0;
      });
      await stage.create('controllerrevisions', {
        metadata: { name, labels: { mine: 'yes' } },
        data: { spec: {} },
        revision: 7,
      });
      await settled(stage);
      await untilStatus(stage, { numberAvailable: 1, collisionCount: 1 });
      const all = await stage.list('controllerrevisions');
      return all.filter((revision) => revision.metadata.name !== name).length;
    },
  },
  {
    name: 'of two revisions with the present template the newest stays, and pods get its label',
    nodes: 2,
    async play(stage) {
      await settled(stage);
      const [revision] = await stage.list('controllerrevisions');
      if (!revision) throw new Error('there is no revision');
      const { labels, ownerReferences } = revision.metadata;
      await stage.create('controllerrevisions', {
        metadata: { name: 'app-copy', labels: { ...labels, [HASH]: 'copy' }, ownerReferences },
        data: revision.data,
        revision: 5,
      });
      await stage.patch('daemonsets', 'app', { metadata: { annotations: { look: 'again' } } });
      await stage.until('one is left', async () => (await stage.list('controllerrevisions')).length === 1);
      await stage.until('pods are relabelled', async () =>
        (await stage.list('pods')).every(({ metadata }) => metadata.labels?.[HASH] === 'copy'),
      );
    },
  },
  {
    name: 'a revision without an owner that matches is adopted',
    nodes: 1,
    async play(stage) {
      await settled(stage);
      const [revision] = await stage.list('controllerrevisions');
      await stage.patch('controllerrevisions', revision?.metadata.name ?? '', { metadata: { ownerReferences: null } });
      await stage.until('it has an owner again', async () =>
        (await stage.list('controllerrevisions')).every(({ metadata }) => metadata.ownerReferences?.length === 1),
      );
    },
  },
  {
    name: 'a deleted revision is written anew with the next number',
    nodes: 1,
    async play(stage) {
      await settled(stage);
      await setImage(stage, 'app:v2');
      await observed(stage, 2);
      const newest = (await stage.list('controllerrevisions')).find(({ revision }) => revision === 2);
      await stage.remove('controllerrevisions', newest?.metadata.name ?? '');
      await stage.until('it is back', async () => {
        const all = await stage.list('controllerrevisions');
        return all.some(({ metadata, revision }) => revision === 2 && metadata.uid !== newest?.metadata.uid);
      });
    },
  },
];
