import type { ApiObject, ScenarioCluster } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import {
  createDaemonSet,
  createReady,
  imageOf,
  isReady,
  nodeOf,
  podOn,
  statusOf,
  untilReady,
  untilStatus,
} from './steps.ts';

const behaviour = (is: string, dieMs = 200): Record<string, string> => ({
  'sim.edgeset.io/behaviour': is,
  'sim.edgeset.io/die-ms': String(dieMs),
});

const untilReplaced = (cluster: ScenarioCluster, old: ApiObject): Promise<void> =>
  cluster.until('it is another one', async () => {
    const pod = await podOn(cluster, cluster.nodes[0]);
    return pod.metadata.uid !== old.metadata.uid && isReady(pod);
  });

const untilGone = (cluster: ScenarioCluster): Promise<void> =>
  cluster.until('all are gone', async () => {
    const left = await Promise.all(
      (['pods', 'controllerrevisions', 'daemonsets'] as const).map((plural) => cluster.list(plural)),
    );
    return left.flat().length === 0;
  });

/** Scenarios about single pods. */
export const pods: readonly Scenario[] = [
  {
    name: 'a deleted pod is replaced',
    async run(cluster) {
      await createReady(cluster);
      const old = await podOn(cluster, cluster.nodes[0]);
      await cluster.remove('pods', old.metadata.name);
      await untilReplaced(cluster, old);
    },
  },
  {
    name: 'a failed pod is deleted and replaced, with an Event',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster, { annotations: behaviour('failed') });
      await cluster.patch('daemonsets', 'app', {
        spec: { template: { metadata: { annotations: { 'sim.edgeset.io/behaviour': 'ready' } } } },
      });
      await cluster.until('it is replaced', async () => {
        const [pod, ...others] = await cluster.list('pods');
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
    name: 'a succeeded pod is deleted and replaced, with an Event',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster);
      const old = await podOn(cluster, cluster.nodes[0]);
      await cluster.patch('pods', old.metadata.name, { status: { phase: 'Succeeded' } }, 'status');
      await untilReplaced(cluster, old);
    },
  },
  {
    name: 'of two pods on a node the older one is kept',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster);
      const first = await podOn(cluster, cluster.nodes[0]);
      const { labels, ownerReferences } = first.metadata;
      // API times are in whole seconds: the second pod must be created a second later.
      const second = Date.parse(first.metadata.creationTimestamp ?? '');
      await cluster.until('a second has passed', async () => {
        const probe = await cluster.create('events', {
          metadata: { generateName: 'clock-', namespace: cluster.namespace },
          involvedObject: { namespace: cluster.namespace },
        });
        await cluster.remove('events', probe.metadata.name);
        return Date.parse(probe.metadata.creationTimestamp ?? '') > second;
      });
      await cluster.create('pods', {
        metadata: { generateName: 'app-', labels, ownerReferences },
        spec: { nodeName: cluster.nodes[0], containers: [{ name: 'app', image: 'app:v1' }] },
      });
      await cluster.until('one is left', async () => (await cluster.list('pods')).length === 1);
      const left = await podOn(cluster, cluster.nodes[0]);
      return left.metadata.uid === first.metadata.uid;
    },
  },
  {
    name: 'a matching orphan is adopted instead of creating a pod',
    nodes: 1,
    async run(cluster) {
      await cluster.create('pods', {
        metadata: { name: 'app-orphan', labels: { app: 'app' } },
        spec: { nodeName: cluster.nodes[0], containers: [{ name: 'app', image: 'app:v0' }] },
      });
      await createDaemonSet(cluster);
      await untilStatus(cluster, { currentNumberScheduled: 1, numberAvailable: 1 });
    },
  },
  {
    name: 'a pod whose labels no longer match is released and replaced',
    nodes: 2,
    async run(cluster) {
      await createReady(cluster);
      const pod = await podOn(cluster, cluster.nodes[0]);
      await cluster.patch('pods', pod.metadata.name, { metadata: { labels: { app: 'mine' } } });
      await untilReady(cluster, 'app:v1', 3);
    },
  },
  {
    name: 'rejected pods are reported in Events, and created once they are allowed',
    async run(cluster) {
      await createDaemonSet(cluster, { podSpec: { serviceAccountName: 'later' } });
      await cluster.until('the Event is recorded', async () =>
        (await cluster.list('events')).some(({ reason }) => reason === 'FailedCreate'),
      );
      const refused = await statusOf(cluster);
      await cluster.create('serviceaccounts', { metadata: { name: 'later' } });
      await untilReady(cluster);
      const events = (await cluster.list('events')).filter(({ reason }) => reason === 'FailedCreate');
      await Promise.all(events.map(({ metadata }) => cluster.remove('events', metadata.name)));
      const messages = events.map(({ message }) =>
        String(message)
          .replaceAll(/app-[a-z0-9]{5}/g, 'app-*')
          .replaceAll(cluster.namespace, 'ns'),
      );
      return { scheduled: refused.currentNumberScheduled, messages: [...new Set(messages)] };
    },
  },
  {
    name: 'a pod is available after it was ready for minReadySeconds',
    async run(cluster) {
      await createDaemonSet(cluster, { spec: { minReadySeconds: 3 } });
      await untilStatus(cluster, { numberReady: 3, numberAvailable: 0, numberUnavailable: 3 });
      await untilStatus(cluster, { numberAvailable: 3, numberUnavailable: 0 });
    },
  },
  {
    name: 'deleting the DaemonSet deletes its pods and revisions',
    async run(cluster) {
      await createReady(cluster);
      await cluster.remove('daemonsets', 'app', { propagationPolicy: 'Background' });
      await untilGone(cluster);
    },
  },
  {
    name: 'foreground deletion deletes them first',
    async run(cluster) {
      await createReady(cluster);
      await cluster.remove('daemonsets', 'app', { propagationPolicy: 'Foreground' });
      const going = (await cluster.list('daemonsets')).map(({ metadata }) => metadata.finalizers);
      await untilGone(cluster);
      return going;
    },
  },
  {
    name: 'orphaning deletion keeps pods and revisions, and a new DaemonSet adopts them',
    async run(cluster) {
      await createReady(cluster);
      const before = (await cluster.list('pods')).map(({ metadata }) => metadata.uid ?? '').toSorted();
      await cluster.remove('daemonsets', 'app', { propagationPolicy: 'Orphan' });
      await cluster.until('it is gone', async () => (await cluster.list('daemonsets')).length === 0);
      const orphans = (await cluster.list('pods')).map((pod) => [
        nodeOf(pod) !== '',
        imageOf(pod),
        pod.metadata.ownerReferences?.length ?? 0,
      ]);
      await createDaemonSet(cluster);
      await untilStatus(cluster, { numberAvailable: 3, updatedNumberScheduled: 3 });
      const after = (await cluster.list('pods')).map(({ metadata }) => metadata.uid ?? '').toSorted();
      return { orphans, same: JSON.stringify(before) === JSON.stringify(after) };
    },
  },
];
