import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import type { ImageRequest } from '../rollout/index.ts';
import { type Attempt, failed, notReported, reported, sent } from './attempt.ts';
import { type KnownPull, type Plan, type PullAction, plan } from './plan.ts';
import type { Progress } from './pull-status.ts';
import { pull, request } from './testing/pulls.ts';

const TIMEOUT_MS = 300_000;
const present: Progress = { kind: 'present' };
const broken: Progress = { kind: 'failed', cause: 'not found' };

const LIMIT = 2;

/** A cluster of four pods and their pull pods, which executes a plan, or fails to. */
const createModel = () => {
  const requests = new Map<string, ImageRequest>();
  const pulls = new Map<string, KnownPull>();
  const ours = (): KnownPull[] =>
    [...pulls.values()].filter(({ origin, terminating }) => origin !== 'foreign' && !terminating);
  const away = new Set<string>();
  let attempts: Map<string, Attempt> = new Map();
  let now = 0;
  let serial = 0;

  const carryOut = (action: PullAction, next: Plan, works: boolean): void => {
    if (action.type === 'remove') {
      const found = pulls.get(action.pull.uid);
      if (!works || !found) return;
      pulls.delete(found.uid);
      // A forged pod has a finalizer.
      if (found.origin === 'foreign') pulls.set(found.uid, { ...found, terminating: true });
      return;
    }
    const { podUid, revision } = action.request;
    const attempt = next.attempts.get(podUid);
    assert.ok(attempt, 'only requests that stand are served');
    if (action.type === 'pull') {
      assert.ok(!ours().some((each) => each.podUid === podUid && each.revision === revision));
      if (works) pulls.set(`u${++serial}`, pull(podUid, { uid: `u${serial}`, revision }));
      next.attempts.set(podUid, works ? sent(attempt, now) : failed(attempt, 'refused', now));
      return;
    }
    if (action.cause === undefined)
      assert.ok(
        ours().some((each) => each.podUid === podUid && each.revision === revision && each.progress.kind === 'present'),
        'success is reported for images that are present, and for their revision',
      );
    next.attempts.set(podUid, works ? reported(attempt, action.cause, now) : notReported(attempt, now));
    if (!works) return;
    if (action.cause === undefined) requests.delete(podUid);
    else requests.set(podUid, { ...action.request, failure: action.cause });
  };

  const step = (works: boolean): Plan => {
    const nodeReady = (node: string): boolean => !away.has(node);
    const view = { requests: new Map(requests), pulls: [...pulls.values()], attempts, nodeReady };
    const next = plan({ ...view, parallelism: LIMIT, timeoutMs: TIMEOUT_MS, now });
    for (const each of pulls.values())
      if (requests.get(each.podUid)?.revision !== each.revision && !each.terminating)
        assert.ok(
          next.actions.some((action) => action.type === 'remove' && action.pull.uid === each.uid),
          'no leak',
        );
    for (const action of next.actions) carryOut(action, next, works);
    ({ attempts } = next);
    const running = ours().filter(
      ({ podUid, progress }) => progress.kind === 'pulling' && !away.has(podUid.replace('p', 'n')),
    );
    return { ...next, wakeAt: running.length <= LIMIT + away.size ? next.wakeAt : Number.NaN };
  };

  return {
    requests,
    pulls,
    away,
    step,
    wait: (ms: number): void => void (now += ms),
    restart(): void {
      attempts = new Map();
      for (const each of ours()) pulls.set(each.uid, { ...each, origin: 'inherited' });
    },
    forge: (podUid: string): void =>
      void pulls.set(`u${++serial}`, pull(podUid, { uid: `u${serial}`, origin: 'foreign', progress: present })),
    /** Without those that a finalizer holds. */
    left: (): number => [...pulls.values()].filter(({ terminating }) => !terminating).length,
    waitUntil: (at: number): void => void (now = Math.max(now, at)),
  };
};

describe('any sequence of events', () => {
  const pods = fc.integer({ min: 1, max: 4 });
  const event = fc.oneof(
    fc.record({ kind: fc.constant('ask' as const), pod: pods, revision: fc.constantFrom('b', 'c') }),
    fc.record({ kind: fc.constant('withdraw' as const), pod: pods }),
    fc.record({ kind: fc.constant('away' as const), pod: pods }),
    fc.record({ kind: fc.constant('back' as const), pod: pods }),
    fc.record({ kind: fc.constant('progress' as const), pod: pods, progress: fc.constantFrom(present, broken) }),
    fc.record({ kind: fc.constant('vanish' as const), pod: pods }),
    fc.record({ kind: fc.constant('forge' as const), pod: pods }),
    fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(500, 10_000, 40_000, TIMEOUT_MS) }),
    fc.record({ kind: fc.constant('restart' as const) }),
    fc.record({ kind: fc.constant('look' as const), works: fc.boolean() }),
  );

  it('leaks no pull pod, creates none twice or beyond the limit, reports no false success, and completes', () =>
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = createModel();
        for (const each of events) {
          if (each.kind === 'ask') model.requests.set(`p${each.pod}`, request(each.pod, { revision: each.revision }));
          else if (each.kind === 'withdraw') model.requests.delete(`p${each.pod}`);
          else if (each.kind === 'away') model.away.add(`n${each.pod}`);
          else if (each.kind === 'back') model.away.delete(`n${each.pod}`);
          else if (each.kind === 'wait') model.wait(each.ms);
          else if (each.kind === 'restart') model.restart();
          else if (each.kind === 'forge') model.forge(`p${each.pod}`);
          else if (each.kind === 'look')
            assert.ok(!Number.isNaN(model.step(each.works).wakeAt), 'no more than the limit');
          else
            for (const [uid, found] of model.pulls) {
              if (found.podUid !== `p${each.pod}`) continue;
              if (each.kind === 'vanish') model.pulls.delete(uid);
              else if (found.progress.kind === 'pulling') model.pulls.set(uid, { ...found, progress: each.progress });
            }
        }
        // From here on everything works: every request is answered, and nothing is left.
        model.away.clear();
        for (let round = 0; round < 400 && (model.requests.size > 0 || model.left() > 0); round++) {
          for (const [uid, found] of model.pulls) model.pulls.set(uid, { ...found, progress: present });
          const { wakeAt, actions } = model.step(true);
          if (actions.length > 0) continue;
          assert.ok(wakeAt < Number.POSITIVE_INFINITY, 'whatever is left to do has a time');
          model.waitUntil(wakeAt);
        }
        assert.deepEqual([model.requests.size, model.left()], [0, 0]);
        let rest = model.step(true);
        // A pull pod that was created and is not seen yet stays on record for a while after its request was withdrawn.
        if (rest.attempts.size > 0) {
          model.waitUntil(rest.wakeAt);
          rest = model.step(true);
        }
        assert.deepEqual([rest.actions, rest.attempts.size, rest.wakeAt], [[], 0, Number.POSITIVE_INFINITY]);
      }),
      { numRuns: Number(process.env.EDGESET_RUNS ?? 1_000) },
    ));
});
