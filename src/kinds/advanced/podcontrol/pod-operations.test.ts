import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock } from '../../../../test/support/index.ts';
import type { PodControl, PodVersion, WriteOutcome } from '../../../controller/index.ts';
import { createTestLedger, podFacts } from '../../../controller/testing/index.ts';
import { createStore } from '../../../kube/index.ts';
import { silentLogger } from '../../../runtime/index.ts';
import { toAdvancedView } from '../advanced-view.ts';
import type { CurrentRevision } from '../revisions/sync-history.ts';
import type { CachedPod } from './cached-pod.ts';
import { createPodOperations } from './pod-operations.ts';
import { createResizeReview } from './resize-review.ts';

const { signal } = new AbortController();
const uid = 'uid-n1';
const GATE = 'InPlaceUpdateReady';
const template = (image: string) => ({ spec: { containers: [{ name: 'app', image }] } });

const current: CurrentRevision = {
  target: { name: 'app-h2', hash: 'h2', number: 2 },
  template: template('app:v2'),
  plans: new Map([['h1', { kind: 'in-place', images: { app: 'app:v2' }, resources: {}, labels: {}, annotations: {} }]]),
  templates: new Map([['h2', template('app:v2')]]),
  overLimit: new Set(),
};

interface Shown {
  open: boolean;
  ready: boolean;
  revision: string;
  /** The kubelet has reported its container. */
  reported: boolean;
}

const objectOf = (version: string, { open, ready, revision, reported }: Shown, changedAt: number): Pod => ({
  metadata: {
    uid,
    name: 'app-n1',
    resourceVersion: version,
    labels: { 'controller-revision-hash': revision },
    annotations: {},
  },
  spec: { containers: [{ name: 'app', image: 'app:v1' }], readinessGates: [{ conditionType: GATE }] },
  status: {
    conditions: [
      { type: 'Ready', status: ready ? 'True' : 'False' },
      {
        type: GATE,
        status: open ? 'True' : 'False',
        lastTransitionTime: new Date(changedAt).toISOString(),
        ...(!open && { message: 'closed on version 10' }),
      },
    ],
    ...(reported && {
      containerStatuses: [
        { name: 'app', containerID: 'c1', image: 'app:v1', imageID: '', ready, restartCount: 0, started: true },
      ],
    }),
  },
});

const events = { event: () => undefined, warnOnce: () => undefined };

const noop = (): void => undefined;

/** Updates of one pod with scripted outcomes. Each write is recorded as `verb uid/version`. */
const prepare = ({ graceSeconds = 0 } = {}) => {
  const clock = createTestClock();
  const ledger = createTestLedger(clock, ['n1']);
  const pods = createStore<CachedPod>();
  /** By the watch of pods. */
  let reached = '';
  const written: string[] = [];
  const bodies: object[] = [];
  const answers: (WriteOutcome | ((pod: PodVersion) => WriteOutcome))[] = [];
  const answer = (what: string, pod: { podUid: string; podResourceVersion?: string }): Promise<WriteOutcome> => {
    written.push(`${what} ${pod.podUid}/${pod.podResourceVersion}`);
    const next = answers.shift();
    if (!next) throw new Error(`no outcome for ${what}`);
    return Promise.resolve(typeof next === 'function' ? next(pod as PodVersion) : next);
  };
  const podControl: PodControl = {
    patch(pod, body, { subresource }) {
      bodies.push(body);
      return answer(`patch ${subresource ?? 'pod'}`, pod);
    },
    read: (pod) => answer('read', pod),
    delete: (pod) => answer('delete', pod),
    announce: () => Promise.reject(new Error('no announcement expected')),
    fence: (pod) => answer('fence', pod),
    claim: (pod) => answer('claim', pod),
  };
  const daemonSet = {
    apiVersion: 'apps.kruise.io/v1beta1',
    kind: 'DaemonSet' as const,
    metadata: {
      name: 'app',
      namespace: 'edge',
      uid: 'ds',
      annotations: { 'apps.kruise.io/inplace-update-grace': String(graceSeconds) },
    },
    spec: { selector: { matchLabels: { app: 'app' } }, template: template('app:v2') },
  };
  const asked = { generation: 2 };
  const view = () => {
    const seen = toAdvancedView({ ...daemonSet, metadata: { ...daemonSet.metadata, ...asked } });
    assert.ok(seen);
    return seen;
  };
  const env = { clock, random: () => 0.5, log: silentLogger };
  const creator = {
    tryPod: () => answer('try', { podUid: 'n1' }),
    createSurgePod: (_view: unknown, _known: unknown, { node, replaces }: { node: string; replaces: string }) =>
      answer('create', { podUid: `${node} beside ${replaces}` }),
  };
  const review = createResizeReview({ env, view, podControl, creator });
  const operations = createPodOperations({
    env,
    view,
    ledger,
    pods,
    podCache: { accept: noop, acceptDeletion: noop, reached: (version) => Number(version) <= Number(reached) },
    podControl,
    events,
    finder: { current: () => current },
    creator,
    review,
  });
  const facts = (version: string, change: Partial<CachedPod['facts']> = {}) =>
    podFacts('n1', 'h1', { resourceVersion: version, ...change });
  /** The cache shows a version of the pod; `ready` is what the kubelet reports. */
  const observe = (version: string, shown: Partial<Shown> = {}): void => {
    const { open = true, ready = true, revision = 'h1', reported = true } = shown;
    const cached: CachedPod = {
      ownership: 'ours',
      facts: facts(version, {
        revision,
        hasInPlaceGate: true,
        ready: open && ready,
        ...(!open && { updatingInPlace: true }),
      }),
      pod: objectOf(version, { open, ready, revision, reported }, clock.now()),
      gateAt: 1,
    };
    reached = version;
    pods.set('edge/app-n1', cached);
    operations.podObserved(cached, true);
  };
  observe('10');
  const update = { podUid: uid, podName: 'app-n1', podResourceVersion: '10' };
  return { clock, asked, ledger, pods, operations, written, bodies, answers, facts, observe, update };
};

