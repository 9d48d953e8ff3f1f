import assert from 'node:assert/strict';
import { it } from 'node:test';
import { parseQuantity } from './quantity.ts';

it('equal amounts in different units are equal', () => {
  for (const [a, b] of [
    ['64M', '62500Ki'],
    ['0.1', '100m'],
    ['1', '1000m'],
    ['1Gi', '1024Mi'],
    ['1e3', '1k'],
    ['0', '0Mi'],
  ] as const)
    assert.equal(parseQuantity(a), parseQuantity(b), `${a} and ${b}`);
  assert.notEqual(parseQuantity('64M'), parseQuantity('64Mi'));
  for (const none of [undefined, '', 'much', '1Xi', 'Mi']) assert.ok(Number.isNaN(parseQuantity(none)));
});
