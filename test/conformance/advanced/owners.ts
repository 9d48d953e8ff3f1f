import assert from 'node:assert/strict';
import { it } from 'node:test';
import { controllerRevisions, daemonSets, pods } from '../../../src/kube/index.ts';
import { advancedDaemonSets } from './api.ts';
import { createAdvanced, listPods, type PodTestContext, untilGone } from './pod-context.ts';

const labels = { app: 'x' };
const spec = {
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'app:v1' }] } },
};
const FINALIZER = 'edgeset.io/test';
const ref = (stage: PodTestContext) => ({ namespace: stage.namespace, name: 'app' });

/** An Advanced DaemonSet with a running pod and a revision of each version of its name. */
const furnish = async (stage: PodTestContext) => {
  const { client, namespace, nodes, until } = stage;
  const owner = await createAdvanced(stage, 'v1beta1', spec);
  for (const [index, version] of ['v1alpha1', 'v1beta1'].entries()) {
    const { name, uid } = owner;
    const apiVersion = `apps.kruise.io/${version}`;
    const ownerReferences = [{ apiVersion, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true }];
    const metadata = { name: `app-${version}`, namespace, labels, ownerReferences };
    await client.create(controllerRevisions, { metadata, revision: 1, data: { spec: {} } });
    await client.create(pods, {
      metadata,
      spec: { nodeName: nodes[index] ?? '', containers: [{ name: 'main', image: 'app:v1' }] },
    });
  }
  await until('its pods run', async () =>
    (await listPods(stage)).every(({ status }) => status?.phase === 'Running') ? true : undefined,
  );
  return owner;
};

const dependents = async (stage: PodTestContext) => [
  ...(await listPods(stage)),
  ...(await stage.client.list(controllerRevisions, { namespace: stage.namespace })).items,
];

const namesOf = async (stage: PodTestContext): Promise<string[]> =>
  (await dependents(stage)).map(({ metadata }) => metadata?.name ?? '').toSorted();

const ALL = ['app-v1alpha1', 'app-v1alpha1', 'app-v1beta1', 'app-v1beta1'];

/** Registers tests of what becomes of the pods and revisions of an Advanced DaemonSet, by whichever version they name it. */
export const describeOwners = (open: () => Promise<PodTestContext>): void => {
  it('its pods and revisions go after it in the background', async () => {
    const stage = await open();
    await furnish(stage);
    await stage.client.delete(advancedDaemonSets('v1alpha1'), ref(stage), { propagationPolicy: 'Background' });
    await untilGone(stage, 'the DaemonSet', () => stage.client.get(advancedDaemonSets('v1beta1'), ref(stage)));
    await stage.until('all are gone', async () => ((await namesOf(stage)).length === 0 ? true : undefined));
  });

  it('it goes after them in the foreground', async () => {
    const stage = await open();
    await furnish(stage);
    await stage.client.delete(advancedDaemonSets('v1beta1'), ref(stage), { propagationPolicy: 'Foreground' });
    const going = await stage.client.get(advancedDaemonSets('v1beta1'), ref(stage));
    assert.deepEqual(going.metadata?.finalizers, ['foregroundDeletion']);
    await untilGone(stage, 'the DaemonSet', () => stage.client.get(advancedDaemonSets('v1beta1'), ref(stage)));
    assert.deepEqual(await namesOf(stage), []);
  });

  it('they stay, and are nobody’s, when it is asked to orphan them', async () => {
    const stage = await open();
    await furnish(stage);
    await stage.client.delete(advancedDaemonSets('v1alpha1'), ref(stage), { propagationPolicy: 'Orphan' });
    await untilGone(stage, 'the DaemonSet', () => stage.client.get(advancedDaemonSets('v1beta1'), ref(stage)));
    const left = await dependents(stage);
    assert.deepEqual(await namesOf(stage), ALL);
    assert.deepEqual(
      left.flatMap(({ metadata }) => metadata?.ownerReferences ?? []),
      [],
    );
  });

  it('a finalizer of ours holds it and all that is its own until it is let go', async () => {
    const stage = await open();
    const { client } = stage;
    await furnish(stage);
    const finalizers = { metadata: { finalizers: [FINALIZER] } };
    await client.patch(advancedDaemonSets('v1beta1'), ref(stage), finalizers, { type: 'merge' });
    await client.delete(advancedDaemonSets('v1beta1'), ref(stage), { propagationPolicy: 'Background' });
    const held = await client.get(advancedDaemonSets('v1alpha1'), ref(stage));
    assert.ok(held.metadata?.deletionTimestamp);
    assert.deepEqual(await namesOf(stage), ALL);
    await client.patch(
      advancedDaemonSets('v1alpha1'),
      ref(stage),
      { metadata: { finalizers: null } },
      { type: 'merge' },
    );
    await stage.until('all are gone', async () => ((await namesOf(stage)).length === 0 ? true : undefined));
  });

  it('the native controller leaves its pods alone, under the same name and selector', async () => {
    const stage = await open();
    const { client, namespace, nodes, until } = stage;
    const owner = await furnish(stage);
    const native = {
      ...spec,
      template: { ...spec.template, spec: { ...spec.template.spec, nodeSelector: { case: namespace } } },
    };
    await client.create(daemonSets, { metadata: { name: 'app', namespace }, spec: native });
    await until('the native DaemonSet has its own pods', async () => {
      const { status } = await client.get(daemonSets, ref(stage));
      return status?.numberAvailable === nodes.length ? true : undefined;
    });
    const ours = (await dependents(stage)).filter(({ metadata }) =>
      metadata?.ownerReferences?.some(({ uid }) => uid === owner.uid),
    );
    assert.equal(ours.length, ALL.length);
    assert.deepEqual(
      ours.flatMap(({ metadata }) => metadata?.deletionTimestamp ?? []),
      [],
    );
  });
};
