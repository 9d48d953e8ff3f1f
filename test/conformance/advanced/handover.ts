import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { newPod } from '../../../src/advanced/pods/index.ts';
import { defaultedTemplate, HASH_LABEL, planHistory, writeRevision } from '../../../src/advanced/revisions/index.ts';
import { controllerRevisions, daemonSets, pods } from '../../../src/resources/index.ts';
import { advancedDaemonSets } from './api.ts';
import { createAdvanced, type HandStage, listPods, untilGone, untilReady } from './stage.ts';

const labels = { app: 'x' };
const selector = { matchLabels: labels };

/** Everything in which two writers of JSON may differ. */
const templateOf = (stage: HandStage, image: string): PodTemplateSpec => ({
  metadata: {
    labels: { ...labels, 10: 'ten', 9: 'nine', 'z/a': 'z' },
    annotations: { text: '<a> & "b"\u2028\u0007 \u{1f600}', b: '1' },
  },
  spec: {
    nodeSelector: { case: stage.namespace },
    containers: [
      { name: 'main', image, env: [{ name: 'A', value: 'a&b' }], resources: { limits: { memory: '1024Mi' } } },
    ],
  },
});

const revisionsOf = async ({ client, namespace }: HandStage): Promise<ControllerRevision[]> =>
  (await client.list(controllerRevisions, { namespace })).items;

const proved = async ({ client, namespace }: HandStage, template: PodTemplateSpec): Promise<PodTemplateSpec> => {
  const answer = await defaultedTemplate(client, namespace, template);
  assert.ok(answer.ok);
  return answer.template;
};

const startNative = async (stage: HandStage, template: PodTemplateSpec): Promise<void> => {
  const { client, namespace, nodes, until } = stage;
  await client.create(daemonSets, { metadata: { name: 'app', namespace }, spec: { selector, template } });
  await until('the native controller is content', async () => {
    const { status } = await client.get(daemonSets, { namespace, name: 'app' });
    const content = status?.observedGeneration === 1 && status.updatedNumberScheduled === nodes.length;
    return content && status.numberAvailable === nodes.length ? true : undefined;
  });
};

const letGo = async (stage: HandStage, remove: () => Promise<unknown>, get: () => Promise<unknown>): Promise<void> => {
  await remove();
  await untilGone(stage, 'its owner', get);
  const left = [...(await listPods(stage)), ...(await revisionsOf(stage))];
  assert.deepEqual(
    left.flatMap(({ metadata }) => metadata?.ownerReferences ?? []),
    [],
  );
};

const orphanNative = (stage: HandStage): Promise<void> => {
  const { client, namespace } = stage;
  const ref = { namespace, name: 'app' };
  return letGo(
    stage,
    () => client.delete(daemonSets, ref, { propagationPolicy: 'Orphan' }),
    () => client.get(daemonSets, ref),
  );
};

const identities = async (stage: HandStage): Promise<string[]> =>
  (await listPods(stage))
    .map(
      ({ metadata, status }) => `${metadata?.uid} ${status?.containerStatuses?.map((each) => each.containerID).join()}`,
    )
    .toSorted();

/** What the native controller knows by a label of its own; our pods do not have it. */
const forgetGeneration = async (stage: HandStage): Promise<void> => {
  const { client, namespace } = stage;
  const body = { metadata: { labels: { 'pod-template-generation': null } } };
  for (const { metadata } of await listPods(stage))
    await client.patch(pods, { namespace, name: metadata?.name ?? '' }, body, { type: 'merge' });
};

type Owner = Awaited<ReturnType<typeof createAdvanced>>;

/** Finds or makes the revision of a template, as the controller will. */
const settle = async (stage: HandStage, owner: Owner, template: PodTemplateSpec): Promise<string> => {
  const carried = new Set((await listPods(stage)).map(({ metadata }) => metadata?.labels?.[HASH_LABEL] ?? ''));
  const revisions = await revisionsOf(stage);
  const plan = planHistory({ owner: { ...owner, collisionCount: 0 }, template, revisions, carried, keep: 10 });
  if (plan.write.kind !== 'none') await writeRevision(stage.client, plan.write);
  return plan.target.hash;
};

