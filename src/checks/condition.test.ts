import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compileCondition } from './condition.ts';
import { sayProblem } from './types.ts';

const evaluate = (expression: string, ...result: number[]): unknown => {
  const condition = compileCondition(expression);
  if (!condition.ok) return sayProblem(condition);
  const said = condition.evaluate(result);
  return 'value' in said ? said.value : said;
};

describe('a condition', () => {
  for (const [expression, values, expected] of [
    ['result.all(r, r < 0.05)', [0.01, 0.04], true],
    ['result.all(r, r < 0.05)', [0.01, 0.06], false],
    ['result[0] < 1', [0.5], true],
    ['result[0] == 1.0', [1], true],
    ['size(result) == 2 && result[1] >= 0.99', [1, 0.995], true],
    ['result.exists(r, r > 1.0) || result.size() > 3', [0], false],
    ['!(result[0] > 5.0)', [Number.POSITIVE_INFINITY], false],
    ['result.filter(r, r > 0.5).size() <= 1', [0.6, 0.4], true],
    ['int(result[0]) in [0, 1] ? true : false', [1.4], true],
  ] as const)
    it(`${expression} is ${String(expected)} for ${values.join(', ')}`, () =>
      assert.equal(evaluate(expression, ...values), expected));

  for (const [expression, problem] of [
    ['result.all(r,', /is not a CEL expression/],
    ['', /is not a CEL expression/],
    ['results[0] < 1.0', /Unknown variable: results\): .* in result/],
    ['result[0] == 1', /double == int.*\): write numbers as 1.0/],
    ['result', /is of type list<double>: compare/],
    ['result[0] * 2.0', /is of type double: compare/],
    ['"aaaa".matches("(a+)+$")', /uses the function matches/],
    ['result.all(r, result.exists(q, q > r))', /uses exists within another loop/],
    ['result.map(r, r * 2.0).all(r, result.map(q, q + r).size() > 1)', /uses map within another loop/],
    ['cel.bind(x, result, x.size() > 0)', /uses the function bind/],
    [`result${' + result'.repeat(100)} == result`, /is not a CEL expression \(.*(limit|exceed)/i],
  ] as const)
    it(`refuses ${expression.slice(0, 50)}`, () => assert.match(String(evaluate(expression)), problem));

  it('that asks for a value that is not there has no result', () => {
    const said = evaluate('result[1] < 1.0', 0.5);
    assert.match(JSON.stringify(said), /"problem":".*index/);
  });
});
