import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareVersions, isOlder, isOlderOrSame } from './formats.ts';
import { errorFromStatus, parseRetryAfter } from './status.ts';

test('parses Retry-After as seconds or a date, and nothing else', () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(parseRetryAfter('7', now), 7);
  assert.equal(parseRetryAfter('Thu, 01 Jan 2026 00:00:30 GMT', now), 30);
  assert.equal(parseRetryAfter('Wed, 31 Dec 2025 00:00:00 GMT', now), 0);
  assert.equal(parseRetryAfter('soon', now), undefined);
  assert.equal(parseRetryAfter(undefined, now), undefined);
});

test('a refusal reports its object, and each cause with its field', () => {
  const answer = { status: 422, write: true, context: 'POST /x' };
  const causes = [{ reason: 'FieldValueRequired', field: 'spec.a', message: 'Required value' }, { message: 7 }, 'none'];
  const { code, details } = errorFromStatus({ reason: 'Invalid', details: { name: 'n', causes } }, answer);
  assert.equal(code, 'Invalid');
  assert.deepEqual(details, { name: 'n', causes: [causes[0], { message: '' }] });
  assert.deepEqual(errorFromStatus({ details: { name: '', causes: null } }, answer).details, { causes: [] });
  assert.equal(errorFromStatus('no object', answer).details, undefined);
});

test('orders versions as integers of any size; a version that is not an integer has no order and counts as newer', () => {
  assert.ok((compareVersions('9', '10') ?? 0) < 0);
  assert.ok((compareVersions('18446744073709551615', '18446744073709551614') ?? 0) > 0);
  assert.equal(compareVersions('x', 'x'), 0);
  assert.equal(compareVersions('x', '1'), undefined);
  assert.deepEqual([isOlder('1', '2'), isOlder('2', '2'), isOlder('x', '2')], [true, false, false]);
  assert.deepEqual([isOlderOrSame('2', '2'), isOlderOrSame('3', '2'), isOlderOrSame('x', '2')], [true, false, false]);
});
