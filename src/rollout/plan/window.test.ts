import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { type PlanWindow as Window, planWeekdays as weekdays } from '../../words/index.ts';
import { canonicalTimeZone, isTimeZone, type WindowState, windowsAt } from './window.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const windowAt = (window: Window, timeZone: string, now: number): WindowState =>
  windowsAt([{ ...window, timeZone }], now);

/** Formats times as in the tables below, such as `2026-03-29 01:30+01:00`. */
const at = (text: string): number => Date.parse(text.replace(' ', 'T'));

const shown = (ms: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(zone);

const minuteOfDay = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3));

/** Reads the local time, as a person would. */
const wallSaysOpen = ({ from, to, days }: Window, zone: string, ms: number): boolean => {
  const wall = shown(ms, zone);
  const minute = wall.hour * 60 + wall.minute;
  const allowed = (date: Temporal.PlainDate): boolean => {
    const name = weekdays[date.dayOfWeek - 1];
    return days === undefined || (name !== undefined && days.includes(name));
  };
  const [begin, end] = [minuteOfDay(from), minuteOfDay(to)];
  const today = wall.toPlainDate();
  if (begin < end) return minute >= begin && minute < end && allowed(today);
  return (minute >= begin && allowed(today)) || (minute < end && allowed(today.subtract({ days: 1 })));
};

const zones = [
  'Europe/Berlin',
  'America/New_York',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Pacific/Apia',
  'Pacific/Chatham',
  'America/St_Johns',
  'Africa/Casablanca',
  'America/Sao_Paulo',
  'Antarctica/Troll',
  'UTC',
  '+05:45',
];

const two = (value: number): string => String(value).padStart(2, '0');
const timeOfDay = fc.integer({ min: 0, max: 24 * 60 - 1 }).map((m) => `${two(Math.floor(m / 60))}:${two(m % 60)}`);
const anyWindow: fc.Arbitrary<Window> = fc
  .record({
    from: timeOfDay,
    to: timeOfDay,
    days: fc.option(fc.uniqueArray(fc.constantFrom(...weekdays), { minLength: 1 }), { nil: undefined }),
  })
  .filter(({ from, to }) => from !== to)
  .map(({ from, to, days }) => ({ from, to, ...(days && { days }) }));

/** A random time, usually near a clock change of the zone. */
const anyMoment = (zone: string): fc.Arbitrary<number> =>
  fc
    .record({
      ms: fc.integer({ min: at('2009-01-01T00:00:00Z'), max: at('2030-01-01T00:00:00Z') }),
      near: fc.integer({ min: -36 * 60, max: 36 * 60 }),
      jump: fc.boolean(),
    })
    .map(({ ms, near, jump }) => {
      const minute = Math.floor(ms / MINUTE) * MINUTE;
      const change = jump ? shown(minute, zone).getTimeZoneTransition('next') : null;
      return change ? change.epochMilliseconds + near * MINUTE : minute;
    });

const anyCase = fc
  .constantFrom(...zones)
  .chain((zone) => fc.record({ zone: fc.constant(zone), window: anyWindow, now: anyMoment(zone) }));

const runs = Number(process.env.EDGESET_RUNS ?? 150);

