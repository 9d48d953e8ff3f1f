import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import type { AdvancedDaemonSet } from '../../../src/advanced/index.ts';
import { defineResource } from '../../../src/kube/index.ts';
import { controllerRevisions, daemonSets, pods } from '../../../src/resources/index.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { type HandStage, isReady, listPods } from './stage.ts';

const advanced = defineResource<AdvancedDaemonSet>({
  group: 'apps.kruise.io',
  version: 'v1beta1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});

const labels = { app: 'x' };
const selector = { matchLabels: labels };

const templateOf = (stage: HandStage, image: string, more: Record<string, string> = {}) => ({
  metadata: { labels: { ...labels, ...more } },
  spec: { nodeSelector: { case: stage.namespace }, containers: [{ name: 'main', image }] },
});

const create = ({ client, namespace }: HandStage, spec: Omit<AdvancedDaemonSet['spec'], 'selector'>) =>
  client.create(advanced, {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace, annotations: { 'edgeset.io/settle-seconds': '0' } },
    spec: { selector, ...spec },
  });

const get = ({ client, namespace }: HandStage): Promise<AdvancedDaemonSet> =>
  client.get(advanced, { namespace, name: 'app' });

const setTemplate = ({ client, namespace }: HandStage, template: object): Promise<AdvancedDaemonSet> =>
  client.patch(advanced, { namespace, name: 'app' }, { spec: { template } }, { type: 'merge' });

const conditionOf = async (stage: HandStage, type: string): Promise<Condition | undefined> =>
  (await get(stage)).status?.conditions?.find((condition) => condition.type === type);

/** Every node has one pod of this image, and the DaemonSet says so; resolves with the pods. */
const untilRuns = (
  stage: HandStage,
  image: string,
  look: (all: readonly Pod[]) => void = () => undefined,
): Promise<Pod[]> =>
  stage.until(`all run ${image}`, async () => {
    const all = await listPods(stage);
    look(all);
    const { length } = stage.nodes;
    const run = all.filter((pod) => isReady(pod) && pod.spec?.containers[0]?.image === image);
    if (all.length !== length || run.length !== length) return undefined;
    const { metadata, status } = await get(stage);
    const said = status?.numberAvailable === length && status.updatedNumberScheduled === length;
    return said && status.observedGeneration === metadata.generation ? all : undefined;
  });

/** Pods and the containers in them: whatever restarts is another one. */
const identities = (all: readonly Pod[]): string[] =>
  all.map(({ metadata, status }) => `${metadata?.uid} ${status?.containerStatuses?.[0]?.containerID}`).toSorted();
const uids = (all: readonly Pod[]): string[] => all.map(({ metadata }) => metadata?.uid ?? '').toSorted();

/** Registers tests of Advanced DaemonSets on a stage where their controller is at work. */
export const describeServed = (open: () => Promise<HandStage>): void => {
  it('pods are created, and replaced node by node when the template changes', async () => {
    const stage = await open();
    await create(stage, { template: templateOf(stage, 'app:v1') });
    const before = await untilRuns(stage, 'app:v1');
    await setTemplate(stage, templateOf(stage, 'app:v2'));
    let least = stage.nodes.length;
    const after = await untilRuns(stage, 'app:v2', (all) => {
      least = Math.min(least, all.filter(isReady).length);
    });
    assert.equal(least, stage.nodes.length - 1);
    assert.equal(
      uids(before).some((uid) => uids(after).includes(uid)),
      false,
    );
    assert.equal((await conditionOf(stage, 'Ready'))?.status, 'True');
  });

  it('pods are changed in place, and stay what they are', async () => {
    const stage = await open();
    await create(stage, {
      template: templateOf(stage, 'app:v1'),
      updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } },
    });
    const before = await untilRuns(stage, 'app:v1');
    await setTemplate(stage, templateOf(stage, 'app:v2'));
    const after = await untilRuns(stage, 'app:v2');
    assert.deepEqual(uids(after), uids(before));
    assert.notDeepEqual(identities(after), identities(before));
    const { updateRevision } = (await get(stage)).status ?? {};
    assert.deepEqual(
      after.map(({ metadata }) => metadata?.labels?.['controller-revision-hash']),
      after.map(() => updateRevision),
    );
  });

  it('new pods come beside old ones with a surge, and no node is ever without a ready one', async () => {
    const stage = await open();
    await create(stage, {
      template: templateOf(stage, 'app:v1'),
      updateStrategy: { rollingUpdate: { maxSurge: 1 } },
    });
    await untilRuns(stage, 'app:v1');
    await setTemplate(stage, templateOf(stage, 'app:v2'));
    let least = stage.nodes.length;
    let most = 0;
    await untilRuns(stage, 'app:v2', (all) => {
      least = Math.min(least, new Set(all.filter(isReady).map(({ spec }) => spec?.nodeName)).size);
      most = Math.max(most, all.filter(({ metadata }) => metadata?.deletionTimestamp === undefined).length);
    });
    assert.deepEqual([least, most], [stage.nodes.length, stage.nodes.length + 1]);
  });

  it('a native DaemonSet of the same selector is in the way, and hands its pods over without a restart', async () => {
    const stage = await open();
    const { client, namespace, nodes, until } = stage;
    const template = templateOf(stage, 'app:v1');
    await client.create(daemonSets, { metadata: { name: 'old', namespace }, spec: { selector, template } });
    await until('the native pods are there', async () => {
      const all = await listPods(stage);
      return all.length === nodes.length && all.every(isReady) ? true : undefined;
    });
    await create(stage, { template });
    const stalled = await until('it says what is in the way', async () => {
      const condition = await conditionOf(stage, 'Stalled');
      return condition?.status === 'True' ? condition : undefined;
    });
    assert.equal(stalled.reason, 'NativeDaemonSet');
    assert.match(stalled.message, /delete daemonset\.apps old --cascade=orphan/);
    const before = await listPods(stage);
    assert.equal(before.length, nodes.length);
    await client.delete(daemonSets, { namespace, name: 'old' }, { propagationPolicy: 'Orphan' });
    const after = await untilRuns(stage, 'app:v1');
    assert.deepEqual(identities(after), identities(before));
    const { uid } = (await get(stage)).metadata;
    assert.deepEqual(
      after.map((pod) => controllerOf(pod)?.uid),
      after.map(() => uid),
    );
    assert.equal((await client.list(controllerRevisions, { namespace })).items.length, 1);
  });

  it('a pod whose labels are changed is let go, and its node gets another', async () => {
    const stage = await open();
    const { client, namespace, until } = stage;
    await create(stage, { template: templateOf(stage, 'app:v1') });
    const [first] = await untilRuns(stage, 'app:v1');
    const name = first?.metadata?.name ?? '';
    await client.patch(pods, { namespace, name }, { metadata: { labels: { app: 'y' } } }, { type: 'merge' });
    await until('it is nobody’s', async () =>
      controllerOf(await client.get(pods, { namespace, name })) === undefined ? true : undefined,
    );
    await until('its node has another', async () => {
      const { status } = await get(stage);
      return (await listPods(stage)).length === stage.nodes.length + 1 && status?.numberAvailable === stage.nodes.length
        ? true
        : undefined;
    });
  });

  it('a pod with a hook goes when its controller lets it go', async () => {
    const stage = await open();
    const { client, namespace, nodes, until } = stage;
    await create(stage, {
      template: templateOf(stage, 'app:v1', { hold: 'yes' }),
      lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } },
    });
    await untilRuns(stage, 'app:v1');
    await setTemplate(stage, templateOf(stage, 'app:v2', { hold: 'yes' }));
    for (let turn = 0; turn < nodes.length; turn += 1) {
      const preparing = await until('a pod is prepared, and out of service', async () =>
        (await listPods(stage)).find(
          (pod) =>
            pod.metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete' &&
            pod.metadata.labels['hold'] === 'yes' &&
            !isReady(pod),
        ),
      );
      assert.equal(preparing.metadata?.deletionTimestamp, undefined);
      const ref = { namespace, name: preparing.metadata?.name ?? '' };
      await client.patch(pods, ref, { metadata: { labels: { hold: null } } }, { type: 'merge' });
    }
    await untilRuns(stage, 'app:v2');
  });
};
