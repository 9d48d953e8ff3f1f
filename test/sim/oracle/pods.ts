import { create, imageOf, isReady, nodeOf, podOn, settled, statusOf, untilReady, untilStatus } from './acts.ts';
import type { Situation } from './situation.ts';

const behaviour = (is: string, dieMs = 200): Record<string, string> => ({
  'sim.edgeset.io/behaviour': is,
  'sim.edgeset.io/die-ms': String(dieMs),
});

/** What becomes of single pods. */
export const pods: readonly Situation[] = [
  {
    name: 'a deleted pod is replaced',
    async play(stage) {
      await settled(stage);
      const old = await podOn(stage, stage.nodes[0]);
      await stage.remove('pods', old.metadata.name);
      await stage.until('it is another one', async () => {
        const pod = await podOn(stage, stage.nodes[0]);
        return pod.metadata.uid !== old.metadata.uid && isReady(pod);
      });
    },
  },
  {
    name: 'a failed pod is deleted and replaced, and told of',
    nodes: 1,
    async play(stage) {
      await settled(stage, { annotations: behaviour('failed') });
      await stage.patch('daemonsets', 'app', {
        spec: { template: { metadata: { annotations: { 'sim.edgeset.io/behaviour': 'ready' } } } },
      });
      await stage.until('it is replaced', async () => {
        const [pod, ...others] = await stage.list('pods');
        return (
          pod &&
          others.length === 0 &&
          isReady(pod) &&
          pod.metadata.annotations?.['sim.edgeset.io/behaviour'] === 'ready'
        );
      });
    },
  },
  {
    name: 'a pod that has succeeded is deleted and replaced, and told of',
    nodes: 1,
    async play(stage) {
      await settled(stage);
      const old = await podOn(stage, stage.nodes[0]);
      await stage.patch('pods', old.metadata.name, { status: { phase: 'Succeeded' } }, 'status');
      await stage.until('it is another one', async () => {
        const pod = await podOn(stage, stage.nodes[0]);
        return pod.metadata.uid !== old.metadata.uid && isReady(pod);
      });
    },
  },
  {
    name: 'of two pods on a node the older stays',
    nodes: 1,
    async play(stage) {
      await settled(stage);
      const first = await podOn(stage, stage.nodes[0]);
      const { labels, ownerReferences } = first.metadata;
      // Times in the API have whole seconds: the younger one must be seen to be younger.
      const second = Date.parse(first.metadata.creationTimestamp ?? '');
      await stage.until('a second has passed', async () => {
        const probe = await stage.create('events', {
          metadata: { generateName: 'clock-', namespace: stage.namespace },
          involvedObject: { namespace: stage.namespace },
        });
        await stage.remove('events', probe.metadata.name);
        return Date.parse(probe.metadata.creationTimestamp ?? '') > second;
      });
      await stage.create('pods', {
        metadata: { generateName: 'app-', labels, ownerReferences },
        spec: { nodeName: stage.nodes[0], containers: [{ name: 'app', image: 'app:v1' }] },
      });
      await stage.until('one is left', async () => (await stage.list('pods')).length === 1);
      const left = await podOn(stage, stage.nodes[0]);
      return left.metadata.uid === first.metadata.uid;
    },
  },
  {
    name: 'an orphan that matches is adopted, and makes a new pod needless',
    nodes: 1,
    async play(stage) {
      await stage.create('pods', {
        metadata: { name: 'app-orphan', labels: { app: 'app' } },
        spec: { nodeName: stage.nodes[0], containers: [{ name: 'app', image: 'app:v0' }] },
      });
      await create(stage);
      await untilStatus(stage, { currentNumberScheduled: 1, numberAvailable: 1 });
    },
  },
  {
    name: 'a pod whose labels no longer match is released and replaced',
    nodes: 2,
    async play(stage) {
      await settled(stage);
      const pod = await podOn(stage, stage.nodes[0]);
      await stage.patch('pods', pod.metadata.name, { metadata: { labels: { app: 'mine' } } });
      await untilReady(stage, 'app:v1', 3);
    },
  },
  {
    name: 'refused pods are told of, and made once they are allowed',
    async play(stage) {
      await create(stage, { podSpec: { serviceAccountName: 'later' } });
      await stage.until('it was told', async () =>
        (await stage.list('events')).some(({ reason }) => reason === 'FailedCreate'),
      );
      const refused = await statusOf(stage);
      await stage.create('serviceaccounts', { metadata: { name: 'later' } });
      await untilReady(stage);
      const events = (await stage.list('events')).filter(({ reason }) => reason === 'FailedCreate');
      await Promise.all(events.map(({ metadata }) => stage.remove('events', metadata.name)));
      const messages = events.map(({ message }) =>
        String(message)
          .replaceAll(/app-[a-z0-9]{5}/g, 'app-*')
          .replaceAll(stage.namespace, 'ns'),
      );
      return { scheduled: refused.currentNumberScheduled, messages: [...new Set(messages)] };
    },
  },
  {
    name: 'a pod counts as available when it has been ready for minReadySeconds',
    async play(stage) {
      await create(stage, { spec: { minReadySeconds: 3 } });
      await untilStatus(stage, { numberReady: 3, numberAvailable: 0, numberUnavailable: 3 });
      await untilStatus(stage, { numberAvailable: 3, numberUnavailable: 0 });
    },
  },
  {
    name: 'deleting the DaemonSet takes its pods and revisions along',
    async play(stage) {
      await settled(stage);
      await stage.remove('daemonsets', 'app', { propagationPolicy: 'Background' });
      await stage.until('all are gone', async () => {
        const left = await Promise.all([
          stage.list('pods'),
          stage.list('controllerrevisions'),
          stage.list('daemonsets'),
        ]);
        return left.flat().length === 0;
      });
    },
  },
  {
    name: 'deleting it in the foreground takes them first',
    async play(stage) {
      await settled(stage);
      await stage.remove('daemonsets', 'app', { propagationPolicy: 'Foreground' });
      const going = (await stage.list('daemonsets')).map(({ metadata }) => metadata.finalizers);
      await stage.until('all are gone', async () => {
        const left = await Promise.all([
          stage.list('pods'),
          stage.list('controllerrevisions'),
          stage.list('daemonsets'),
        ]);
        return left.flat().length === 0;
      });
      return going;
    },
  },
  {
    name: 'deleting it as an orphan maker leaves pods and revisions, and the next one of its kind adopts them',
    async play(stage) {
      await settled(stage);
      const before = (await stage.list('pods')).map(({ metadata }) => metadata.uid ?? '').toSorted();
      await stage.remove('daemonsets', 'app', { propagationPolicy: 'Orphan' });
      await stage.until('it is gone', async () => (await stage.list('daemonsets')).length === 0);
      const orphans = (await stage.list('pods')).map((pod) => [
        nodeOf(pod) !== '',
        imageOf(pod),
        pod.metadata.ownerReferences?.length ?? 0,
      ]);
      await create(stage);
      await untilStatus(stage, { numberAvailable: 3, updatedNumberScheduled: 3 });
      const after = (await stage.list('pods')).map(({ metadata }) => metadata.uid ?? '').toSorted();
      return { orphans, same: JSON.stringify(before) === JSON.stringify(after) };
    },
  },
];
