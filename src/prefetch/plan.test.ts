import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ImageRequest } from '../rollout/index.ts';
import { type Attempt, failed, MAX_RETRY_MS, newAttempt, notReported, reported, sent } from './attempt.ts';
import { type PullAction, plan, REPORT_SEEN_WITHIN_MS, SEEN_WITHIN_MS, type Situation } from './plan.ts';
import type { Progress } from './pull-status.ts';
import { pull, request } from './testing/pulls.ts';

const TIMEOUT_MS = 300_000;

const byPod = <T extends { podUid: string }>(items: readonly T[]): Map<string, T> =>
  new Map(items.map((item) => [item.podUid, item]));

const situation = (requests: readonly ImageRequest[], more: Partial<Omit<Situation, 'requests'>> = {}): Situation => ({
  requests: byPod(requests),
  pulls: [],
  attempts: new Map(),
  nodeReady: () => true,
  parallelism: 10,
  timeoutMs: TIMEOUT_MS,
  now: 1_000,
  ...more,
});
const named = (actions: readonly PullAction[]): string[] =>
  actions.map((action) => {
    if (action.type === 'remove') return `remove ${action.pull.podUid}`;
    if (action.type === 'pull') return `pull ${action.request.podUid}`;
    return `report ${action.request.podUid}: ${action.cause ?? 'there'}`;
  });
const attemptsOf = (one: ImageRequest, change: (attempt: Attempt) => Attempt, at = 1_000): Map<string, Attempt> =>
  new Map([[one.podUid, change(newAttempt(one, at))]]);
const present: Progress = { kind: 'present' };
const broken: Progress = { kind: 'failed', cause: 'not found' };

