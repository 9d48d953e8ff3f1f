import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { jsonPatch } from '../../../../embedded/apiserver/patch/json-patch.ts';
import { gate, IN_PLACE_STATE, ownKey } from '../../../words/index.ts';
import { ask, bodyOf, createWorld, plan } from '../testing/in-place-world.ts';
import { boundToContent } from './bound-patch.ts';
import type { PodPatch } from './step.ts';

const SIDE = { name: 'side', image: 's:1' };
const change = plan({
  images: { main: 'app:2', side: 's:2' },
  labels: { fresh: 'y', app: null },
  annotations: { 'example.com/a~b': '2', gone: null },
});

/** A pod whose gate was closed, and the patch that changes it in place. */
const closed = () => {
  const world = createWorld(
    [
      { name: 'other', image: 'x' },
      { name: 'main', image: 'app:1' },
    ],
    [SIDE],
  );
  const { pod, apply, condition } = world;
  condition({ type: 'Ready', status: 'True' });
  apply(bodyOf(ask(pod, { plan: change }), 'status'));
  const body = bodyOf(ask(pod, { plan: change }), 'pod') as PodPatch;
  const gateAt = pod.status.conditions?.findIndex(({ type }) => type === gate.inPlace) ?? -1;
  const bound = () => boundToContent(pod, body, gateAt);
  const applied = (to: Pod): Pod => jsonPatch({ ...to }, bound());
  return { ...world, bound, applied };
};

/** As another has it that wrote to it meanwhile. */
const withChange = (pod: Pod, edit: (copy: Pod) => void): Pod => {
  const copy = structuredClone(pod);
  edit(copy);
  return copy;
};
const conditionIn = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === gate.inPlace);
const runningIn = (pod: Pod) => pod.status?.containerStatuses?.[1];

describe('a patch that is bound to what a pod is', () => {
  it('changes images, labels and annotations', () => {
    const { pod, applied } = closed();
    const { metadata, spec } = applied(pod);
    assert.deepEqual(
      spec?.containers.map(({ image }) => image),
      ['x', 'app:2'],
    );
    assert.equal(spec?.initContainers?.[0]?.image, 's:2');
    assert.deepEqual(metadata?.labels, { 'controller-revision-hash': 'new', fresh: 'y' });
    const { [IN_PLACE_STATE]: state, ...annotations } = metadata?.annotations ?? {};
    assert.deepEqual(annotations, { 'example.com/a~b': '2' });
    assert.equal((JSON.parse(state ?? '') as { revision: string }).revision, 'new');
  });

  it('does not apply to a pod that another write has taken out of service', () => {
    const { pod, apply, condition, applied } = closed();
    const gateOf = (open: boolean) => ({ type: gate.inPlace, status: open ? 'True' : 'False' });
    const other = structuredClone(pod);
    condition(gateOf(true));
    apply(bodyOf(ask(pod, { plan: change }), 'status'));
    assert.equal(applied(pod).spec?.containers[1]?.image, 'app:2');
    assert.throws(() => applied(other), /rejected our request/);
  });

  it('applies to what the kubelet has reported meanwhile', () => {
    const { pod, applied } = closed();
    const reported = withChange(pod, ({ metadata, status }) => {
      Object.assign(metadata ?? {}, { resourceVersion: '99' });
      for (const each of status?.conditions ?? []) if (each.type === 'Ready') each.status = 'False';
    });
    assert.equal(applied(reported).spec?.containers[1]?.image, 'app:2');
  });

  for (const [what, edit] of [
    ['another pod has its name', ({ metadata }) => Object.assign(metadata ?? {}, { uid: 'p-2' })],
    [
      'it is being deleted',
      ({ metadata }) => Object.assign(metadata ?? {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
    ],
    [
      'it has another revision',
      ({ metadata }) => Object.assign(metadata?.labels ?? {}, { 'controller-revision-hash': 'newer' }),
    ],
    ['a fence was written', ({ metadata }) => Object.assign(metadata?.annotations ?? {}, { [ownKey.fence]: 'm2/1' })],
    ['it is back in service', (pod) => Object.assign(conditionIn(pod) ?? {}, { status: 'True', message: '' })],
    [
      'it was taken out of service again',
      (pod) => Object.assign(conditionIn(pod) ?? {}, { message: 'closed on version 7' }),
    ],
    [
      'its conditions are in another order',
      ({ status }) => Object.assign(status ?? {}, { conditions: status?.conditions?.toReversed() }),
    ],
    ['its image was changed', ({ spec }) => Object.assign(spec?.containers[1] ?? {}, { image: 'app:by-hand' })],
    ['its container has restarted', (pod) => Object.assign(runningIn(pod) ?? {}, { containerID: 'containerd://9' })],
  ] as [string, (pod: Pod) => void][])
    it(`does not apply if ${what}`, () => {
      const { pod, applied } = closed();
      assert.throws(() => applied(withChange(pod, edit)), /rejected our request/);
    });

  for (const [what, edit] of [
    ['has no annotations', ({ metadata }) => void delete metadata?.annotations],
    ['was taken out of service by another program', (pod) => void delete conditionIn(pod)?.message],
    ['is in service', (pod) => Object.assign(conditionIn(pod) ?? {}, { status: 'True' })],
    ['has a container that never ran', (pod) => void delete runningIn(pod)?.containerID],
  ] as [string, (pod: Pod) => void][])
    it(`is none if the pod ${what}`, () => {
      const { pod, bound } = closed();
      edit(pod);
      assert.equal(bound(), undefined);
    });
});
