import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { percent } from '../policy/int-or-percent.ts';
import type { Calendar } from '../policy/plan-terms.ts';
import { benchAt, planOf, START } from '../testing/workbench.ts';
import { createCalendarView } from './calendar-view.ts';

const HOUR = 3_600_000;
const at = (hour: number): string => new Date(START + hour * HOUR).toISOString();
const frozen = (from: number, to: number) => ({
  windows: [],
  freezes: [{ from: START + from * HOUR, to: START + to * HOUR }],
});
const nightly = { windows: [{ from: '22:00', to: '04:00', timeZone: 'node' }], freezes: [] };

describe('the view of a calendar', () => {
  it('changes when a freeze begins and ends, and says when to look again', () => {
    const view = createCalendarView();
    const calendar = frozen(1, 3);
    assert.equal(view.set(calendar, START), true);
    assert.deepEqual([view.isOpen(undefined), view.changesAt()], [true, START + HOUR]);
    assert.equal(view.set(calendar, START + HOUR - 1), false);
    assert.equal(view.set(calendar, START + HOUR), true);
    assert.deepEqual([view.isOpen(undefined), view.changesAt()], [false, START + 3 * HOUR]);
    assert.equal(view.set(calendar, START + 3 * HOUR), true);
    assert.deepEqual([view.isOpen(undefined), view.changesAt()], [true, Number.POSITIVE_INFINITY]);
  });

  it('looks again when the clock was set back', () => {
    const view = createCalendarView();
    const calendar = frozen(1, 3);
    view.set(calendar, START + 2 * HOUR);
    assert.equal(view.isOpen(undefined), false);
    assert.equal(view.set(calendar, START), true);
    assert.equal(view.isOpen(undefined), true);
  });

  it('has not changed when it is parsed again', () => {
    const view = createCalendarView();
    view.set(frozen(1, 3), START);
    assert.equal(view.set(frozen(1, 3), START + 1), false);
    assert.equal(view.set(frozen(1, 4), START + 2), true);
    assert.equal(view.set(frozen(1, 4), START + HOUR), true);
  });

  it('is open without a calendar, and with an empty one', () => {
    const view = createCalendarView();
    assert.equal(view.set({ windows: [], freezes: [] }, START), false);
    assert.equal(view.isOpen(undefined), true);
    assert.equal(view.forAll(), undefined);
    view.set(frozen(0, 1), START);
    assert.equal(view.set(undefined, START), true);
    assert.equal(view.isOpen(undefined), true);
  });

  const fail = (): never => {
    throw new Error('cannot be read');
  };
  const broken: [what: string, Calendar][] = [
    [
      'read',
      {
        freezes: [],
        get windows(): never {
          return fail();
        },
      },
    ],
    [
      'computed',
      {
        freezes: [],
        windows: [
          {
            get from(): never {
              return fail();
            },
            to: '04:00',
          },
        ],
      },
    ],
  ];
  for (const [what, calendar] of broken)
    it(`is closed, and looks again, as long as it cannot be ${what}`, () => {
      const view = createCalendarView();
      for (const before of [undefined, frozen(1, 3)]) {
        view.set(before, START);
        assert.equal(view.isOpen(undefined), true);
        for (const ms of [0, 1]) {
          assert.throws(() => view.set(calendar, START + ms), /cannot be read/);
          assert.equal(view.isOpen(undefined), false);
        }
        assert.equal(view.set(before, START + 2), true);
        assert.equal(view.isOpen(undefined), true);
      }
    });

  it("follows the nodes' time zones only where a window does", () => {
    const view = createCalendarView();
    view.set(nightly, START);
    assert.equal(view.isOpen('UTC'), true);
    // It is 9 o'clock there.
    assert.equal(view.isOpen('Asia/Tokyo'), false);
    assert.equal(view.isOpen(undefined), true);
    assert.equal(view.forAll(), undefined);
    // 22:00 in Tokyo comes after 4:00 in UTC.
    assert.equal(view.changesAt(), START + 4 * HOUR);
    view.set(frozen(0, 1), START);
    assert.equal(view.forAll()?.open, false);
  });
});

describe('a calendar in a rollout', () => {
  it('holds by a clock that shows parts of milliseconds, in the time of each node, too', () => {
    for (const timeZone of ['UTC', 'node']) {
      const windows = [{ from: '02:00', to: '04:00', timeZone }];
      const closed = benchAt(2, { maxUnavailable: percent(100) });
      closed.advance(0.375);
      closed.policy({ plan: planOf({ windows }) });
      assert.deepEqual(closed.nodesOf('reserve'), []);
      assert.equal(closed.cause('n0'), 'window');
      closed.advance(2 * HOUR);
      assert.equal(closed.nodesOf('reserve').length, 2);
    }
  });

  const bench = () =>
    benchAt(2, { maxUnavailable: percent(100), plan: planOf({ freezes: [{ from: at(0), to: at(2) }] }) });

  it('says what holds the rest, where windows go by the time of each node', () => {
    // It is 00:00 in UTC, and 09:00 in Tokyo.
    const windows = [{ from: '00:00', to: '04:00', timeZone: 'node' }];
    const closed = benchAt(3, { maxUnavailable: percent(100), plan: planOf({ windows }) });
    for (const name of ['n1', 'n2']) closed.node(name, { timeZone: name === 'n1' ? 'Asia/Tokyo' : 'Asia/Kolkata' });
    assert.deepEqual(closed.nodesOf('reserve'), ['n0']);
    assert.equal(closed.decide().summary.hold, undefined);
    closed.update('b', 'n0');
    // In Tokyo at 15:00 UTC, in Kolkata at 18:30.
    assert.deepEqual(closed.decide().summary.hold, { kind: 'window', until: START + 15 * HOUR });
    closed.policy({ plan: planOf({ windows, freezes: [{ from: at(-1), to: at(20), reason: 'holidays' }] }) });
    assert.deepEqual(closed.decide().summary.hold, { kind: 'window', until: START + 20 * HOUR, freeze: 'holidays' });
  });

  it('holds updates until it opens', () => {
    const closed = bench();
    const { actions, summary, wakeAt } = closed.decide();
    assert.deepEqual(actions, []);
    assert.deepEqual(summary.hold, { kind: 'window', until: START + 2 * HOUR, freeze: '' });
    assert.equal(wakeAt, START + 2 * HOUR);
    assert.equal(closed.cause('n0'), 'window');
    closed.advance(2 * HOUR);
    assert.equal(closed.nodesOf('reserve').length, 2);
  });

  it('releases slots that were reserved before, and lets updates that began continue', () => {
    const closed = bench();
    closed.reserve('n0');
    assert.deepEqual(closed.nodesOf('release'), ['n0']);
    closed.deletePod('n1');
    closed.start('n1', 'b');
    assert.equal(closed.phase('n1'), 'updated/current');
  });

  it('does not hold back the revision that was last complete, unless the plan says so', () => {
    for (const windowsOnRollback of [false, true]) {
      const closed = benchAt(2, { maxUnavailable: percent(100) });
      closed.ledger.patchState({ lastComplete: { name: 'set-a', hash: 'a' } }, closed.now());
      closed.update('b', 'n0');
      closed.target('a');
      closed.policy({ plan: planOf({ freezes: [{ from: at(0), to: at(2) }], windowsOnRollback }) });
      assert.deepEqual(closed.nodesOf('reserve'), windowsOnRollback ? [] : ['n0']);
    }
  });
});
