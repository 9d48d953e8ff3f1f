import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { InvalidDecision, parseDecision } from './parse-decision.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
type Body = Parameters<typeof parseDecision>[0];
const parse = (body: Body) => parseDecision({ revision: '7d9c', ...body }, now);
const window = (more: object): Body => ({
  decision: 'approve',
  when: { type: 'window', from: '22:00', to: '05:00', ...more },
});

describe('parseDecision', () => {
  it('normalizes every valid choice', () => {
    const cases: [Body, unknown][] = [
      [{ decision: 'approve' }, { choice: 'approve', when: { type: 'now' } }],
      [
        { when: { type: 'safe' }, decision: 'approve' },
        { choice: 'approve', when: { type: 'safe' } },
      ],
      [window({}), { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00' } }],
      [
        window({ days: ['sun', 'mon'] }),
        { choice: 'approve', when: { type: 'window', from: '22:00', to: '05:00', days: ['mon', 'sun'] } },
      ],
      [
        { decision: 'postpone', until: '2026-11-21T18:00:00+02:00' },
        { choice: 'postpone', until: '2026-11-21T16:00:00.000Z' },
      ],
      [
        { decision: 'postpone', until: '2027-11-21T12:00:00Z' },
        { choice: 'postpone', until: '2027-11-21T12:00:00.000Z' },
      ],
      [{ decision: 'reject' }, { choice: 'reject' }],
    ];
    for (const [value, choice] of cases) assert.deepEqual(parse(value), { revision: '7d9c', choice });
  });

  const refused: [Body, string, RegExp][] = [
    [{ revision: 7 }, 'revision', /as returned by GET/],
    [{ revision: '' }, 'revision', /as returned by GET/],
    [{ revision: 'x'.repeat(254) }, 'revision', /as returned by GET/],
    [{ choice: 'approve', decision: 'approve' }, 'choice', /not a known field/],
    [{}, 'decision', /approve, postpone or reject/],
    [{ decision: 'yes' }, 'decision', /approve, postpone or reject/],
    [{ decision: 'approve', until: '2026-11-22T00:00:00Z' }, 'until', /not a known field/],
    [{ decision: 'approve', image: 'x' }, 'image', /use only revision, decision, when/],
    [{ decision: 'reject', when: { type: 'now' } }, 'when', /not a known field/],
    [{ decision: 'approve', when: 'now' }, 'when', /object/],
    [{ decision: 'approve', when: null }, 'when', /object/],
    [{ decision: 'approve', when: {} }, 'when.type', /now, window or safe/],
    [{ decision: 'approve', when: { type: 'now', from: '22:00' } }, 'when.from', /not a known field/],
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
    [{ decision: 'postpone' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: now + 1 }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: 'tomorrow' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: '2026-11-22' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: '2027-02-29T00:00:00Z' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: '2027-13-01T00:00:00Z' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: '2027-01-01T25:00:00Z' }, 'until', /RFC 3339/],
    [{ decision: 'postpone', until: '2026-11-21T12:00:00Z' }, 'until', /past/],
    [{ decision: 'postpone', until: '2028-01-01T00:00:00Z' }, 'until', /year/],
  ];
  for (const [value, field, message] of refused) {
    it(`refuses ${field}: ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => parse(value),
        (error) => {
          assert.ok(error instanceof InvalidDecision);
          assert.ok(error.message.startsWith(`${field} `), error.message);
          assert.match(error.message, message);
          return true;
        },
      );
    });
  }

  it('throws nothing else, is idempotent, and shows little of a name that it does not know', () => {
    const decisions = fc.constantFrom('approve', 'postpone', 'reject', 0);
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), decisions, fc.jsonValue(), (others, decision, value) => {
        for (const body of [
          { decision, ...others },
          { decision, when: value },
          { decision, until: value },
        ]) {
          try {
            const { choice } = parse(body);
            const { choice: again, ...more } = choice;
            assert.deepEqual(parse({ decision: again, ...more }).choice, choice);
          } catch (error) {
            if (!(error instanceof InvalidDecision)) throw error;
          }
        }
      }),
    );
    assert.throws(
      () => parse({ decision: 'reject', ['x'.repeat(4000)]: 1 }),
      ({ message }: Error) => message.length < 200,
    );
  });
});
