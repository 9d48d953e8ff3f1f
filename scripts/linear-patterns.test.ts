import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { whyNotLinear } from './linear-patterns.ts';

describe('the rule of linear patterns', () => {
  for (const { source, flags } of [
    /^[-+]?(\d+(\.\d*)?|\.\d+)$/i,
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
    /(?<!\/)\/+$/,
    /(\d{1,9})(ms|s)/g,
    /[^a]+/g,
  ])
    it(`accepts ${source}`, () => assert.equal(whyNotLinear(source, flags), undefined));

  for (const [{ source, flags }, why] of [
    [/^(a+)+$/, /a long run of "a" in many ways/],
    [/^\d+\.?\d*$/, /a long run of "0" in many ways/],
    [/^(?:a|ba+)+$/, /a long run of "a" in many ways/],
    [/\/+$/, /tried again from each character of a long run of "\/"/],
    [/(\d+)(ms|s)/g, /tried again/],
  ] as const)
    it(`refuses ${source}`, () => assert.match(whyNotLinear(source, flags) ?? '', why));
});
