import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeSelectorTerm, Pod, PodCondition, PodStatus } from 'kubernetes-types/core/v1.d.ts';
import { nodeOf, type PodFacts, toPodFacts } from './pod.ts';

const pinned = (nodeSelectorTerms: NodeSelectorTerm[]): Pod => ({
  spec: {
    containers: [],
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
  },
});
const field = (operator: string, values: string[], key = 'metadata.name'): NodeSelectorTerm => ({
  matchFields: [{ key, operator, values }],
});

describe('nodeOf', () => {
  const cases: [name: string, pod: Pod, expected: string | undefined][] = [
    ['takes spec.nodeName', { spec: { containers: [], nodeName: 'n1' } }, 'n1'],
    [
      'prefers it to the pin',
      { ...pinned([field('In', ['n2'])]), spec: { ...pinned([field('In', ['n2'])]).spec!, nodeName: 'n1' } },
      'n1',
    ],
    ['takes the pin of a pod that is not bound', pinned([field('In', ['n2'])]), 'n2'],
    ['looks through all terms', pinned([{ matchExpressions: [] }, field('In', ['n2'])]), 'n2'],
    ['refuses a pin to several nodes', pinned([field('In', ['n1', 'n2'])]), undefined],
    ['refuses a pin to no node', pinned([field('In', [])]), undefined],
    ['does not read an exclusion as a pin', pinned([field('NotIn', ['n2'])]), undefined],
    ['does not read another field as a pin', pinned([field('In', ['n2'], 'metadata.namespace')]), undefined],
    ['knows nothing of a pod without either', { spec: { containers: [] } }, undefined],
    ['knows nothing of a pod without a spec', {}, undefined],
  ];
  for (const [name, pod, expected] of cases) it(name, () => assert.equal(nodeOf(pod), expected));
});

const ready = (status: string, lastTransitionTime = '2026-03-01T10:00:30Z'): PodCondition => ({
  type: 'Ready',
  status,
  lastTransitionTime,
});
const bound = (status: PodStatus, deletionTimestamp?: string): Pod => ({
  metadata: {
    uid: 'u1',
    name: 'app-x7k2p',
    resourceVersion: '77',
    creationTimestamp: '2026-03-01T10:00:00Z',
    labels: { 'controller-revision-hash': '5d4f' },
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
  },
  spec: { containers: [], nodeName: 'n1' },
  status,
});
const crashing: PodStatus = {
  conditions: [ready('False')],
  containerStatuses: [
    {
      name: 'app',
      image: '',
      imageID: '',
      ready: false,
      restartCount: 3,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
    },
  ],
};

describe('toPodFacts', () => {
  it('reads everything that a rollout needs', () =>
    assert.deepEqual(toPodFacts(bound({ phase: 'Running', conditions: [ready('True')] })), {
      uid: 'u1',
      name: 'app-x7k2p',
      resourceVersion: '77',
      node: 'n1',
      revision: '5d4f',
      createdAt: Date.UTC(2026, 2, 1, 10),
      terminating: false,
      ready: true,
      readyChangedAt: Date.UTC(2026, 2, 1, 10, 0, 30),
      trouble: undefined,
      detail: '',
    } satisfies PodFacts));

  it('is undefined for a pod that is neither bound nor pinned to a node', () =>
    assert.equal(toPodFacts({ metadata: { name: 'x' } }), undefined));

  it('reads a minimal pod', () =>
    assert.deepEqual(toPodFacts({ spec: { containers: [], nodeName: 'n1' } }), {
      uid: '',
      name: '',
      resourceVersion: '',
      node: 'n1',
      revision: '',
      createdAt: 0,
      terminating: false,
      ready: false,
      readyChangedAt: 0,
      trouble: undefined,
      detail: '',
    } satisfies PodFacts));

  for (const phase of ['Failed', 'Succeeded'])
    it(`treats a ${phase} pod as neither ready nor in trouble`, () => {
      const facts = toPodFacts(bound({ ...crashing, phase, conditions: [ready('True')] }));
      assert.equal(facts?.ready, false);
      assert.equal(facts?.trouble, undefined);
    });

  for (const status of ['False', 'Unknown'])
    it(`treats a pod whose condition is ${status} as not ready`, () =>
      assert.equal(toPodFacts(bound({ conditions: [ready(status)] }))?.ready, false));

  it('reports the trouble of a pod', () => {
    const facts = toPodFacts(bound(crashing));
    assert.equal(facts?.trouble, 'crash-loop');
    assert.equal(facts.detail, 'container app: CrashLoopBackOff (3 restarts)');
  });

  it('reports no trouble of a pod that is ready or terminating', () => {
    assert.equal(toPodFacts(bound({ ...crashing, conditions: [ready('True')] }))?.trouble, undefined);
    const leaving = toPodFacts(bound(crashing, '2026-03-01T10:05:00Z'));
    assert.equal(leaving?.terminating, true);
    assert.equal(leaving.trouble, undefined);
  });

  it('takes the transition time of Ready as the start of trouble only while Ready is False', () => {
    const running: PodStatus = {
      containerStatuses: [
        {
          name: 'app',
          image: '',
          imageID: '',
          ready: false,
          restartCount: 2,
          state: { running: { startedAt: '2026-03-01T10:01:00Z' } },
          lastState: {
            terminated: { exitCode: 1, startedAt: '2026-03-01T10:00:10Z', finishedAt: '2026-03-01T10:00:20Z' },
          },
        },
      ],
    };
    assert.equal(toPodFacts(bound({ ...running, conditions: [ready('False')] }))?.trouble, 'crash-loop');
    assert.equal(toPodFacts(bound({ ...running, conditions: [ready('Unknown')] }))?.trouble, undefined);
    assert.equal(toPodFacts(bound(running))?.trouble, undefined);
  });
});

