import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { parseChoice } from './parse-choice.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const parse = (value: unknown, safeConfigured = true): ReturnType<typeof parseChoice> =>
  parseChoice(value, { now, safeConfigured });
const window = (more: object): object => ({
  choice: 'approve',
  when: { type: 'window', from: '22:00', to: '05:00', ...more },
});

describe('parseChoice', () => {
  it('normalizes every valid choice', () => {
    const cases: [unknown, unknown][] = [
      [{ choice: 'approve' }, { choice: 'approve', when: { type: 'now' } }],
      [
        { when: { type: 'safe' }, choice: 'approve' },
        { choice: 'approve', when: { type: 'safe' } },
      ],
      [window({}), { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } }],
      [
        window({ days: ['sun', 'mon'] }),
        { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00', days: ['mon', 'sun'] } },
      ],
      [
        { choice: 'postpone', until: '2026-11-21T18:00:00+02:00' },
        { choice: 'postpone', until: '2026-11-21T16:00:00.000Z' },
      ],
      [
        { choice: 'postpone', until: '2027-11-21T12:00:00Z' },
        { choice: 'postpone', until: '2027-11-21T12:00:00.000Z' },
      ],
      [{ choice: 'reject' }, { choice: 'reject' }],
    ];
    for (const [value, choice] of cases) assert.deepEqual(parse(value), { ok: true, choice });
  });

  const refused: [unknown, string, RegExp][] = [
    [null, 'choice', /object/],
    ['approve', 'choice', /object/],
    [[], 'choice', /object/],
    [{}, 'choice', /approve, postpone or reject/],
    [{ choice: 'yes' }, 'choice', /approve, postpone or reject/],
    [{ choice: 'approve', until: '2026-11-22T00:00:00Z' }, 'until', /not a known field/],
    [{ choice: 'approve', image: 'x' }, 'image', /use only choice, when/],
    [{ choice: 'reject', when: { type: 'now' } }, 'when', /not a known field/],
    [{ choice: 'approve', when: 'now' }, 'when', /object/],
    [{ choice: 'approve', when: null }, 'when', /object/],
    [{ choice: 'approve', when: {} }, 'when.type', /now, window or safe/],
    [{ choice: 'approve', when: { type: 'now', from: '22:00' } }, 'when.from', /not a known field/],
    [window({ form: '1' }), 'when.form', /not a known field/],
    [window({ from: '24:00' }), 'when.from', /such as 22:00/],
    [window({ from: '7:00' }), 'when.from', /such as/],
    [window({ to: '05:60' }), 'when.to', /such as/],
    [window({ to: 5 }), 'when.to', /such as/],
    [window({ to: '22:00' }), 'when.to', /must differ/],
    [window({ days: [] }), 'when.days', /leave it out/],
    [window({ days: 'mon' }), 'when.days', /list/],
    [window({ days: ['Mon'] }), 'when.days', /mon, tue/],
    [window({ days: ['mon', 'mon'] }), 'when.days', /twice/],
    [{ choice: 'postpone' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: now + 1 }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: 'tomorrow' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: '2026-11-22' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: '2027-02-29T00:00:00Z' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: '2027-13-01T00:00:00Z' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: '2027-01-01T25:00:00Z' }, 'until', /RFC 3339/],
    [{ choice: 'postpone', until: '2026-11-21T12:00:00Z' }, 'until', /past/],
    [{ choice: 'postpone', until: '2028-01-01T00:00:00Z' }, 'until', /year/],
  ];
  for (const [value, field, message] of refused) {
    it(`refuses ${field}: ${JSON.stringify(value)}`, () => {
      const answer = parse(value);
      assert.ok(!answer.ok);
      assert.equal(answer.field, field);
      assert.match(answer.message, message);
    });
  }

  it('refuses to wait for a safety check that is not configured', () => {
    const answer = parse({ choice: 'approve', when: { type: 'safe' } }, false);
    assert.ok(!answer.ok && answer.field === 'when.type');
  });

  it('never throws, and is idempotent', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('approve', 'postpone', 'reject', 0), (value, choice) => {
        const given =
          typeof value === 'object' && value !== null && !Array.isArray(value) ? { choice, ...value } : value;
        const answer = parse(given);
        if (answer.ok) assert.deepEqual(parse(answer.choice), answer);
      }),
    );
  });
});