const adoptPods = async (stage: HandStage, owner: Owner): Promise<void> => {
  const { client, namespace } = stage;
  const { apiVersion, name, uid } = owner;
  const reference = { apiVersion, kind: 'DaemonSet', name, uid, controller: true, blockOwnerDeletion: true };
  for (const { metadata } of await listPods(stage)) {
    const body = { metadata: { uid: metadata?.uid, ownerReferences: [reference] } };
    await client.patch(pods, { namespace, name: metadata?.name ?? '' }, body, { type: 'strategic' });
  }
};

const orphanAdvanced = (stage: HandStage): Promise<void> => {
  const { client, namespace } = stage;
  const ref = { namespace, name: 'app' };
  return letGo(
    stage,
    () => client.delete(advancedDaemonSets('v1beta1'), ref, { propagationPolicy: 'Orphan' }),
    () => client.get(advancedDaemonSets('v1beta1'), ref),
  );
};

/** Registers tests of taking over from a native DaemonSet and of handing back to one, in either version. */
export const describeHandover = (open: () => Promise<HandStage>): void => {
  for (const version of ['v1alpha1', 'v1beta1'] as const)
    it(`a native DaemonSet's pods go to an Advanced one (${version}) and back, and none restarts`, async () => {
      const stage = await open();
      const template = templateOf(stage, 'app:v1');
      await startNative(stage, template);
      const before = await identities(stage);
      const [native] = await revisionsOf(stage);
      await orphanNative(stage);

      const owner = await createAdvanced(stage, version, { selector, template });
      const hash = await settle(stage, owner, await proved(stage, template));
      assert.equal(hash, native?.metadata?.labels?.[HASH_LABEL], 'its revision is taken over as it is');
      await adoptPods(stage, owner);
      await forgetGeneration(stage);
      await orphanAdvanced(stage);

      await startNative(stage, template);
      assert.deepEqual(await identities(stage), before);
      assert.equal((await revisionsOf(stage)).length, 1);
    });

  it('pods and a revision that are ours from the beginning go to a native DaemonSet, and none restarts', async () => {
    const stage = await open();
    const { client, namespace, nodes } = stage;
    const owner = await createAdvanced(stage, 'v1beta1', { selector, template: templateOf(stage, 'app:v1') });
    await settle(stage, owner, await proved(stage, templateOf(stage, 'app:v1')));
    const template = await proved(stage, templateOf(stage, 'app:v2'));
    const revision = await settle(stage, owner, template);
    for (const node of nodes)
      await client.create(
        pods,
        newPod({ daemonSet: owner, template, node, revision, replaces: undefined, gates: ['InPlaceUpdateReady'] }),
      );
    const gate = { status: { conditions: [{ type: 'InPlaceUpdateReady', status: 'True' }] } };
    for (const { metadata } of await listPods(stage))
      await client.patch(pods, { namespace, name: metadata?.name ?? '' }, gate, {
        type: 'strategic',
        subresource: 'status',
      });
    await untilReady(stage, nodes.length);
    const before = await identities(stage);
    await orphanAdvanced(stage);

    await startNative(stage, templateOf(stage, 'app:v2'));
    assert.deepEqual(await identities(stage), before);
    assert.equal((await revisionsOf(stage)).length, 2, 'it wrote none of its own');
  });

  it('an earlier template that is asked for again raises its revision, whoever wrote it', async () => {
    const stage = await open();
    await startNative(stage, templateOf(stage, 'app:v1'));
    await orphanNative(stage);
    const owner = await createAdvanced(stage, 'v1beta1', { selector, template: templateOf(stage, 'app:v1') });
    const first = await settle(stage, owner, await proved(stage, templateOf(stage, 'app:v1')));
    const second = await settle(stage, owner, await proved(stage, templateOf(stage, 'app:v2')));
    assert.notEqual(first, second);
    for (const [image, hash] of [
      ['app:v1', first],
      ['app:v2', second],
    ] as const) {
      assert.equal(await settle(stage, owner, await proved(stage, templateOf(stage, image))), hash);
      const all = await revisionsOf(stage);
      const newest = all.toSorted((a, b) => b.revision - a.revision)[0];
      assert.equal(newest?.metadata?.labels?.[HASH_LABEL], hash);
      assert.equal(all.length, 2);
    }
  });
};