const done = (pod: CachedPod['facts']): WriteOutcome => ({ kind: 'done', pod });

describe('an in-place update', () => {
  /** The update, whose first write is answered by what `closed` makes the cache show. */
  const begin = async (closed: (world: ReturnType<typeof prepare>) => void, options?: { graceSeconds: number }) => {
    const world = prepare(options);
    const { operations, answers, facts, update } = world;
    const shut = facts('11', { updatingInPlace: true, ready: false });
    answers.push(() => {
      closed(world);
      return done(shut);
    });
    answers.push(done(facts('13', { revision: 'h2' })));
    const outcome = await operations.podWrites['update-in-place']?.('n1', update, signal);
    return { ...world, shut, outcome };
  };

  it('takes the pod out of service, and updates it at once', async () => {
    const { outcome, written, bodies } = await begin(({ observe }) => observe('11', { open: false }));
    assert.equal(outcome?.kind === 'done' && outcome.pod?.revision, 'h2');
    assert.deepEqual(written, [`patch status ${uid}/10`, `patch pod ${uid}/11`]);
    assert.equal((bodies[0] as Pod).metadata?.resourceVersion, '10');
    const operations = bodies[1] as { op: string; path: string; value: unknown }[];
    assert.deepEqual(operations[0], { op: 'test', path: '/metadata/uid', value: uid });
  });

  it('updates it whatever version the kubelet has made of it', async () => {
    const { outcome, written } = await begin(({ observe }) => observe('12', { open: false, ready: false }));
    assert.equal(outcome?.kind, 'done');
    assert.deepEqual(written, [`patch status ${uid}/10`, `patch pod ${uid}/12`]);
  });

  it('is decided again if the pod is no longer as it was left', async () => {
    const { operations, answers, facts, update, observe, written } = prepare();
    const found = facts('14', { updatingInPlace: true });
    answers.push(() => {
      observe('11', { open: false });
      return done(facts('11', { updatingInPlace: true }));
    });
    answers.push({ kind: 'changed', pod: found });
    const outcome = await operations.podWrites['update-in-place']?.('n1', update, signal);
    assert.deepEqual(outcome, { kind: 'changed', pod: found, begun: true });
    assert.equal(written.length, 2);
  });

  for (const [why, closed] of [
    ['the cache does not show what the first write left', () => undefined],
    ['the spec changes meanwhile', ({ asked, observe }) => (observe('11', { open: false }), (asked.generation = 3))],
    ['the process was suspended', ({ clock, observe }) => (observe('11', { open: false }), clock.jump(11_000))],
    [
      'its node is deleted',
      ({ clock, ledger, observe }) => (observe('11', { open: false }), ledger.removeNode('n1', clock.now())),
    ],
    ['the pod has no reported container', ({ observe }) => observe('11', { open: false, reported: false })],
  ] as [string, (world: ReturnType<typeof prepare>) => void][])
    it(`is decided again after its first write if ${why}`, async () => {
      const { outcome, shut, written } = await begin(closed);
      assert.deepEqual(outcome, { kind: 'changed', pod: shut, begun: true });
      assert.deepEqual(written, [`patch status ${uid}/10`]);
    });

  it('waits for its grace period after its first write', async () => {
    const { outcome, written } = await begin(({ observe }) => observe('11', { open: false }), { graceSeconds: 5 });
    assert.equal(outcome?.kind, 'changed');
    assert.deepEqual(written, [`patch status ${uid}/10`]);
  });

  it('waits for the cache to show the version that it is bound to', async () => {
    const { clock, operations, written, update } = prepare();
    const outcome = await operations.podWrites['update-in-place']?.(
      'n1',
      { ...update, podResourceVersion: '11' },
      signal,
    );
    assert.deepEqual(outcome, { kind: 'later', at: clock.now() + 250 });
    assert.deepEqual(written, []);
  });

  it('continues when its grace period has passed', async () => {
    const { clock, operations, written, answers, facts, update, observe } = prepare({ graceSeconds: 5 });
    const closedAt = Math.floor(clock.now());
    observe('11', { open: false, ready: false });
    const change = () =>
      operations.podWrites['update-in-place']?.('n1', { ...update, podResourceVersion: '11' }, signal);
    assert.deepEqual(await change(), { kind: 'later', at: closedAt + 6_000 });
    await clock.advance(6_000);
    answers.push(done(facts('12', { revision: 'h2' })));
    assert.equal((await change())?.kind, 'done');
    assert.deepEqual(written, [`patch pod ${uid}/11`]);
  });

  it('is done without a write if the pod already carries the target revision', async () => {
    const { operations, written, update, observe } = prepare();
    observe('10', { open: false, revision: 'h2' });
    assert.equal((await operations.podWrites['update-in-place']?.('n1', update, signal))?.kind, 'done');
    assert.deepEqual(written, []);
  });
});

