import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const inPlace = {
  updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 1 } },
} as const;

const restarts = (pod: Pod, name: string): number | undefined =>
  [...(pod.status?.containerStatuses ?? []), ...(pod.status?.initContainerStatuses ?? [])].find(
    (status) => status.name === name,
  )?.restartCount;

const secondsBetween = (from: string | undefined, to: string | undefined): number =>
  (Date.parse(to ?? '') - Date.parse(from ?? '')) / 1000;

/** Updates that do not replace pods, or do so late: in-place updates, minReadySeconds and grace periods. */
export const inPlaceUpdates = (site: Site, nodes: readonly [string, string]): void => {
  const add = (name: string): string => site.cluster.images.add(name);
  const common = () => ({ cluster: site.cluster, nodes });

  it('change containers and sidecars in the running pod', async () => {
    const app = await deployApp({
      ...common(),
      name: 'in-place',
      kind: 'advanced',
      image: add('main:v1'),
      spec: inPlace,
      pod: {
        initContainers: [
          { name: 'side', image: add('side:v1'), restartPolicy: 'Always', env: [{ name: 'ADDRESS', value: ':8081' }] },
        ],
      },
    });
    const before = await app.podsOn(nodes);
    const [image, side] = [add('main:v2'), add('side:v2')];
    await app.edit((spec) => {
      for (const container of spec.containers) container.image = image;
      for (const container of spec.initContainers ?? []) container.image = side;
    });
    await app.untilRunning(image);
    await app.untilCondition('Complete');
    for (const old of before) {
      const pod = await app.podOn(old.spec?.nodeName ?? '');
      assert.equal(pod.metadata?.uid, old.metadata?.uid);
      assert.equal(pod.status?.podIP, old.status?.podIP);
      assert.deepEqual([restarts(pod, 'main'), restarts(pod, 'side')], [1, 1]);
    }
    assert.equal(app.timeline.mostDown(), 1);
    await app.remove();
  });

  it('resize without a restart', async () => {
    const image = add('resize:v1');
    const app = await deployApp({
      ...common(),
      name: 'resize',
      kind: 'advanced',
      image,
      spec: inPlace,
      container: { resources: { requests: { cpu: '50m', memory: '64Mi' }, limits: { cpu: '50m', memory: '64Mi' } } },
    });
    const before = await app.podsOn(nodes);
    const resources = { cpu: '80m', memory: '96Mi' };
    await app.change({ resources: { requests: resources, limits: resources } });
    await app.untilCondition('Complete');
    for (const old of before) {
      const pod = await app.podOn(old.spec?.nodeName ?? '');
      assert.equal(pod.metadata?.uid, old.metadata?.uid);
      assert.equal(restarts(pod, 'main'), restarts(old, 'main'));
      assert.deepEqual(pod.status?.containerStatuses?.[0]?.resources?.limits, resources);
    }
    assert.ok(app.timeline.mostDown() <= 1);
    await app.remove();
  });

  it('wait until the first node has been ready for minReadySeconds', async () => {
    const app = await deployApp({ ...common(), name: 'settle', image: add('settle:v1'), spec: { minReadySeconds: 5 } });
    await app.untilCondition('Complete');
    const image = add('settle:v2');
    await app.change({ image });
    await app.untilRunning(image);
    const [first, second] = (await app.podsOn(nodes)).toSorted((a, b) =>
      secondsBetween(b.metadata?.creationTimestamp, a.metadata?.creationTimestamp),
    );
    const ready = first?.status?.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
    // Both times are whole seconds.
    assert.ok(secondsBetween(ready, second?.metadata?.creationTimestamp) >= 4);
    await app.remove();
  });

  it('keep a pod out of service for its grace period before the container changes', async () => {
    const app = await deployApp({
      ...common(),
      name: 'grace',
      kind: 'advanced',
      image: add('grace:v1'),
      annotations: { 'apps.kruise.io/inplace-update-grace': '8' },
      spec: inPlace,
    });
    const image = add('grace:v2');
    await app.change({ image });
    await app.untilRunning(image);
    // A busy kubelet takes the pod out of service a second or two after its gate is closed. Without a grace period, it takes four at most.
    for (const node of nodes) assert.ok((app.timeline.downtimes().get(node) ?? 0) >= 6000, node);
    assert.equal(app.timeline.mostDown(), 1);
    await app.remove();
  });
};
