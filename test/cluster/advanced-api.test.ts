import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { defaultedTemplate } from '../../src/kinds/advanced/revisions/index.ts';
import { controllerRevisions, customResourceDefinitions, pods } from '../../src/kube/index.ts';
import { describeAdvancedApi, describeTemplates } from '../conformance/advanced/index.ts';
import { describeReference, kruiseDefinition } from '../conformance/docs/index.ts';
import type { Manager } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { kubectl, kubectlApply, type RealCluster, startCluster } from './index.ts';
import { describeOpenKruiseRollouts } from './openkruise-rollouts/steps.ts';

/** A DaemonSet of OpenKruise with its revision and a pod on each of two nodes, stored in the version that it works in. */
const leaveBehind = async (cluster: RealCluster) => {
  const { client, plane } = cluster;
  const namespace = await cluster.createNamespace('kruise');
  const nodes = [`${namespace}-1`, `${namespace}-2`];
  await cluster.addNodes(nodes, { labels: { case: namespace } });
  const labels = { app: 'x' };
  const template = {
    metadata: { labels },
    spec: { nodeSelector: { case: namespace }, containers: [{ name: 'main', image: 'app:v1' }] },
  };
  const path = `/apis/apps.kruise.io/v1alpha1/namespaces/${namespace}/daemonsets`;
  const made = await plane.api.post<{ metadata: { uid: string } }>(path, {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: 'app' },
    // As its webhook fills it in.
    spec: {
      selector: { matchLabels: labels },
      template,
      burstReplicas: 250,
      revisionHistoryLimit: 10,
      updateStrategy: {
        type: 'RollingUpdate',
        rollingUpdate: { rollingUpdateType: 'Standard', maxUnavailable: 1, maxSurge: 0, partition: 0, paused: false },
      },
    },
    status: { observedGeneration: 1, daemonSetHash: 'abc123' },
  });
  const proved = await defaultedTemplate(client, namespace, template);
  assert.ok(proved.ok);
  const apiVersion = 'apps.kruise.io/v1alpha1';
  const ownerReferences = [{ apiVersion, kind: 'DaemonSet', name: 'app', uid: made.metadata.uid, controller: true }];
  const metadata = { namespace, labels: { ...labels, 'controller-revision-hash': 'abc123' }, ownerReferences };
  await client.create(controllerRevisions, {
    metadata: { ...metadata, name: 'app-abc123' },
    revision: 1,
    data: { spec: { template: { $patch: 'replace', ...proved.template } } },
  });
  for (const [index, nodeName] of nodes.entries())
    await client.create(pods, {
      metadata: { ...metadata, name: `app-${index}` },
      spec: { containers: [], ...proved.template.spec, nodeName },
    });
  return {
    namespace,
    /** Pods and the containers in them, once all run the image. */
    running: (image: string): Promise<string[]> =>
      eventually(
        `both nodes run ${image}`,
        async () => {
          const { items } = await client.list(pods, { namespace });
          const ready = items.filter(
            ({ spec, status }) =>
              spec?.containers[0]?.image === image &&
              status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True'),
          );
          return ready.length === nodes.length && items.length === nodes.length
            ? ready.map((pod) => `${pod.metadata?.uid} ${pod.status?.containerStatuses?.[0]?.containerID}`).toSorted()
            : undefined;
        },
        { everyMs: 100 },
      ),
    /** An edit in the version that its user knows. */
    touch: (image: string): Promise<unknown> =>
      plane.api.patch(
        `${path}/app`,
        { spec: { template: { spec: { ...template.spec, containers: [{ name: 'main', image }] } } } },
        'merge-patch',
      ),
  };
};

