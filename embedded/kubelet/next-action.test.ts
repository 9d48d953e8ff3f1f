import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { StoredPod } from '../resources.ts';
import type { Behaviour } from './behaviour.ts';
import { nextAction, type PodAction } from './next-action.ts';
import { podActions } from './pod-actions.ts';

type State = 'creating' | 'running' | 'ready' | 'crashed' | 'pull failed' | 'pull backs off' | 'ended';

const stateOf: Record<State, object> = {
  creating: { waiting: { reason: 'ContainerCreating' } },
  running: { running: {} },
  ready: { running: {} },
  crashed: { waiting: { reason: 'CrashLoopBackOff' } },
  'pull failed': { waiting: { reason: 'ErrImagePull' } },
  'pull backs off': { waiting: { reason: 'ImagePullBackOff' } },
  ended: { terminated: { exitCode: 0 } },
};

const podIn = (
  state: State | undefined,
  more: { metadata?: object; spec?: object; status?: object } = {},
): StoredPod => {
  const ready = state === 'ready';
  const status = {
    conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
    ...(state && {
      containerStatuses: [{ name: 'app', image: 'app:v1', restartCount: 0, ready, state: stateOf[state] }],
    }),
    ...more.status,
  };
  const metadata = { name: 'app-1', namespace: 'default', uid: 'u', resourceVersion: '1', ...more.metadata };
  return { metadata, spec: { containers: [{ name: 'app', image: 'app:v1' }], ...more.spec }, status } as StoredPod;
};

const going = { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 } };

/** Each pod state by behaviour, and its next action. */
const table: readonly [Behaviour, State | undefined, PodAction | undefined][] = [
  ['ready', undefined, 'admit'],
  ['ready', 'creating', 'start'],
  ['ready', 'running', 'probe'],
  ['ready', 'ready', undefined],
  ['ready', 'crashed', 'start'],
  ['ready', 'pull backs off', 'start'],
  ['slow', 'creating', 'start'],
  ['crash-loop', 'creating', 'crash'],
  ['crash-loop', 'ready', 'crash'],
  ['crash-loop', 'crashed', 'crash-again'],
  ['not-pullable', 'creating', 'fail-pull'],
  ['not-pullable', 'pull failed', 'back-off-pull'],
  ['not-pullable', 'pull backs off', undefined],
  ['never-ready', 'creating', 'start'],
  ['never-ready', 'running', undefined],
  ['never-ready', 'ready', 'fail-probe'],
  ['dies-after-ready', 'creating', 'start'],
  ['dies-after-ready', 'ready', 'die'],
  ['dies-after-ready', 'crashed', 'crash-again'],
  ['failed', 'ready', 'fail'],
  ['kills-node', 'ready', 'kill-node'],
  ['stuck-terminating', 'ready', undefined],
];

describe('the next action of a kubelet', () => {
  for (const [behaviour, state, action] of table)
    it(`${behaviour}, ${state ?? 'new'}: ${action ?? 'nothing'}`, () => {
      assert.equal(nextAction(podIn(state), behaviour), action);
    });

  it('stops a deleted pod, then removes it', () => {
    assert.equal(nextAction(podIn('ready', going), 'ready'), 'stop');
    assert.equal(nextAction(podIn(undefined, going), 'crash-loop'), 'stop');
    assert.equal(nextAction(podIn('ended', going), 'ready'), 'remove');
  });

  it('removes a pod only once: a finalizer may keep it', () => {
    const metadata = { ...going.metadata, deletionGracePeriodSeconds: 0 };
    assert.equal(nextAction(podIn('ended', { metadata }), 'ready'), undefined);
  });

  it('does nothing for pods that are stuck terminating', () => {
    assert.equal(nextAction(podIn('ready', going), 'stuck-terminating'), undefined);
  });

  it('does nothing for finished pods', () => {
    for (const phase of ['Failed', 'Succeeded'])
      assert.equal(nextAction(podIn('ended', { status: { phase } }), 'ready'), undefined);
  });

  it('changes an image in place before anything else', () => {
    const spec = { containers: [{ name: 'app', image: 'app:v2' }] };
    for (const behaviour of ['ready', 'never-ready', 'crash-loop', 'dies-after-ready'] as const)
      for (const state of ['ready', 'running'] as const)
        assert.equal(nextAction(podIn(state, { spec }), behaviour), 'change-image');
    for (const state of ['crashed', 'pull backs off'] as const)
      assert.equal(nextAction(podIn(state, { spec }), 'ready'), 'start', 'what is down has nothing to end');
  });

  it("pulls the image of a program that doesn't exist, and fails to start it", () => {
    const containers = [{ name: 'app', image: 'app:v1', command: ['/edgeset.io/absent'] }];
    const spec = { restartPolicy: 'Never', containers };
    for (const behaviour of ['ready', 'slow', 'crash-loop', 'never-ready'] as const)
      assert.equal(nextAction(podIn('creating', { spec }), behaviour), 'fail-start');
    assert.equal(nextAction(podIn('creating', { spec }), 'not-pullable'), 'fail-pull');
    assert.equal(nextAction(podIn('creating', { spec: { containers } }), 'ready'), 'start');
  });

  it('depends on the readiness gates', () => {
    const spec = { readinessGates: [{ conditionType: 'open' }] };
    assert.equal(nextAction(podIn('ready', { spec }), 'ready'), 'probe');
    const conditions = [
      { type: 'Ready', status: 'True' },
      { type: 'open', status: 'True' },
    ];
    assert.equal(nextAction(podIn('ready', { spec, status: { conditions } }), 'ready'), undefined);
    const shut = [
      { type: 'Ready', status: 'True' },
      { type: 'ContainersReady', status: 'True' },
      { type: 'open', status: 'False' },
    ];
    assert.equal(nextAction(podIn('ready', { spec, status: { conditions: shut } }), 'ready'), 'gate');
  });
});

describe('the delay of an action', () => {
  const simulation = {
    behaviour: 'ready',
    resize: 'granted',
    content: '',
    startMs: 100,
    stopMs: 40,
    dieMs: 7,
    backOffMs: 10,
  } as const;
  const delayOf = (action: PodAction, pod: StoredPod, jitter = 0): number =>
    podActions[action].delayMs(simulation, jitter, pod);
  const after = (restartCount: number): StoredPod =>
    podIn('crashed', { status: { containerStatuses: [{ name: 'app', image: 'app:v1', restartCount }] } });

  it('adds up to 50% jitter to starts and stops', () => {
    assert.equal(delayOf('start', podIn('creating'), 0), 100);
    assert.equal(delayOf('start', podIn('creating'), 0.5), 125);
    assert.equal(delayOf('stop', podIn('ready'), 0.5), 50);
  });

  it('doubles the back-off between crashes, up to 64 times', () => {
    const pauses = [0, 1, 2, 3, 7, 8, 100].map((count) => delayOf('crash-again', after(count), 0));
    assert.deepEqual(pauses, [10, 10, 20, 40, 640, 640, 640]);
  });
});