describe('window', () => {
  it('is open exactly while the local time is within the window, except for skipped windows', () => {
    fc.assert(
      fc.property(anyCase, ({ zone, window, now }) => {
        const state = windowAt(window, zone, now);
        if (wallSaysOpen(window, zone, now)) assert.equal(state.open, true);
        else if (state.open) {
          // Open although the local time is outside: the clocks skipped the whole window just before.
          const skip = shown(now, zone).getTimeZoneTransition('previous');
          assert.ok(skip && now - skip.epochMilliseconds < 24 * HOUR);
          const before = shown(skip.epochMilliseconds - 1, zone).offset;
          assert.equal(wallSaysOpen(window, before, now), true);
        }
      }),
      { numRuns: runs * 5 },
    );
  });

  it('returns the exact minutes of opening and closing, compared with a check of every minute', () => {
    fc.assert(
      fc.property(anyCase, ({ zone, window, now }) => {
        const state = windowAt(window, zone, now);
        const change = state.open ? state.closesAt : state.opensAt;
        assert.ok(change > now);
        for (let ms = now; ms < change; ms += 7 * MINUTE)
          assert.equal(windowAt(window, zone, ms).open, state.open, shown(ms, zone).toString());
        for (let ms = now; ms < Math.min(change, now + 30 * HOUR); ms += MINUTE)
          if (!state.open) assert.equal(wallSaysOpen(window, zone, ms), false, shown(ms, zone).toString());
        assert.equal(windowAt(window, zone, change).open, !state.open);
        assert.equal(windowAt(window, zone, change - 1).open, state.open);
      }),
      { numRuns: Math.ceil(runs / 5) },
    );
  });

  it('has the state of the millisecond, where a clock shows a part of one', () => {
    fc.assert(
      fc.property(anyCase, fc.integer({ min: 1, max: 1023 }), ({ zone, window, now }, part) => {
        const state = windowAt(window, zone, now);
        const change = state.open ? state.closesAt : state.opensAt;
        for (const ms of [now, change - 1, change])
          assert.deepEqual(windowAt(window, zone, ms + part / 1024), windowAt(window, zone, ms));
      }),
      { numRuns: Math.ceil(runs / 5) },
    );
  });

  it('opens at least once a week in every time zone', () => {
    fc.assert(
      fc.property(anyCase, ({ zone, window, now }) => {
        const state = windowAt(window, zone, now);
        if (!state.open) assert.ok(state.opensAt - now <= 8 * 24 * HOUR + HOUR, shown(now, zone).toString());
      }),
      { numRuns: runs * 3 },
    );
  });

  const night = { from: '02:10', to: '02:40' };
  const cases: [string, string, Window, string, [boolean, string][]][] = [
    [
      'a time that spring skips as a whole is an hour later',
      'Europe/Berlin',
      night,
      '2026-03-29 00:00+01:00',
      [
        [false, '2026-03-29 03:10+02:00'],
        [true, '2026-03-29 03:40+02:00'],
        [false, '2026-03-30 02:10+02:00'],
      ],
    ],
    [
      'of a time that spring skips in part the other part is left',
      'Europe/Berlin',
      { from: '02:30', to: '03:15' },
      '2026-03-29 00:00+01:00',
      [
        [false, '2026-03-29 03:00+02:00'],
        [true, '2026-03-29 03:15+02:00'],
      ],
    ],
    [
      'a window that ends in what spring skips ends there',
      'America/New_York',
      { from: '01:30', to: '02:30' },
      '2026-03-08 01:00-05:00',
      [
        [false, '2026-03-08 01:30-05:00'],
        [true, '2026-03-08 03:00-04:00'],
      ],
    ],
    [
      'the last minute before a skip',
      'Europe/Berlin',
      { from: '02:59', to: '03:00' },
      '2026-03-29 00:00+01:00',
      [
        [false, '2026-03-29 03:59+02:00'],
        [true, '2026-03-29 04:00+02:00'],
      ],
    ],
    [
      'a time that autumn shows twice is open twice',
      'Europe/Berlin',
      night,
      '2026-10-25 00:00+02:00',
      [
        [false, '2026-10-25 02:10+02:00'],
        [true, '2026-10-25 02:40+02:00'],
        [false, '2026-10-25 02:10+01:00'],
        [true, '2026-10-25 02:40+01:00'],
      ],
    ],
    [
      '01:30 twice in New York',
      'America/New_York',
      { from: '01:30', to: '01:31' },
      '2026-11-01 00:00-04:00',
      [
        [false, '2026-11-01 01:30-04:00'],
        [true, '2026-11-01 01:31-04:00'],
        [false, '2026-11-01 01:30-05:00'],
      ],
    ],
    [
      'over a midnight that autumn makes longer',
      'Europe/Berlin',
      { from: '22:00', to: '06:00', days: ['Sat'] },
      '2026-10-24 12:00+02:00',
      [
        [false, '2026-10-24 22:00+02:00'],
        [true, '2026-10-25 06:00+01:00'],
        [false, '2026-10-31 22:00+01:00'],
      ],
    ],
    [
      'half an hour of summer on Lord Howe',
      'Australia/Lord_Howe',
      { from: '02:05', to: '02:25' },
      '2026-10-04 00:00+10:30',
      [
        [false, '2026-10-04 02:35+11:00'],
        [true, '2026-10-04 02:55+11:00'],
      ],
    ],
    [
      'an offset of half an hour',
      'Asia/Kolkata',
      { from: '22:00', to: '05:30', days: ['Mon'] },
      '2026-11-22 12:00+05:30',
      [
        [false, '2026-11-23 22:00+05:30'],
        [true, '2026-11-24 05:30+05:30'],
        [false, '2026-11-30 22:00+05:30'],
      ],
    ],
    [
      'a Friday that a move over the date line took away is held on Saturday',
      'Pacific/Apia',
      { from: '10:00', to: '11:00', days: ['Fri'] },
      '2011-12-29 12:00-10:00',
      [
        [false, '2011-12-31 10:00+14:00'],
        [true, '2011-12-31 11:00+14:00'],
        [false, '2012-01-06 10:00+14:00'],
      ],
    ],
  ];
  for (const [name, zone, window, start, changes] of cases) {
    it(`${name}: ${window.from} to ${window.to} in ${zone}`, () => {
      let now = at(start);
      for (const [open, until] of changes) {
        const state = windowAt(window, zone, now);
        assert.equal(state.open, open, `at ${shown(now, zone).toString()}`);
        now = state.open ? state.closesAt : state.opensAt;
        assert.equal(shown(now, zone).toString(), shown(at(until), zone).toString());
      }
    });
  }

  it('applies weekdays to the day on which the window opens', () => {
    const window: Window = { from: '22:00', to: '02:00', days: ['Fri'] };
    assert.equal(windowAt(window, 'UTC', at('2026-11-20 23:00Z')).open, true);
    assert.equal(windowAt(window, 'UTC', at('2026-11-21 01:59Z')).open, true);
    assert.equal(windowAt(window, 'UTC', at('2026-11-20 01:00Z')).open, false);
    assert.equal(windowAt(window, 'UTC', at('2026-11-21 23:00Z')).open, false);
  });
});