describe('a surge', () => {
  it('first writes to the old pod in the version of the decision', async () => {
    const { operations, written, answers, facts, update } = prepare();
    answers.push(done(facts('11')), done(facts('12', { uid: 'new' })));
    assert.equal((await operations.podWrites.surge?.('n1', update, signal))?.kind, 'done');
    assert.deepEqual(written, [`claim ${uid}/10`, `create n1 beside ${uid}/undefined`]);
  });

  it('creates no pod if the old one has changed or is gone', async () => {
    const { operations, written, answers, facts, update } = prepare();
    for (const answer of [{ kind: 'changed', pod: facts('11') }, { kind: 'gone' }] as const) {
      answers.push(answer);
      assert.deepEqual(await operations.podWrites.surge?.('n1', update, signal), answer);
    }
    assert.deepEqual(written, [`claim ${uid}/10`, `claim ${uid}/10`]);
  });

  it('creates no pod if the process was suspended after the first write', async () => {
    const { clock, operations, written, answers, facts, update } = prepare();
    answers.push(() => {
      clock.jump(11_000);
      return done(facts('11'));
    });
    assert.deepEqual(await operations.podWrites.surge?.('n1', update, signal), { kind: 'changed', pod: facts('11') });
    assert.deepEqual(written, [`claim ${uid}/10`]);
  });
});

describe('a surge whose node is deleted meanwhile', () => {
  it('creates no pod and is decided again', async () => {
    const { clock, ledger, operations, written, answers, facts, update } = prepare();
    answers.push(() => {
      ledger.removeNode('n1', clock.now());
      return done(facts('11'));
    });
    assert.deepEqual(await operations.podWrites.surge?.('n1', update, signal), { kind: 'changed', pod: facts('11') });
    assert.deepEqual(written, [`claim ${uid}/10`]);
  });
});

describe('a surge whose spec changes meanwhile', () => {
  it('creates no pod and is decided again', async () => {
    const { asked, operations, written, answers, facts, update } = prepare();
    answers.push(() => {
      asked.generation = 3;
      return done(facts('11'));
    });
    assert.deepEqual(await operations.podWrites.surge?.('n1', update, signal), { kind: 'changed', pod: facts('11') });
    assert.deepEqual(written, [`claim ${uid}/10`]);
  });
});

describe('the fence of a surge', () => {
  const surge = { kind: 'surge' } as const;

  it('completes when the watch has reached what the fence left, and is written once', async () => {
    const { clock, operations, written, answers, facts, update, observe } = prepare();
    answers.push(done(facts('15')));
    const fence = () => operations.podWrites.fence('n1', { ...update, ...surge }, signal);
    assert.deepEqual(await fence(), { kind: 'later', at: clock.now() + 250 });
    observe('14');
    assert.equal((await fence()).kind, 'later');
    observe('15');
    assert.equal((await fence()).kind, 'done');
    assert.deepEqual(written, [`fence ${uid}/10`]);
  });

  it('completes when the cache no longer shows the pod', async () => {
    const { operations, pods, answers, facts, update, observe } = prepare();
    answers.push(done(facts('15')));
    observe('16');
    pods.delete('edge/app-n1');
    assert.deepEqual(await operations.podWrites.fence('n1', { ...update, ...surge }, signal), { kind: 'gone' });
  });

  it('is written again for an update that was reserved since', async () => {
    const { operations, written, answers, facts, update } = prepare();
    answers.push(done(facts('15')), done(facts('17')));
    await operations.podWrites.fence('n1', { ...update, ...surge }, signal);
    await operations.podWrites.fence('n1', { ...update, ...surge, podResourceVersion: '16' }, signal);
    assert.deepEqual(written, [`fence ${uid}/10`, `fence ${uid}/16`]);
  });

  it('does not wait for the cache for a delete, whose result shows on the pod', async () => {
    const { operations, answers, facts, update } = prepare();
    answers.push(done(facts('15')));
    assert.equal((await operations.podWrites.fence('n1', update, signal)).kind, 'done');
  });
});
