import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { planWeekdays } from '../../words/index.ts';
import type { Calendar } from '../policy/plan-terms.ts';
import { calendarAt, parseDate } from './calendar.ts';

const NEVER = Number.POSITIVE_INFINITY;
const at = (text: string): number => Date.parse(text.replace(' ', 'T'));
const freeze = (from: string, to: string, reason?: string) => ({
  from: at(from),
  to: at(to),
  ...(reason !== undefined && { reason }),
});

const night = { from: '22:00', to: '04:00' };
const noon = at('2026-12-01 12:00Z');

describe('a calendar', () => {
  it('is always open without windows and freezes', () => {
    assert.deepEqual(calendarAt({ windows: [], freezes: [] }, undefined, noon), {
      open: true,
      changesAt: NEVER,
      closedBy: undefined,
      opensAt: noon,
    });
  });

  it('is closed outside of its windows', () => {
    const calendar = { windows: [night], freezes: [] };
    const opensAt = at('2026-12-01 22:00Z');
    assert.deepEqual(calendarAt(calendar, undefined, noon), {
      open: false,
      changesAt: opensAt,
      closedBy: { kind: 'window' },
      opensAt,
    });
    const changesAt = at('2026-12-02 04:00Z');
    assert.deepEqual(calendarAt(calendar, undefined, opensAt), { open: true, changesAt, closedBy: undefined, opensAt });
    assert.equal(calendarAt(calendar, undefined, changesAt).open, false);
  });

  it("follows a window's own time zone, or that of the node", () => {
    const opens = (timeZone: string | undefined, node?: string): number =>
      calendarAt({ windows: [{ ...night, ...(timeZone !== undefined && { timeZone }) }], freezes: [] }, node, noon)
        .opensAt;
    assert.equal(opens('Europe/Berlin', 'Asia/Tokyo'), at('2026-12-01 21:00Z'));
    assert.equal(opens('node', 'Asia/Tokyo'), at('2026-12-01 13:00Z'));
    assert.equal(opens('node', '+05:30'), at('2026-12-01 16:30Z'));
    for (const none of [
      opens(undefined, 'Asia/Tokyo'),
      opens('node'),
      opens('node', 'Mars/Olympus'),
      opens('node', ''),
    ])
      assert.equal(none, at('2026-12-01 22:00Z'));
  });

  it('is closed by a freeze, and then opens with the next window', () => {
    const calendar = { windows: [night], freezes: [freeze('2026-12-01', '2027-01-07', 'Christmas')] };
    assert.deepEqual(calendarAt(calendar, undefined, noon), {
      open: false,
      changesAt: at('2027-01-07'),
      closedBy: { kind: 'freeze', reason: 'Christmas' },
      // The window is open when the freeze ends, at midnight.
      opensAt: at('2027-01-07'),
    });
    const long = { windows: [night], freezes: [freeze('2026-12-01', '2027-01-07T05:00Z')] };
    const state = calendarAt(long, undefined, noon);
    assert.deepEqual(state.closedBy, { kind: 'freeze' });
    assert.equal(state.changesAt, at('2027-01-07T05:00Z'));
    assert.equal(state.opensAt, at('2027-01-07T22:00Z'));
  });

  it('ends when a freeze begins', () => {
    const calendar = { windows: [], freezes: [freeze('2026-12-24', '2026-12-27', 'Christmas')] };
    const state = calendarAt(calendar, undefined, noon);
    assert.deepEqual([state.open, state.changesAt], [true, at('2026-12-24')]);
    assert.equal(calendarAt(calendar, undefined, at('2026-12-27')).open, true);
    assert.equal(calendarAt(calendar, undefined, at('2026-12-27')).changesAt, NEVER);
  });

  it('names the freeze that ends last, and says when another one takes over', () => {
    const first = freeze('2026-11-01', '2026-12-24', 'inventory');
    const calendar = { windows: [], freezes: [first, freeze('2026-12-20', '2026-12-27', 'Christmas')] };
    const state = calendarAt(calendar, undefined, noon);
    assert.deepEqual(state.closedBy, { kind: 'freeze', reason: 'inventory' });
    assert.equal(state.changesAt, at('2026-12-20'));
    assert.equal(state.opensAt, at('2026-12-27'));
    const later = calendarAt(calendar, undefined, at('2026-12-21'));
    assert.deepEqual(later.closedBy, { kind: 'freeze', reason: 'Christmas' });
    assert.equal(later.changesAt, at('2026-12-27'));
  });

  it('does not open when freezes last longer than a year', () => {
    const state = calendarAt({ windows: [night], freezes: [freeze('2026-01-01', '2099-01-01')] }, undefined, noon);
    assert.deepEqual([state.opensAt, state.changesAt], [NEVER, at('2099-01-01')]);
  });

  it('stays as it is until it says it changes', () => {
    const HOUR = 3_600_000;
    const hour = fc.integer({ min: 0, max: 23 }).map((h) => `${String(h).padStart(2, '0')}:00`);
    const window = fc
      .record({
        from: hour,
        to: hour,
        timeZone: fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'node'),
        days: fc.option(fc.uniqueArray(fc.constantFrom(...planWeekdays), { minLength: 1 }), { nil: undefined }),
      })
      .map(({ days, ...rest }) => ({ ...rest, ...(days && { days }) }));
    const period = fc
      .record({ from: fc.integer({ min: -100, max: 200 }), hours: fc.integer({ min: 0, max: 100 }) })
      .map(({ from, hours }) => ({ from: noon + from * HOUR, to: noon + (from + hours) * HOUR }));
    const calendars: fc.Arbitrary<Calendar> = fc.record({
      windows: fc.array(window, { maxLength: 3 }),
      freezes: fc.array(period, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(calendars, (calendar) => {
        const state = calendarAt(calendar, 'Asia/Tokyo', noon);
        const { open, closedBy, changesAt, opensAt } = state;
        assert.equal(open, closedBy === undefined);
        assert.equal(open, opensAt === noon);
        assert.ok(changesAt > noon && opensAt >= (open ? noon : changesAt));
        for (let now = noon; now < Math.min(changesAt, noon + 300 * HOUR); now += HOUR) {
          const later = calendarAt(calendar, 'Asia/Tokyo', now);
          assert.deepEqual([later.closedBy, later.changesAt], [closedBy, changesAt]);
        }
        for (let now = noon; now < Math.min(opensAt, noon + 300 * HOUR); now += HOUR)
          assert.equal(calendarAt(calendar, 'Asia/Tokyo', now).open, false);
        if (opensAt < NEVER) assert.equal(calendarAt(calendar, 'Asia/Tokyo', opensAt).open, true);
      }),
      { numRuns: 40 },
    );
  });

  it('of 20 windows and 50 freezes in a row is computed at once, for 50 DaemonSets in 20 zones', () => {
    const zones = Intl.supportedValuesOf('timeZone').slice(0, 20);
    const hour = (index: number): string => String(index).padStart(2, '0');
    const calendar: Calendar = {
      windows: zones.map((timeZone, index) => ({
        from: `${hour(index)}:00`,
        to: `${hour(index)}:59`,
        timeZone: index % 2 === 0 ? 'node' : timeZone,
      })),
      freezes: Array.from({ length: 50 }, (_, week) => ({
        from: noon + (week - 1) * 7 * 86_400_000,
        to: noon + week * 7 * 86_400_000,
      })),
    };
    const startedAt = performance.now();
    for (let daemonSet = 0; daemonSet < 50; daemonSet += 1)
      for (const zone of zones) assert.equal(calendarAt(calendar, zone, noon).open, false);
    // Without what they share, it takes a minute.
    const tookMs = performance.now() - startedAt;
    assert.ok(tookMs < 5_000, `${tookMs} ms`);
  });
});

describe('parseDate', () => {
  for (const [text, expected] of [
    ['2026-12-20', at('2026-12-20')],
    ['2026-12-20T08:30:00Z', at('2026-12-20T08:30:00Z')],
    ['2026-12-20t08:30:00.25+05:30', at('2026-12-20T03:00:00.250Z')],
    ['2028-02-29', at('2028-02-29')],
  ] as const)
    it(`reads ${text}`, () => assert.equal(parseDate(text), expected));

  for (const text of [
    '',
    '2026-02-30',
    '2026-13-01',
    '2026-12-20T08:30:00',
    '2026-12-20T25:00:00Z',
    '20261220',
    'soon',
  ])
    it(`refuses "${text}"`, () => assert.equal(parseDate(text), undefined));
});
