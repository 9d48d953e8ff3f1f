import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { checkUpdates, countWrites, type NodeBehaviour } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { createApi, orMissing } from './api.ts';
import { type Json, mintToken, type RealCluster, startCluster } from './index.ts';
import { installRights } from './manager.ts';

interface Pod {
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: { nodeName?: string };
  status: {
    phase: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: {
      image: string;
      imageID: string;
      restartCount: number;
      state: { waiting?: { reason: string }; running?: Json; terminated?: Json };
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
    patch: (pod: Pod, body: Json) => api.patch(`${podsPath}/${pod.metadata.name}`, body),
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
  it('runs a DaemonSet on every node, and replaces a pod that is deleted', async () => {
    const { nodes, allReady, remove, when } = await fixture('rolls', 3);
    const pods = await allReady();
    assert.deepEqual(new Set(pods.map((pod) => pod.spec.nodeName)), new Set(nodes));
    const old = pods[0]!;
    await remove(old);
    const next = await when(
      old.spec.nodeName,
      'a new pod is ready',
      (pod) => pod.metadata.uid !== old.metadata.uid && isReady(pod),
    );
    assert.match(next.status.containerStatuses?.[0]?.imageID ?? '', /^sha256:/);
  });

  it('keeps the pods of a node that is cut as they were, and lets them continue when it is back', async () => {
    const { first: node, nodes, on, allReady, remove, release, when } = await fixture('cut', 2);
    await allReady();
    await cluster.offline([node]);
    const marked = await when(node, 'the node controller marks the pod', (pod) => !isReady(pod));
    assert.equal(marked.status.phase, 'Running');
    await release('app:v2');
    await remove(marked);
    // The other node's pod goes through its whole life meanwhile: time enough for a wrong end of this one.
    const other = await on(nodes[1]);
    await remove(other!);
    await when(
      nodes[1],
      'the other node has a new pod',
      (pod) => pod.metadata.uid !== other?.metadata.uid && isReady(pod),
    );
    const hung = await on(node);
    assert.equal(hung?.metadata.uid, marked.metadata.uid);
    assert.ok(hung?.metadata.deletionTimestamp);
    assert.ok(hung?.status.containerStatuses?.[0]?.state.running);
    await cluster.online([node]);
    await when(
      node,
      'the new version runs',
      (pod) => isReady(pod) && pod.status.containerStatuses?.[0]?.image === 'app:v2',
    );
  });

  it('makes a pod ready again that was marked while its node was away', async () => {
    const { first: node, allReady, when } = await fixture('marked', 1);
    const [pod] = await allReady();
    await cluster.offline([node]);
    await when(node, 'it is marked', (found) => !isReady(found));
    await cluster.online([node]);
    const back = await when(node, 'it is ready again', isReady);
    assert.equal(back.metadata.uid, pod?.metadata.uid);
  });

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

  const bad: [NonNullable<NodeBehaviour['behaviour']>, string, (pod: Pod) => boolean][] = [
    [
      'crash-loop',
      'it has crashed twice',
      (pod) => waiting(pod) === 'CrashLoopBackOff' && pod.status.containerStatuses![0]!.restartCount >= 2,
    ],
    ['not-pullable', 'its image cannot be pulled', (pod) => waiting(pod) === 'ImagePullBackOff'],
    [
      'never-ready',
      'it runs and is not ready',
      (pod) => pod.status.phase === 'Running' && !isReady(pod) && waiting(pod) === undefined,
    ],
    ['dies-after-ready', 'it has died', (pod) => waiting(pod) === 'CrashLoopBackOff'],
    ['failed', 'it was evicted', (pod) => pod.status.phase === 'Failed'],
  ];
  for (const [behaviour, what, test] of bad) {
    it(`plays ${behaviour}, by annotation, by image and by node`, async () => {
      const { nodes, release, pods, remove, when, allReady } = await fixture(behaviour.slice(0, 8), 2);
      await allReady();
      await release('app:v2', { 'sim.edgeset.io/behaviour': behaviour });
      const [one, two] = await pods();
      await remove(one!);
      await when(
        one?.spec.nodeName,
        `${what} (annotation)`,
        (pod) => pod.metadata.uid !== one?.metadata.uid && test(pod),
      );
      await release(`app:v3--${behaviour}`);
      await remove(two!);
      await when(two?.spec.nodeName, `${what} (image)`, (pod) => pod.metadata.uid !== two?.metadata.uid && test(pod));
      await release('app:v4');
      await Promise.all((await pods()).map((pod) => orMissing(remove(pod))));
      await allReady();
      await cluster.behave([nodes[0]!], { behaviour });
      const third = await when(nodes[0], 'it is there', () => true);
      await remove(third);
      await when(nodes[0], `${what} (node)`, (pod) => pod.metadata.uid !== third.metadata.uid && test(pod));
      await cluster.behave([nodes[0]!], undefined);
      if (behaviour !== 'failed') await when(nodes[0], 'it is well again', isReady);
    });
  }

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

  it('takes a node down with the version that kills it', async () => {
    const { first: node, allReady, remove, release, when } = await fixture('kills', 2);
    const pods = await allReady();
    await release('app:v2', { 'sim.edgeset.io/behaviour': 'kills-node', 'sim.edgeset.io/die-ms': '300' });
    await remove(pods.find((pod) => pod.spec.nodeName === node)!);
    await when(
      node,
      'the new version is ready',
      (pod) => isReady(pod) && pod.status.containerStatuses?.[0]?.image === 'app:v2',
    );
    await eventually(
      'the node is gone',
      async () => {
        const { status } = await cluster.plane.api.get<Pod>(`/api/v1/nodes/${node}`);
        return status.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'Unknown');
      },
      { everyMs: 100 },
    );
    await cluster.behave([node], { behaviour: 'ready' });
    await cluster.online([node]);
    await when(node, 'its pod is ready again', isReady);
  });

  it('restarts a container whose image is changed in place', async () => {
    const { first: node, allReady, patch, when } = await fixture('inplace', 1);
    const [pod] = await allReady();
    await patch(pod!, { spec: { containers: [{ name: 'app', image: 'app:v2' }] } });
    await when(node, 'it is down meanwhile', (found) => !isReady(found));
    const back = await when(node, 'it is ready again', isReady);
    const container = back.status.containerStatuses?.[0];
    assert.equal(back.metadata.uid, pod?.metadata.uid);
    assert.equal(container?.image, 'app:v2');
    assert.equal(container?.restartCount, 1);
    assert.notEqual(container?.imageID, pod?.status.containerStatuses?.[0]?.imageID);
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

  it('gives a ServiceAccount its rights and no more', async () => {
    const { api, access } = cluster.plane;
    const namespace = await cluster.createNamespace('rights');
    const folder = await mkdtemp(join(tmpdir(), 'edgeset-deploy-'));
    const rules = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list'] }];
    const objects = [
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'edgeset-manager', namespace: 'elsewhere' } },
      { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'edgeset-probe' }, rules },
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRoleBinding',
        metadata: { name: 'edgeset-probe' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edgeset-probe' },
        subjects: [{ kind: 'ServiceAccount', name: 'edgeset-manager', namespace: 'elsewhere' }],
      },
    ];
    await writeFile(join(folder, 'all.yaml'), objects.map((object) => JSON.stringify(object)).join('\n---\n'));
    await installRights(api, namespace, folder);
    await rm(folder, { recursive: true });
    const own = createApi({ ...access, token: await mintToken(api, namespace, 'edgeset-manager') });
    await eventually('the right is there', () => own.get('/api/v1/nodes'), { everyMs: 50 });
    await assert.rejects(own.get('/api/v1/pods'), { status: 403 });
    await own.close();
  });
});

describe('the programs of a control plane', () => {
  it('continue after the API server was restarted', async () => {
    const { first: node, allReady, remove, when } = await fixture('restart', 2);
    const pods = await allReady();
    await cluster.restartApiServer();
    const old = pods.find((pod) => pod.spec.nodeName === node)!;
    await remove(old);
    await when(node, 'a new pod is ready', (pod) => pod.metadata.uid !== old.metadata.uid && isReady(pod));
  });

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

  it('serve through a link that can be cut', async () => {
    const link = await cluster.link();
    const own = createApi({ ...cluster.plane.access, server: `https://127.0.0.1:${link.port}` });
    assert.equal(await own.text('/readyz'), 'ok');
    link.cut();
    await assert.rejects(own.text('/readyz'));
    link.restore();
    assert.equal(await own.text('/readyz'), 'ok');
    await own.close();
    await link.close();
  });

  it("answer the product's own client", async () => {
    const version = JSON.parse(await cluster.client.raw('/version')) as { gitVersion: string };
    assert.equal(version.gitVersion, 'v1.34.4');
  });
});
