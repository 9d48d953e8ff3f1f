import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readAnswer } from './answer.ts';

const success = (resultType: string, result: unknown, more: object = {}): string =>
  JSON.stringify({ status: 'success', data: { resultType, result }, ...more });
const vector = (...values: string[]): string =>
  success(
    'vector',
    values.map((value, index) => ({ metric: { n: String(index) }, value: [1.5, value] })),
  );

const read = (body: string): unknown => {
  const answer = readAnswer(body);
  return answer?.ok ? answer.values : answer?.problem;
};

describe('an answer', () => {
  it('has the values of a vector, or that of a scalar', () => {
    assert.deepEqual(read(vector('0.25', '1e-3', '+Inf', '-Inf', '7')), [0.25, 0.001, Infinity, -Infinity, 7]);
    assert.deepEqual(read(success('scalar', [1, '2'])), [2]);
  });

  it('keeps the warnings beside values', () => {
    const body = success('scalar', [1, '2'], { warnings: ['partial response'] });
    assert.deepEqual(readAnswer(body), { ok: true, values: [2], warnings: ['partial response'] });
  });

  for (const [name, body, problem] of [
    ['of no sample', vector(), 'the query returns no sample'],
    [
      'of warnings only',
      success('vector', [], { warnings: ['no such metric'] }),
      /no sample, and warns: no such metric/,
    ],
    ['with NaN', vector('1', 'NaN'), /returns NaN/],
    ['with a value that is no number', vector('x'), /returns NaN/],
    [
      'with a value longer than any number',
      vector(`${'1'.repeat(250_000)}x`),
      /a value of 250001 characters, which is no/,
    ],
    ['with an empty value', vector(''), /returns NaN/],
    ['of ranges', success('matrix', []), /returns a matrix: write one that/],
    ['of a text', success('string', [1, 'x']), /returns a string: write one that/],
    ['of histograms', success('vector', [{ metric: {}, histogram: [1, {}] }]), /histogram_quantile/],
    ['of too many samples', vector(...Array.from({ length: 101 }, () => '1')), /101 samples: aggregate/],
    ['of another shape', success('vector', {}), /not that of a Prometheus/],
    ['of a scalar of another shape', success('scalar', ['x', 1]), /not that of a Prometheus/],
    [
      'with an error',
      JSON.stringify({ status: 'error', errorType: 'bad_data', error: 'parse error' }),
      'bad_data: parse error',
    ],
  ] as const)
    it(`${name} has no values`, () => {
      const said = String(read(body));
      if (typeof problem === 'string') assert.equal(said, problem);
      else assert.match(said, problem);
    });

  for (const body of ['', '<html>', '[]', 'null', '{"status":"success"}', '{"status":"odd","data":{}}'])
    it(`${body || 'of nothing'} is none of Prometheus`, () => assert.equal(readAnswer(body), undefined));
});
