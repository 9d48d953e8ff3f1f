import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import * as fc from 'fast-check';
import { type Choice, type Decision, withheldReasons } from '../types.ts';
import { actsAt, deadlineShare } from './deadline.ts';
import { isOvertaken, nextStep } from './next-step.ts';
import type { Step, StepFacts } from './types.ts';

const HOUR = 3_600_000;
const NOW = Date.parse('2026-11-21T12:00:00Z');
const iso = (ms: number): string => new Date(ms).toISOString();

const decided = (decision: Choice, more: Partial<Decision> = {}): Decision => ({
  id: 1,
  namespace: 'shop',
  daemonSet: 'till',
  revision: 'r2',
  decision,
  by: { identity: 'uid:0', via: 'loopback' },
  at: iso(NOW - HOUR),
  state: 'open',
  ...more,
});

const facts = (more: Partial<StepFacts> = {}): StepFacts => ({
  now: NOW,
  timeZone: 'UTC',
  connected: true,
  announced: { revision: 'r2', need: 'yes' },
  imageBlocks: undefined,
  decision: undefined,
  deadline: undefined,
  safeConfigured: true,
  ...more,
});

const withheld: StepFacts['announced'] = { revision: 'r2', need: 'withheld', reason: 'Paused' };
const now: Choice = { choice: 'approve', when: { type: 'now' } };
const safe: Choice = { choice: 'approve', when: { type: 'safe' } };
const tonight: Choice = { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } };
const today: Choice = { choice: 'approve', when: { type: 'window', from: '11:00', to: '13:00' } };
const later: Choice = { choice: 'postpone', until: iso(NOW + 6 * HOUR) };
const reject: Choice = { choice: 'reject' };
const byAgent = { by: { identity: 'agent', via: 'agent' } } as const;
const deadline = (at: number, share = 0.5): StepFacts['deadline'] => ({ at, spreadMs: HOUR, share });

const short = (step: Step): string =>
  [step.kind, step.kind === 'wait' ? step.reason : step.kind === 'act' ? step.why : '']
    .concat(step.wakeAt === undefined ? '' : `+${(step.wakeAt - NOW) / HOUR}h`)
    .filter((word) => word !== '')
    .join(' ');

test('a decision that this version does not know is not carried out, nor taken for another one', () => {
  const unknown: [object, RegExp][] = [
    [{ choice: 'approve', when: { type: 'full moon' } }, /when to carry out the decision is not known: .*full moon/],
    // Without its times, a window would be open all day.
    [{ choice: 'approve', when: { type: 'window' } }, /when to carry out the decision is not known/],
    [{ choice: 'approve', when: { type: 'window', from: '22:00', to: '25:00' } }, /is not known: .*25:00/],
    [{ choice: 'postpone', until: 'tomorrow' }, /the end of the postponement is not a time: tomorrow/],
    [{ choice: 'perhaps' }, /the decision is not known: .*perhaps/],
  ];
  for (const [choice, message] of unknown)
    assert.throws(() => nextStep(facts({ decision: decided(choice as Choice) })), message);
});