describe('the plan for requests', () => {
  const one = request(1);

  it('starts a limited number at a time, counting abandoned pull pods until they are gone', () => {
    const alone = { parallelism: 1 };
    const first = plan(situation([request(1), request(2)], alone));
    assert.deepEqual(named(first.actions), ['pull p1']);
    const attempts = attemptsOf(request(1), (attempt) => sent(attempt, 1_000));
    const unseen = plan(situation([request(2)], { ...alone, attempts, now: 2_000 }));
    assert.deepEqual([named(unseen.actions), unseen.wakeAt], [[], 31_000]);
    const seen = plan(
      situation([request(2)], { ...alone, attempts: unseen.attempts, pulls: [pull('p1')], now: 3_000 }),
    );
    assert.deepEqual(named(seen.actions), ['remove p1']);
    const gone = plan(situation([request(2)], { ...alone, attempts: seen.attempts, now: 4_000 }));
    assert.deepEqual(named(gone.actions), ['pull p2']);
  });

  it('follows the pull pod of an earlier leader, and creates no second one', () =>
    assert.deepEqual(
      named(plan(situation([one], { pulls: [pull('p1', { origin: 'inherited', progress: present })] })).actions),
      ['report p1: there'],
    ));

  it('believes no pull pod that it did not create, and does not wait until it is gone', () => {
    const alone = { parallelism: 1 };
    const forged = pull('p1', { uid: 'forged', origin: 'foreign', progress: present });
    assert.deepEqual(named(plan(situation([one], { ...alone, pulls: [forged] })).actions), ['remove p1', 'pull p1']);
    const stuck = { ...forged, terminating: true };
    const attempts = attemptsOf(one, (attempt) => sent(attempt, 1_000));
    const beside = plan(situation([one], { ...alone, attempts, pulls: [stuck, pull('p1', { progress: present })] }));
    assert.deepEqual(named(beside.actions), ['report p1: there']);
    const others = [2, 3].map((index) => pull(`p${index}`, { origin: 'foreign', terminating: index === 3 }));
    assert.deepEqual(named(plan(situation([one], { ...alone, pulls: others })).actions), ['remove p2', 'pull p1']);
  });

  it('pulls again if someone deleted its pull pod and a finalizer holds it', () => {
    const { attempts } = plan(situation([one], { pulls: [pull('p1')] }));
    const held = plan(situation([one], { attempts, pulls: [pull('p1', { terminating: true })] }));
    assert.match(named(held.actions)[0] ?? '', /deleted before it ended/);
    const later = situation([one], {
      attempts: held.attempts,
      pulls: [pull('p1', { terminating: true })],
      now: 20_000,
    });
    assert.ok(named(plan(later).actions).includes('pull p1'));
  });

  it('cleans up after a report, and does not report again', () => {
    const attempts = attemptsOf(one, (attempt) => reported(attempt, undefined, 1_000));
    const done = situation([one], { attempts, pulls: [pull('p1', { progress: present })] });
    assert.deepEqual(named(plan(done).actions), ['remove p1']);
    const cleaned = plan({ ...done, pulls: [] });
    assert.deepEqual([cleaned.actions, cleaned.wakeAt], [[], 1_000 + REPORT_SEEN_WITHIN_MS]);
    const lost = plan({ ...done, pulls: [], now: 1_000 + REPORT_SEEN_WITHIN_MS });
    assert.deepEqual(named(lost.actions), ['pull p1'], 'the report was overwritten: the request stands');
  });

  it('reports a failure with its cause, cleans up, and retries later', () => {
    const first = plan(situation([one], { pulls: [pull('p1', { progress: broken })] }));
    assert.deepEqual(named(first.actions), ['remove p1', 'report p1: not found']);
    const attempts = new Map([...first.attempts].map(([uid, each]) => [uid, reported(each, 'not found', 1_000)]));
    const waits = plan(situation([one], { attempts }));
    assert.deepEqual([waits.actions, waits.wakeAt], [[], 11_000]);
    const shown = request(1, { failure: 'not found' });
    assert.deepEqual(named(plan(situation([shown], { attempts, now: 11_000 })).actions), ['pull p1']);
  });

  it('counts a failure once if its pull pod stays', () => {
    const view = situation([one], { pulls: [pull('p1', { progress: broken })] });
    const { attempts } = plan(view);
    const again = plan({ ...view, attempts, now: 2_000 });
    assert.equal(again.attempts.get('p1')?.failures, 1);
    assert.deepEqual(named(again.actions), ['remove p1', 'report p1: not found']);
  });

  it('backs off from 10 s to 5 min', () => {
    let attempt = newAttempt(one, 0);
    const waits = [1, 2, 3, 4, 5, 6, 7, 60].map((count) => {
      while (attempt.failures < count) attempt = failed(attempt, 'x', 0);
      return attempt.retryAt / 1000;
    });
    assert.deepEqual(waits, [10, 20, 40, 80, 160, 300, 300, 300]);
  });

  it('never waits longer than the maximum, even if the clock is set back by an hour', () => {
    const now = 36_000_000;
    const waits: [string, (attempt: Attempt) => Attempt][] = [
      ['pull p1', (attempt) => failed(attempt, 'x', now)],
      ['report p1: x', (attempt) => notReported({ ...failed(attempt, 'x', now), retryAt: now + 1e9 }, now)],
      ['pull p1', (attempt) => reported(attempt, undefined, now)],
    ];
    for (const [action, change] of waits) {
      const back = now - 3_600_000;
      const first = plan(situation([one], { attempts: attemptsOf(one, change, now), now: back }));
      const later = plan(situation([one], { attempts: first.attempts, now: back + MAX_RETRY_MS }));
      assert.ok(first.wakeAt <= back + MAX_RETRY_MS, action);
      assert.ok(named([...first.actions, ...later.actions]).includes(action), action);
    }
  });

  it('neither retries at once nor reports again a failure that an earlier leader reported', () => {
    const { actions, wakeAt } = plan(situation([request(1, { failure: 'not found' })]));
    assert.deepEqual([actions, wakeAt], [[], 11_000]);
  });

  it('answers an owner who asks again at once, and reports again', () => {
    const attempts = attemptsOf(request(1, { failure: 'x' }), (attempt) =>
      reported(failed(attempt, 'x', 1_000), 'x', 1_000),
    );
    const again = plan(situation([one], { attempts }));
    assert.deepEqual(named(again.actions), ['pull p1']);
    const failing = plan(
      situation([one], { attempts: again.attempts, pulls: [pull('p1', { progress: { kind: 'failed', cause: 'x' } })] }),
    );
    assert.deepEqual(named(failing.actions), ['remove p1', 'report p1: x']);
  });

  it('gives up a pull after its timeout, and reports what held it up', () => {
    const attempts = attemptsOf(one, (attempt) => sent(attempt, 1_000));
    const hanging = pull('p1', { progress: { kind: 'pulling', blocker: 'Unschedulable: Too many pods' } });
    const view = situation([one], { attempts, pulls: [hanging] });
    assert.equal(plan(view).wakeAt, 1_000 + TIMEOUT_MS);
    const late = { ...view, now: 1_000 + TIMEOUT_MS };
    assert.deepEqual(named(plan(late).actions), [
      'remove p1',
      'report p1: not present after 300 s: Unschedulable: Too many pods',
    ]);
    assert.deepEqual(named(plan({ ...late, nodeReady: () => false }).actions), [
      'remove p1',
      'report p1: not present after 300 s: node n1 is not ready',
    ]);
  });

  it('starts nothing on a node that is not ready, and reports that once after the timeout', () => {
    const view = situation([one], { nodeReady: () => false });
    const first = plan(view);
    assert.deepEqual([first.actions, first.wakeAt], [[], 6_000]);
    const late = plan({ ...view, attempts: first.attempts, now: 1_000 + TIMEOUT_MS });
    assert.deepEqual(named(late.actions), ['report p1: not present after 300 s: node n1 is not ready']);
    const back = plan({ ...view, attempts: late.attempts, now: 2_000 + TIMEOUT_MS, nodeReady: () => true });
    assert.ok(named(back.actions).includes('pull p1'));
  });

  it('removes what is superseded or withdrawn, and starts its successor', () => {
    const next = request(1, { revision: 'c' });
    assert.deepEqual(named(plan(situation([next], { pulls: [pull('p1')] })).actions), ['remove p1', 'pull p1']);
    assert.deepEqual(named(plan(situation([], { pulls: [pull('p1'), pull('p2', { terminating: true })] })).actions), [
      'remove p1',
    ]);
  });

  it('treats a pull pod that is never seen, or deleted by someone, as a failure', () => {
    const unseen = attemptsOf(one, (attempt) => sent(attempt, 1_000));
    assert.match(
      named(plan(situation([one], { attempts: unseen, now: 1_000 + SEEN_WITHIN_MS })).actions)[0] ?? '',
      /never seen/,
    );
    const { attempts } = plan(situation([one], { attempts: unseen, pulls: [pull('p1')] }));
    assert.match(named(plan(situation([one], { attempts })).actions)[0] ?? '', /deleted before it ended/);
  });

  it('repeats a failed report with back-off', () => {
    const attempts = attemptsOf(one, (attempt) => notReported(attempt, 1_000));
    const view = situation([one], { attempts, pulls: [pull('p1', { progress: present })] });
    const paused = plan(view);
    assert.deepEqual([paused.actions, paused.wakeAt], [[], 2_000]);
    assert.deepEqual(named(plan({ ...view, now: 2_000 }).actions), ['report p1: there']);
  });

  it('starts a limited number at once, without nodes that are offline, and failed ones last', () => {
    const five = [1, 2, 3, 4, 5].map((index) => request(index));
    const attempts = attemptsOf(request(1), (attempt) => ({
      ...failed(attempt, 'x', 0),
      retryAt: 0,
      reportedCause: 'x',
    }));
    assert.deepEqual(named(plan(situation(five, { parallelism: 2, attempts })).actions), ['pull p2', 'pull p3']);
    assert.deepEqual(named(plan(situation(five, { parallelism: 2, attempts, pulls: [pull('p2')] })).actions), [
      'pull p3',
    ]);
    const away = situation(five, { parallelism: 2, attempts, pulls: [pull('p2')], nodeReady: (node) => node !== 'n2' });
    assert.deepEqual(named(plan(away).actions), ['pull p3', 'pull p4']);
  });
});