describe('the API of Advanced DaemonSets, on a real API server', { timeout: 600_000 }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  it('the definition applies over the one of OpenKruise, webhook and all, and takes its objects over', async () => {
    const { client, kubeconfig } = cluster;
    await kubectlApply(kubeconfig, kruiseDefinition);
    const path = '/apis/apps.kruise.io/v1alpha1/namespaces/default/daemonsets';
    const { api } = cluster.plane;
    await eventually(
      'the foreign kind is served',
      () =>
        api.get(path).then(
          () => true,
          () => false,
        ),
      { everyMs: 50 },
    );
    const spec = {
      selector: { matchLabels: { app: 'old' } },
      template: { metadata: { labels: { app: 'old' } }, spec: { containers: [{ name: 'main', image: 'old:v1' }] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { rollingUpdateType: 'Surging', maxUnavailable: 1 } },
    };
    await api.post(path, { apiVersion: 'apps.kruise.io/v1alpha1', kind: 'DaemonSet', metadata: { name: 'old' }, spec });
    // Its schema lets a selector match everything.
    const matchesAll = { ...spec, selector: {} };
    const all = {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'DaemonSet',
      metadata: { name: 'all' },
      spec: matchesAll,
    };
    await api.post(path, all);
    // It also takes a budget of zero.
    const rollingUpdate = { rollingUpdateType: 'Standard', maxUnavailable: 0 };
    const selector = { matchLabels: { app: 'frozen' } };
    const template = { ...spec.template, metadata: { labels: selector.matchLabels } };
    const frozen = {
      ...all,
      metadata: { name: 'frozen' },
      spec: { selector, template, updateStrategy: { rollingUpdate } },
    };
    await api.post(path, frozen);
    const { namespace, running, touch } = await leaveBehind(cluster);
    const left = await running('app:v1');

    await kubectlApply(kubeconfig, advancedDaemonSetCrd);
    const definition = await client.get(customResourceDefinitions, { name: kruiseDefinition.metadata.name });
    assert.deepEqual((definition as unknown as typeof kruiseDefinition).spec.conversion, { strategy: 'None' });
    const newer = '/apis/apps.kruise.io/v1beta1/namespaces/default/daemonsets/old';
    const taken = await eventually(
      'the object is served in both versions',
      () => api.get<{ spec: { burstReplicas?: number } }>(newer).catch(() => undefined),
      { everyMs: 50 },
    );
    assert.equal(taken.spec.burstReplicas, 250);

    const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
    const settled = ['wait', '--for=condition=Ready', 'ads/app', '--timeout=60s', '-n', namespace];
    await kubectl(kubeconfig, settled);
    assert.deepEqual(await running('app:v1'), left, 'no pod was recreated');
    await touch('app:v2');
    assert.notDeepEqual(await running('app:v2'), left);
    await manager.stop();
  });

  it('a manager says that it may not read the Lease of OpenKruise, and what its schema let pass', async () => {
    const { kubeconfig } = cluster;
    const { api } = cluster.plane;
    const namespace = 'default';
    const hasReason = (name: string, reason: string, type = 'Stalled'): Promise<string> =>
      kubectl(kubeconfig, [
        'wait',
        `--for=jsonpath={.status.conditions[?(@.type=="${type}")].reason}=${reason}`,
        `ads/${name}`,
        '--timeout=60s',
        '-n',
        namespace,
      ]);
    const hasEvent = (name: string, reason: string): Promise<unknown> =>
      eventually(
        `there is an Event ${reason}`,
        async () => {
          const fields = `--field-selector=reason=${reason},involvedObject.name=${name}`;
          return (await kubectl(kubeconfig, ['get', 'events', '-n', namespace, fields, '-o', 'name'])) !== '';
        },
        { everyMs: 200 },
      );
    // A manager was started before, and so the roles are there.
    const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/edgeset-manager-advanced';
    const shipped = await api.get<{ rules: { resources: string[] }[] }>(role);
    const rules = shipped.rules.filter(({ resources }) => !resources.includes('leases'));
    assert.equal(rules.length, shipped.rules.length - 1);
    await api.patch(role, { rules }, 'merge-patch');
    let manager: Manager;
    try {
      manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
      await hasReason('old', 'LeaseForbidden');
      await hasEvent('old', 'LeaseForbidden');
      await hasReason('all', 'SelectingAll');
      await hasEvent('all', 'SelectingAll');
    } finally {
      await api.patch(role, { rules: shipped.rules }, 'merge-patch');
    }
    const reason = [
      'get',
      'ads',
      'old',
      '-n',
      namespace,
      '-o',
      'jsonpath={.status.conditions[?(@.type=="Stalled")].reason}',
    ];
    await eventually('it may', async () => (await kubectl(kubeconfig, reason)) !== 'LeaseForbidden', { everyMs: 500 });
    await hasReason('frozen', 'ZeroBudget', 'Paused');
    await manager.stop();
    for (const name of ['all', 'old', 'frozen']) await kubectl(kubeconfig, ['delete', 'ads', name, '-n', namespace]);
  });

  describeAdvancedApi(() => ({ client: cluster.client, namespace: 'default' }));
  describeReference(() => ({ client: cluster.client, namespace: 'default' }));

  describeTemplates(() => ({
    client: cluster.client,
    namespace: 'default',
    until: (what, probe) => eventually(what, probe, { everyMs: 25 }),
  }));

  it('a manager continues when the definition is removed, and serves it again once it is back', async () => {
    const { kubeconfig } = cluster;
    const namespace = await cluster.createNamespace('presence');
    await cluster.addNodes([`${namespace}-1`], { labels: { case: namespace } });
    const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false', '--log-format=json'] });
    const app = {
      apiVersion: 'apps.kruise.io/v1alpha1',
      kind: 'DaemonSet',
      metadata: { name: 'app', namespace },
      spec: {
        selector: { matchLabels: { app: 'x' } },
        template: {
          metadata: { labels: { app: 'x' } },
          spec: { nodeSelector: { case: namespace }, containers: [{ name: 'main', image: 'app:v1' }] },
        },
      },
    };
    const serves = (count: number) =>
      eventually(
        `the manager is ready, and serves ${count}`,
        async () => {
          const [{ ok }, metrics] = await Promise.all([
            fetch(`${manager.probes}/readyz`),
            fetch(`${manager.metrics}/metrics`),
          ]);
          return ok && (await metrics.text()).includes(`\nedgeset_rollouts{controller="advanced"} ${count}\n`);
        },
        { everyMs: 200 },
      );
    const runs = () =>
      eventually(
        'it has an available pod',
        async () =>
          kubectl(kubeconfig, ['-n', namespace, 'get', 'ads', 'app', '-o', 'jsonpath={.status.numberAvailable}']).then(
            (text) => text === '1',
            () => false,
          ),
        { everyMs: 200 },
      );
    const words = async (some: string): Promise<string[]> =>
      (await manager.log()).split('\n').filter((line) => line.includes(some));
    await kubectlApply(kubeconfig, app);
    await runs();
    await kubectl(kubeconfig, ['delete', 'crd', advancedDaemonSetCrd.metadata.name, '--timeout=30s']);
    await eventually('the manager says that it is gone', async () => (await words('does not serve')).length > 0, {
      everyMs: 200,
    });
    await serves(0);
    await kubectlApply(kubeconfig, advancedDaemonSetCrd);
    await eventually(
      'it can be created again',
      () =>
        kubectlApply(kubeconfig, app).then(
          () => true,
          () => false,
        ),
      { everyMs: 200 },
    );
    await runs();
    await serves(1);
    assert.equal((await words('does not serve')).length, 1, 'it is said once');
    await manager.stop();
    assert.equal(await manager.exit, 0);
    assert.deepEqual(await words('"level":"error"'), []);
  });

  // The last one: its webhooks stay.
  describeOpenKruiseRollouts(() => cluster);
});
