import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotation } from './annotations.ts';
import { parseDeadline, parseSpread } from './ota-terms.ts';
import { parsePolicy, readOtaTerms } from './policy.ts';

const AT = Date.parse('2026-11-21T17:00:00Z');

describe('the deadline', () => {
  for (const text of ['2026-11-21T17:00:00Z', '2026-11-21t17:00:00z', ' 2026-11-21T18:00:00.000+01:00 '])
    it(`is read from "${text}"`, () => assert.equal(parseDeadline(text), AT));
  for (const text of [
    '',
    '2026-11-21',
    '2026-11-21T17:00:00',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '1764000000',
  ])
    it(`is not "${text}"`, () => assert.equal(parseDeadline(text), undefined));
  it('knows leap years', () => {
    assert.equal(parseDeadline('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29));
    assert.equal(parseDeadline('2026-02-29T00:00:00Z'), undefined);
  });
});

describe('the spread', () => {
  for (const [text, ms] of [
    ['1h', 3_600_000],
    ['1h30m', 5_400_000],
    ['90m', 5_400_000],
    ['1.5h', 5_400_000],
    ['500ms', 500],
    ['0s', 0],
  ] as const)
    it(`is read from "${text}"`, () => assert.equal(parseSpread(text), ms));
  for (const text of ['', '1', '1d', '-1h', '1h x', 'h', '99999h'])
    it(`is not "${text}"`, () => assert.equal(parseSpread(text), undefined));
});

describe('the terms of a DaemonSet', () => {
  const ota = { [annotation.strategy]: 'OTA' };
  const deadline = { [annotation.otaDeadline]: '2026-11-21T17:00:00Z' };

  it('are none without annotations, and without the strategy ota', () => {
    const none = { ota: false, deadline: undefined, spreadMs: 3_600_000, errors: [] };
    assert.deepEqual(readOtaTerms(undefined), none);
    assert.deepEqual(readOtaTerms({ [annotation.strategy]: 'auto', ...deadline }), none);
    assert.deepEqual(readOtaTerms({ [annotation.strategy]: 'what', ...deadline }), none);
  });

  it('are read from either key of the strategy, the usual one first', () => {
    assert.equal(readOtaTerms(ota).ota, true);
    assert.equal(readOtaTerms({ [annotation.proposedStrategy]: 'ota' }).ota, true);
    assert.equal(readOtaTerms({ [annotation.strategy]: 'auto', [annotation.proposedStrategy]: 'ota' }).ota, false);
  });

  it('have a deadline and a spread, an hour unless said otherwise', () => {
    assert.deepEqual(readOtaTerms({ ...ota, ...deadline }), {
      ota: true,
      deadline: AT,
      spreadMs: 3_600_000,
      errors: [],
    });
    assert.equal(readOtaTerms({ ...ota, ...deadline, [annotation.otaDeadlineSpread]: '10m' }).spreadMs, 600_000);
  });

  it('make nothing due when either cannot be read, and say so; slips elsewhere do not matter', () => {
    for (const bad of [{ ...deadline, [annotation.otaDeadlineSpread]: 'soon' }, { [annotation.otaDeadline]: 'soon' }]) {
      const terms = readOtaTerms({ ...ota, ...bad });
      assert.equal(terms.ota, true);
      assert.equal(terms.deadline, undefined);
      assert.equal(terms.errors.length, 1);
    }
    const elsewhere = readOtaTerms({ ...ota, ...deadline, [annotation.maxUnavailable]: 'many' });
    assert.deepEqual([elsewhere.deadline, elsewhere.errors], [AT, []]);
  });

  it('that cannot be read make the policy invalid, with field, value and cure', () => {
    const parsed = parsePolicy({
      annotations: { ...ota, [annotation.otaDeadline]: 'tomorrow', [annotation.otaDeadlineSpread]: '1d' },
      updateStrategyType: 'OnDelete',
      minReadySeconds: 0,
    });
    assert.equal(parsed.kind, 'invalid');
    assert.deepEqual(
      parsed.errors.map(({ field, value }) => [field, value]),
      [
        [annotation.otaDeadline, 'tomorrow'],
        [annotation.otaDeadlineSpread, '1d'],
      ],
    );
    for (const { cure } of parsed.errors) assert.match(cure, /^set a (time|duration)/);
  });
});