describe('windows', () => {
  const state = (windows: (Window & { timeZone: string })[], now: string): WindowState => windowsAt(windows, at(now));
  const utc = (from: string, to: string, ...days: (typeof weekdays)[number][]) => ({
    from,
    to,
    timeZone: 'UTC',
    ...(days.length > 0 && { days }),
  });

  it('that touch are one, also over midnight and between time zones', () => {
    assert.deepEqual(state([utc('10:00', '12:00'), utc('12:00', '13:00')], '2026-11-20 11:00Z'), {
      open: true,
      closesAt: at('2026-11-20 13:00Z'),
    });
    const overMidnight = [utc('22:00', '00:00', 'Fri'), utc('00:00', '03:00', 'Sat')];
    assert.deepEqual(state(overMidnight, '2026-11-20 22:30Z'), { open: true, closesAt: at('2026-11-21 03:00Z') });
    const twoZones = [utc('10:00', '12:00'), { from: '13:00', to: '14:00', timeZone: 'Europe/Berlin' }];
    assert.deepEqual(state(twoZones, '2026-11-20 11:00Z'), { open: true, closesAt: at('2026-11-20 13:00Z') });
  });

  it('of the same time at both ends last a day', () => {
    const sunday = [utc('08:00', '08:00', 'Sun')];
    assert.deepEqual(state(sunday, '2026-11-21 08:00Z'), { open: false, opensAt: at('2026-11-22 08:00Z') });
    assert.deepEqual(state(sunday, '2026-11-22 08:00Z'), { open: true, closesAt: at('2026-11-23 08:00Z') });
  });

  it('that are never closed, or never open, do not change', () => {
    const never = Number.POSITIVE_INFINITY;
    assert.deepEqual(state([utc('08:00', '08:00')], '2026-11-20 11:00Z'), { open: true, closesAt: never });
    const halves = [utc('00:00', '12:00'), utc('12:00', '00:00')];
    assert.deepEqual(state(halves, '2026-11-20 11:00Z'), { open: true, closesAt: never });
    assert.deepEqual(state([], '2026-11-20 11:00Z'), { open: false, opensAt: never });
    assert.deepEqual(state([{ ...utc('00:00', '12:00'), days: [] }], '2026-11-20 11:00Z'), {
      open: false,
      opensAt: never,
    });
  });

  it('of two zones close when only one of them changes its clocks', () => {
    // The two halves of a day, until the clocks of New York change and those of London do not.
    const twoZones = [
      { from: '00:00', to: '12:00', timeZone: 'America/New_York' },
      { from: '17:00', to: '05:00', timeZone: 'Europe/London' },
    ];
    assert.deepEqual(state(twoZones, '2027-01-10 12:00Z'), { open: true, closesAt: at('2027-03-14 16:00Z') });
    assert.deepEqual(state(twoZones, '2027-03-14 16:00Z'), { open: false, opensAt: at('2027-03-14 17:00Z') });
  });
});

it('knows the names of time zones', () => {
  assert.equal(canonicalTimeZone('europe/berlin'), 'Europe/Berlin');
  assert.equal(canonicalTimeZone('+05:45'), '+05:45');
  for (const name of ['', 'Berlin', 'Europe/Nowhere', '+5', '2026-01-01[Europe/Berlin]', '../etc/passwd', 'Z', 'node'])
    assert.equal(isTimeZone(name), false, name);
});