describe('nextStep', () => {
  const table: [string, Partial<StepFacts>, string][] = [
    ['nothing waits', { announced: { revision: 'r2', need: 'no' } }, 'none'],
    ['nothing is decided', {}, 'ask'],
    ['nothing is decided, offline', { connected: false }, 'ask'],
    ['nothing is decided, halted', { announced: { revision: 'r2', need: 'halted' } }, 'wait Halted'],
    ['approved', { decision: decided(now) }, 'act owner'],
    ['approved, offline', { decision: decided(now), connected: false }, 'wait Disconnected'],
    ['approved, image not there', { decision: decided(now), imageBlocks: 'Downloading' }, 'wait ImageNotReady'],
    ['approved, halted', { decision: decided(now), announced: { revision: 'r2', need: 'halted' } }, 'wait Halted'],
    ['approved when safe', { decision: decided(safe) }, 'act owner'],
    [
      'approved when safe, without a safety check',
      { decision: decided(safe), safeConfigured: false },
      'wait NoSafeCheck',
    ],
    ['approved for tonight', { decision: decided(tonight) }, 'wait OutsideWindow +10h'],
    ['approved for tonight, offline', { decision: decided(tonight), connected: false }, 'wait OutsideWindow +10h'],
    ['approved for today', { decision: decided(today) }, 'act owner +1h'],
    ['approved for today, offline', { decision: decided(today), connected: false }, 'wait Disconnected +1h'],
    ['approved for tonight in Apia', { decision: decided(tonight), timeZone: 'Pacific/Apia' }, 'act owner +4h'],
    ['postponed', { decision: decided(later) }, 'wait Postponed +6h'],
    ['postponed until now', { decision: decided(later), now: NOW + 6 * HOUR }, 'ask'],
    // It applies again 15 minutes before the time of the decision.
    ['postponed, and the clock fell back for years', { decision: decided(later), now: 0 }, 'ask +-1.25h'],
    [
      'postponed, and the clock fell back 10 min',
      { decision: decided(later, { at: iso(NOW + 600_000) }) },
      'wait Postponed +6h',
    ],
    ['rejected', { decision: decided(reject) }, 'wait Rejected'],
    ['rejected an older version', { decision: decided(reject, { revision: 'r1' }) }, 'supersede'],
    ['approved an older version', { decision: decided(now, { revision: 'r1' }) }, 'supersede'],
    [
      'approved what is not known here, offline',
      { decision: decided(now, { revision: 'r1' }), connected: false },
      'wait Disconnected',
    ],
    ['approved what runs already', { decision: decided(now), announced: { revision: 'r2', need: 'no' } }, 'supersede'],
    ['withheld, nothing decided', { announced: withheld }, 'none'],
    ['withheld, approved', { announced: withheld, decision: decided(now) }, 'wait Paused'],
    ['withheld, approved for tonight', { announced: withheld, decision: decided(tonight) }, 'wait Paused'],
    ['withheld, approved, offline', { announced: withheld, decision: decided(now), connected: false }, 'wait Paused'],
    ['withheld, postponed', { announced: withheld, decision: decided(later) }, 'wait Postponed +6h'],
    ['withheld, postponed until now', { announced: withheld, decision: decided(later), now: NOW + 6 * HOUR }, 'none'],
    ['withheld, rejected', { announced: withheld, decision: decided(reject) }, 'wait Rejected'],
    [
      'withheld, approved an older version',
      { announced: withheld, decision: decided(now, { revision: 'r1' }) },
      'supersede',
    ],
    ['withheld, a deadline that passed', { announced: withheld, deadline: deadline(NOW - HOUR) }, 'none'],
    [
      'withheld, a deadline that passed over a rejection',
      { announced: withheld, deadline: deadline(NOW - HOUR), decision: decided(reject) },
      'wait Rejected',
    ],
    ['withheld, acting', { announced: withheld, decision: decided(now, { state: 'acting' }) }, 'wait Acting'],
    ['acting', { decision: decided(now, { state: 'acting' }) }, 'wait Acting'],
    ['acting, for an older version', { decision: decided(now, { state: 'acting', revision: 'r1' }) }, 'wait Acting'],
    ['done before', { decision: decided(now, { state: 'done' }) }, 'ask'],
    ['a deadline to come', { deadline: deadline(NOW + HOUR) }, 'ask +1.5h'],
    [
      'a deadline before the window',
      { deadline: deadline(NOW + HOUR), decision: decided(tonight) },
      'wait OutsideWindow +1.5h',
    ],
    [
      'a deadline within the spread',
      { deadline: deadline(NOW - HOUR / 4), decision: decided(reject) },
      'wait Rejected +0.25h',
    ],
    ['a deadline that passed', { deadline: deadline(NOW - HOUR / 2) }, 'act deadline'],
    ['a deadline over a rejection', { deadline: deadline(NOW - HOUR), decision: decided(reject) }, 'act deadline'],
    ['a deadline over a postponement', { deadline: deadline(NOW - HOUR), decision: decided(later) }, 'act deadline'],
    ['a deadline over a window', { deadline: deadline(NOW - HOUR), decision: decided(tonight) }, 'act deadline'],
    ['a deadline of what is approved', { deadline: deadline(NOW - HOUR), decision: decided(now) }, 'act owner'],
    ['a deadline, offline', { deadline: deadline(NOW - HOUR), connected: false }, 'wait Disconnected'],
    [
      'a deadline, halted',
      { deadline: deadline(NOW - HOUR), announced: { revision: 'r2', need: 'halted' } },
      'wait Halted',
    ],
    [
      'a deadline, image not there',
      { deadline: deadline(NOW - HOUR), imageBlocks: 'Downloading' },
      'wait ImageNotReady',
    ],
    [
      'a deadline, nothing waits',
      { deadline: deadline(NOW - HOUR), announced: { revision: 'r2', need: 'no' } },
      'none',
    ],
    [
      'a deadline, acting',
      { deadline: deadline(NOW - HOUR), decision: decided(now, { state: 'acting' }) },
      'wait Acting',
    ],
    [
      'a deadline with a decision for an older version',
      { deadline: deadline(NOW - HOUR), decision: decided(now, { revision: 'r1' }) },
      'supersede',
    ],
    [
      'what a deadline has decided',
      { deadline: deadline(NOW - HOUR), decision: decided(now, byAgent) },
      'act deadline',
    ],
    ['what a deadline has decided that was taken back', { decision: decided(now, byAgent) }, 'supersede'],
    [
      'what a deadline has decided that was moved',
      { deadline: deadline(NOW + HOUR), decision: decided(now, byAgent) },
      'supersede',
    ],
    ['the same, offline', { decision: decided(now, byAgent), connected: false }, 'wait Disconnected'],
  ];
  for (const [name, more, expected] of table) {
    it(`${name}: ${expected}`, () => assert.equal(short(nextStep(facts(more))), expected));
  }

  it('says whether the deadline carries out the update before the decision does', () => {
    const overtaken = (choice: Choice | undefined, at: number): boolean => {
      const given = facts({ ...(choice && { decision: decided(choice) }), deadline: deadline(at, 0) });
      return isOvertaken(nextStep(given), given.deadline);
    };
    const cases: [Choice | undefined, number, boolean][] = [
      [tonight, 9, true],
      [tonight, 10, false],
      [later, 5, true],
      [later, 7, false],
      [reject, 24, true],
      [now, 1, false],
      [undefined, 1, false],
      // It has passed, and the update is due.
      [reject, -1, false],
    ];
    for (const [choice, hours, expected] of cases)
      assert.equal(overtaken(choice, NOW + hours * HOUR), expected, `${JSON.stringify(choice)} ${hours}`);
    assert.equal(isOvertaken(nextStep(facts({ decision: decided(reject) })), undefined), false);
  });

  const anyFacts = fc.record({
    now: fc.integer({ min: NOW - 48 * HOUR, max: NOW + 48 * HOUR }),
    timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'Pacific/Apia'),
    connected: fc.boolean(),
    announced: fc.oneof(
      fc.record({ revision: fc.constantFrom('r1', 'r2'), need: fc.constantFrom('yes', 'no', 'halted') }),
      fc.record({
        revision: fc.constantFrom('r1', 'r2'),
        need: fc.constant('withheld' as const),
        reason: fc.constantFrom(...withheldReasons),
      }),
    ),
    imageBlocks: fc.constantFrom(undefined, 'Downloading'),
    decision: fc.option(
      fc
        .record({
          choice: fc.constantFrom(now, safe, tonight, today, later, reject),
          state: fc.constantFrom('open', 'open', 'open', 'acting', 'done'),
        })
        .map(({ choice, state }) => decided(choice, { state })),
      { nil: undefined },
    ),
    deadline: fc.option(
      fc.record({
        at: fc.integer({ min: NOW - 24 * HOUR, max: NOW + 24 * HOUR }),
        spreadMs: fc.constantFrom(0, HOUR),
        share: fc.double({ min: 0, max: 0.999, noNaN: true }),
      }),
      { nil: undefined },
    ),
    safeConfigured: fc.boolean(),
  }) satisfies fc.Arbitrary<StepFacts>;

  it('updates only with an approval of this revision or a passed deadline, connected, not halted, and with ready images', () => {
    fc.assert(
      fc.property(anyFacts, (some) => {
        const step = nextStep(some);
        if (step.kind !== 'act') return;
        assert.equal(some.connected && some.announced.need === 'yes' && some.imageBlocks === undefined, true);
        assert.notEqual(some.decision?.state, 'acting');
        if (step.why === 'deadline') assert.ok(some.deadline && some.now >= actsAt(some.deadline));
        else {
          assert.equal(some.decision?.state, 'open');
          assert.equal(some.decision?.revision, some.announced.revision);
          assert.equal(some.decision?.decision.choice, 'approve');
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('supersedes a decision only when connected, for another target or when no update is needed', () => {
    fc.assert(
      fc.property(anyFacts, (some) => {
        const { connected, announced, decision } = some;
        const isOver = announced.revision !== decision?.revision || announced.need === 'no';
        assert.equal(nextStep(some).kind === 'supersede', connected && decision?.state === 'open' && isOver);
      }),
      { numRuns: 1000 },
    );
  });

  it("waits with the manager's reason while an approved revision is withheld", () => {
    for (const reason of withheldReasons)
      assert.partialDeepStrictEqual(
        nextStep(facts({ announced: { revision: 'r2', need: 'withheld', reason }, decision: decided(now) })),
        { kind: 'wait', reason },
      );
  });

  it('returns the exact time at which the step changes', () => {
    const what = (step: Step): string => short(step).replace(/ \+.*/, '');
    fc.assert(
      fc.property(anyFacts, fc.double({ min: 0, max: 0.999, noNaN: true }), (some, part) => {
        const step = nextStep(some);
        const end = step.wakeAt ?? some.now + 72 * HOUR;
        assert.ok(end > some.now);
        const between = Math.floor(some.now + (end - some.now) * part);
        assert.equal(what(nextStep({ ...some, now: between })), what(step));
        if (step.wakeAt !== undefined)
          assert.notDeepEqual(nextStep({ ...some, now: step.wakeAt }), step, 'there was a reason to wake');
      }),
      { numRuns: 1000 },
    );
  });
});

describe('deadlineShare', () => {
  const share = (node: string): number => deadlineShare({ node, namespace: 'a', daemonSet: 'b', revision: 'c' });

  it('is deterministic and evenly distributed over a fleet', () => {
    assert.equal(share('node-1'), share('node-1'));
    const tenths = Array.from({ length: 10 }, () => 0);
    for (let node = 0; node < 10_000; node += 1) {
      const tenth = Math.floor(share(`node-${node}`) * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) assert.ok(count > 900 && count < 1100, `${count}`);
  });
});
