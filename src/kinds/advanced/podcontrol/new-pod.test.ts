import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeSelectorTerm, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { gatesOpen } from '../../../rollout/index.ts';
import { gate } from '../../../words/index.ts';
import { type NewPodInput, newPod, podNameOf } from './new-pod.ts';
import { gatePatch, initialGatePatch, unsetGates } from './readiness-gates.ts';

const daemonSet = { apiVersion: 'apps.kruise.io/v1beta1', name: 'app', namespace: 'edge', uid: 'u-1' };
const input = (spec: Partial<PodSpec> = {}, more: Partial<NewPodInput> = {}): NewPodInput => ({
  daemonSet,
  template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'main', image: 'app:1' }], ...spec } },
  node: 'node-1',
  nodeUid: 'm-1',
  revision: 'abc',
  replaces: undefined,
  gates: [],
  ...more,
});
const termsOf = (spec: Partial<PodSpec>): NodeSelectorTerm[] | undefined =>
  newPod(input(spec)).spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;

describe('a new pod', () => {
  it('has a name derived from its purpose, so that a second creation collides', () => {
    const name = podNameOf(input());
    assert.match(name, /^app-[a-z0-9]{10}$/);
    assert.equal(podNameOf(input()), name);
    const others = [
      input({}, { node: 'node-2' }),
      input({}, { nodeUid: 'm-2' }),
      input({}, { revision: 'abd' }),
      input({}, { replaces: 'p-1' }),
      input({}, { daemonSet: { ...daemonSet, uid: 'u-2' } }),
    ].map(podNameOf);
    assert.equal(new Set([name, ...others]).size, 6);
  });

  it('has the generateName that the DaemonSet controller sets, within the limit of the API server', () => {
    assert.equal(newPod(input()).metadata?.generateName, 'app-');
    const named = (length: number) => newPod(input({}, { daemonSet: { ...daemonSet, name: 'a'.repeat(length) } }));
    assert.equal(named(252).metadata?.generateName, `${'a'.repeat(252)}-`);
    assert.equal(named(253).metadata?.generateName, 'a'.repeat(253));
  });

  it('has a valid name for the longest DaemonSet name', () => {
    const name = podNameOf(input({}, { daemonSet: { ...daemonSet, name: `${'a'.repeat(241)}.b${'c'.repeat(10)}` } }));
    assert.ok(name.length <= 253);
    assert.match(name, /^a+-[a-z0-9]{10}$/);
  });

  it('counts as a DaemonSet pod for autoscalers, unless the template says otherwise', () => {
    const key = 'cluster-autoscaler.kubernetes.io/daemonset-pod';
    assert.deepEqual(newPod(input()).metadata?.annotations, { [key]: 'true' });
    const template = { metadata: { annotations: { [key]: 'false' } }, spec: { containers: [] } };
    assert.deepEqual(newPod(input({}, { template })).metadata?.annotations, { [key]: 'false' });
  });

  it('carries the labels of the template, its revision and one controller', () => {
    const { metadata } = newPod(input());
    assert.deepEqual(metadata?.labels, { app: 'app', 'controller-revision-hash': 'abc' });
    assert.deepEqual(metadata?.ownerReferences, [
      {
        apiVersion: daemonSet.apiVersion,
        kind: 'DaemonSet',
        name: 'app',
        uid: 'u-1',
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
  });

  it('is pinned to its node within the node affinity of the template', () => {
    const pin = [{ key: 'metadata.name', operator: 'In', values: ['node-1'] }];
    assert.deepEqual(termsOf({}), [{ matchFields: pin }]);
    const inZone = (zone: string) => ({ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] });
    const required = { nodeSelectorTerms: [inZone('a'), inZone('b')] };
    assert.deepEqual(
      termsOf({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } }),
      [
        { ...inZone('a'), matchFields: pin },
        { ...inZone('b'), matchFields: pin },
      ],
    );
    const preferred = [{ weight: 1, preference: inZone('a') }];
    const kept = newPod(
      input({ affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } }),
    );
    assert.deepEqual(kept.spec?.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution, preferred);
  });

  it('has the tolerations of daemon pods without duplicates', () => {
    const keys = (spec: Partial<PodSpec>): string[] =>
      (newPod(input(spec)).spec?.tolerations ?? []).map(({ key = '*', effect = '*' }) => `${key}:${effect}`).toSorted();
    const usual = keys({});
    assert.equal(usual.length, 6);
    assert.deepEqual(
      keys({ hostNetwork: true }).filter((each) => !usual.includes(each)),
      ['node.kubernetes.io/network-unavailable:NoSchedule'],
    );
    const own = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' };
    assert.deepEqual(keys({ tolerations: [own] }), usual);
  });

  it('has each readiness gate once', () => {
    const gates = [gate.inPlace, gate.lifecycle];
    const gatesOf = (spec: Partial<PodSpec>): (string | undefined)[] =>
      (newPod(input(spec, { gates })).spec?.readinessGates ?? []).map(({ conditionType }) => conditionType);
    assert.deepEqual(gatesOf({}), gates);
    assert.deepEqual(gatesOf({ readinessGates: [{ conditionType: 'own' }, { conditionType: gate.inPlace }] }), [
      'own',
      gate.inPlace,
      gate.lifecycle,
    ]);
  });
});

describe('gates', () => {
  const pod = {
    ...newPod(input({}, { gates: [gate.inPlace] })),
    status: { conditions: [{ type: 'Ready', status: 'False' }] },
  };
  const uid = { ...pod, metadata: { ...pod.metadata, uid: 'p-1', resourceVersion: '7' } };

  it('of a new pod are closed until they are opened once', () => {
    assert.equal(gatesOpen(uid), false);
    assert.deepEqual(unsetGates(uid), [gate.inPlace]);
    const patch = initialGatePatch(uid, 1_000_500);
    assert.deepEqual(patch, {
      metadata: { uid: 'p-1', resourceVersion: '7' },
      status: {
        conditions: [
          { type: gate.inPlace, status: 'True', reason: 'Created', lastTransitionTime: '1970-01-01T00:16:40Z' },
        ],
      },
    });
    const opened = { ...uid, status: patch.status };
    assert.equal(gatesOpen(opened), true);
    assert.deepEqual(unsetGates(opened), []);
  });

  it('keep their transition time while their status stays the same', () => {
    const opened = { ...uid, status: initialGatePatch(uid, 0).status };
    const times = (open: boolean): unknown =>
      gatePatch(opened, [gate.inPlace], open, 'Again', 60_000).status.conditions[0]?.lastTransitionTime;
    assert.equal(times(true), '1970-01-01T00:00:00Z');
    assert.equal(times(false), '1970-01-01T00:01:00Z');
  });

  it('of others, and pods without gates, are ignored', () => {
    assert.equal(gatesOpen(newPod(input({ readinessGates: [{ conditionType: 'own' }] }))), true);
  });
});
