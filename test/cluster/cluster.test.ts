import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkUpdates, countWrites } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { orMissing } from './api.ts';
import { type Json, type RealCluster, startCluster } from './index.ts';

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: {
      image: string;
      restartCount: number;
      state: { waiting?: { reason: string }; running?: Json };
    }[];
  };
}

const isReady = (pod: Pod): boolean =>
  pod.status.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
const waiting = (pod: Pod): string | undefined => pod.status.containerStatuses?.[0]?.state.waiting?.reason;

let cluster: RealCluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

/** A DaemonSet on nodes of its own, in its own namespace. */
const fixture = async (name: string, count: number, annotations: Record<string, string> = {}) => {
  const { api } = cluster.plane;
  const namespace = await cluster.createNamespace(name);
  const nodes = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
  await cluster.addNodes(nodes, { labels: { case: namespace } });
  const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/app`;
  const release = (image: string, templateAnnotations: Record<string, string> = {}) =>
    api.apply(path, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'app' },
      spec: {
        selector: { matchLabels: { app: 'app' } },
        updateStrategy: { type: 'OnDelete' },
        template: {
          metadata: { labels: { app: 'app' }, annotations: templateAnnotations },
          spec: { nodeSelector: { case: namespace }, containers: [{ name: 'app', image }] },
        },
      },
    });
  await release('app:v1', annotations);
  const podsPath = `/api/v1/namespaces/${namespace}/pods`;
  const pods = async (): Promise<Pod[]> => (await api.get<{ items: Pod[] }>(podsPath)).items;
  const on = async (node: string | undefined): Promise<Pod | undefined> =>
    (await pods()).find((pod) => pod.spec.nodeName === node);
  return {
    namespace,
    nodes,
    first: nodes[0]!,
    release,
    pods,
    on,
    remove: (pod: Pod) => api.delete(`${podsPath}/${pod.metadata.name}`, { preconditions: { uid: pod.metadata.uid } }),
    allReady: () =>
      eventually(
        'all pods are ready',
        async () => {
          const all = await pods();
          return all.length === count && all.every(isReady) && all;
        },
        { everyMs: 50 },
      ),
    /** The pod of a node once `test` holds for it. */
    when: (node: string | undefined, what: string, test: (pod: Pod) => boolean) =>
      eventually(
        what,
        async () => {
          const pod = await on(node);
          return pod && test(pod) ? pod : undefined;
        },
        { everyMs: 50 },
      ),
  };
};

describe('a real control plane with simulated nodes', { concurrency: 8 }, () => {
  it('holds pods that were starting and ending when their node was cut', async () => {
    const { nodes, pods, when, remove } = await fixture('midway', 2, {
      'sim.edgeset.io/start-ms': '2500',
      'sim.edgeset.io/stop-ms': '2500',
    });
    const [starting, ending] = nodes;
    const pod = await when(ending, 'the pod is ready', isReady);
    await when(starting, 'the other pod is ready too', isReady);
    await remove((await pods()).find((found) => found.spec.nodeName === starting)!);
    await when(starting, 'a new pod starts', (found) => waiting(found) === 'ContainerCreating');
    await remove(pod);
    // The cut comes within the 2.5 s; the API shows it 5 s later, when both delays are long over.
    await cluster.offline([starting!, ending!]);
    assert.equal(waiting(await when(starting, 'it is there', () => true)), 'ContainerCreating');
    const held = await when(ending, 'it is there', () => true);
    assert.equal(held.metadata.uid, pod.metadata.uid);
    assert.ok(held.status.containerStatuses?.[0]?.state.running);
    await cluster.online([starting!, ending!]);
    await when(starting, 'it has started', isReady);
    await when(ending, 'it was replaced', (found) => isReady(found) && found.metadata.uid !== pod.metadata.uid);
  });

  it('restarts a container that crashes, again and again', async () => {
    const { first: node, when } = await fixture('crashes', 1, { 'sim.edgeset.io/behaviour': 'crash-loop' });
    await when(
      node,
      'it has crashed twice',
      (pod) => waiting(pod) === 'CrashLoopBackOff' && pod.status.containerStatuses![0]!.restartCount >= 2,
    );
  });

  it('leaves a pod that is stuck terminating until its behaviour is taken away', async () => {
    const {
      first: node,
      nodes,
      allReady,
      remove,
      when,
      release,
    } = await fixture('stuck', 2, {
      'sim.edgeset.io/behaviour': 'stuck-terminating',
    });
    const pods = await allReady();
    await release('app:v2');
    for (const pod of pods) await remove(pod);
    await cluster.behave([node], { behaviour: 'ready' });
    await when(
      node,
      'the pod is replaced',
      (pod) => isReady(pod) && pod.status.containerStatuses?.[0]?.image === 'app:v2',
    );
    const stuck = await when(nodes[1], 'it is there', () => true);
    assert.ok(stuck.metadata.deletionTimestamp);
  });

  it('tells in the audit log what the judge needs', async () => {
    const { namespace, pods, allReady, remove, release } = await fixture('audit', 2);
    await allReady();
    await release('app:v2');
    await Promise.all((await pods()).map((pod) => orMissing(remove(pod))));
    await eventually(
      'both are replaced',
      async () =>
        (await pods()).filter((pod) => isReady(pod) && pod.status.containerStatuses?.[0]?.image === 'app:v2').length ===
        2,
      { everyMs: 50 },
    );
    const records = (await cluster.audit.read()).filter(
      (record) => record.namespace === namespace || record.namespace === '',
    );
    const product = (user: string): boolean => user === 'admin';
    assert.deepEqual(checkUpdates(records, { namespace, daemonSet: 'app', budget: 2, product }), []);
    assert.match(
      checkUpdates(records, { namespace, daemonSet: 'app', budget: 1, product, lagMs: 100 }).join('\n'),
      /^S1: .*\nS2: /,
    );
    assert.equal(countWrites(records, { user: product, namespace })['delete pods'], 2);
  });
});

describe('the programs of a control plane', () => {
  it('can be paused one by one', async () => {
    const { first: node, allReady, on, remove, when } = await fixture('paused', 2);
    const pods = await allReady();
    cluster.nativeController.pause();
    const old = pods.find((pod) => pod.spec.nodeName === node)!;
    await remove(old);
    await eventually('the old pod is gone', async () => (await on(node)) === undefined, {
      everyMs: 50,
    });
    cluster.scheduler.pause();
    cluster.nativeController.resume();
    await eventually(
      'a new pod waits for the scheduler',
      async () => (await on(undefined))?.status.phase === 'Pending',
      { everyMs: 50 },
    );
    cluster.scheduler.resume();
    await when(node, 'a new pod is ready', (pod) => pod.metadata.uid !== old.metadata.uid && isReady(pod));
  });
});