describe("toPodFacts of an Advanced DaemonSet's pod", () => {
  const condition = (type: string, status: string, second: number): PodCondition => ({
    type,
    status,
    lastTransitionTime: `2026-03-01T10:00:${second}Z`,
  });
  const gated = (conditions: PodCondition[], gates = ['InPlaceUpdateReady', 'KruisePodReady']): Pod => {
    const pod = bound({ phase: 'Running', conditions });
    return { ...pod, spec: { ...pod.spec!, readinessGates: gates.map((conditionType) => ({ conditionType })) } };
  };
  const at = (second: number): number => Date.UTC(2026, 2, 1, 10, 0, second);
  const open = [condition('InPlaceUpdateReady', 'True', 40), condition('KruisePodReady', 'True', 20)];

  it('is ready only while its gates are open, since the last of them was opened', () => {
    const facts = toPodFacts(gated([ready('True'), ...open]));
    assert.deepEqual([facts?.ready, facts?.readyChangedAt, facts?.gateChangedAt], [true, at(40), at(40)]);
    for (const name of ['InPlaceUpdateReady', 'KruisePodReady']) {
      const shut = [...open.filter(({ type }) => type !== name), condition(name, 'False', 50)];
      const behind = toPodFacts(gated([ready('True'), ...shut]));
      assert.deepEqual([behind?.ready, behind?.readyChangedAt], [false, at(50)], name);
      assert.equal(behind?.updatingInPlace, name === 'InPlaceUpdateReady' ? true : undefined);
    }
    assert.equal(toPodFacts(gated([ready('True')]))?.ready, false, 'the gates were never opened');
    assert.equal(toPodFacts(gated([ready('False'), ...open]))?.readyChangedAt, at(30));
  });

  it('recognizes by its gate a pod that can be updated in place', () => {
    assert.equal(toPodFacts(gated(open))?.hasInPlaceGate, true);
    assert.equal(toPodFacts(gated(open, ['KruisePodReady']))?.hasInPlaceGate, undefined);
  });

  it('says whether it is prepared for deletion, has finished, or is not bound', () => {
    const pod = gated([]);
    const labelled = (value: string): Pod => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { 'lifecycle.apps.kruise.io/state': value } },
    });
    assert.equal(toPodFacts(labelled('PreparingDelete'))?.preparingDelete, true);
    assert.equal(toPodFacts(labelled('Normal'))?.preparingDelete, undefined);
    assert.equal(toPodFacts(bound({ phase: 'Failed' }))?.finished, 'Failed');
    assert.equal(toPodFacts(bound({ phase: 'Running' }))?.finished, undefined);
    assert.equal(toPodFacts(pinned([field('In', ['n2'])]))?.unbound, true);
    assert.equal(toPodFacts(bound({}))?.unbound, undefined);
    const refused = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'no free ports' };
    const unplaced = { ...pinned([field('In', ['n2'])]), status: { conditions: [refused] } };
    assert.equal(toPodFacts(unplaced)?.detail, 'not scheduled (no free ports)');
    const untried = { ...unplaced, status: { conditions: [{ ...refused, reason: 'SchedulingGated' }] } };
    assert.equal(toPodFacts(untried)?.detail, '');
  });

  it('names the revision whose images are present', () => {
    const images = { type: 'PodImageReady', status: 'True', message: 'controllerrevision: h2' };
    const { state, revision } = toPodFacts(bound({ conditions: [images] }))?.images ?? {};
    assert.deepEqual([state, revision], ['present', 'h2']);
  });
});
