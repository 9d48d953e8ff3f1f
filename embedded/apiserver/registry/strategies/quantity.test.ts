import assert from 'node:assert/strict';
import { it } from 'node:test';
import { canonicalQuantity, isQuantity } from './quantity.ts';

it('quantities are written in canonical form', () => {
  for (const [given, canonical] of [
    ['1000m', '1'],
    ['0.5', '500m'],
    ['100m', '100m'],
    ['1.5Gi', '1536Mi'],
    ['1024Ki', '1Mi'],
    ['1000Ki', '1000Ki'],
    ['2000k', '2M'],
    ['1e3', '1e3'],
    ['1500e1', '15e3'],
    ['5e-3', '5e-3'],
    ['10e0', '10'],
    ['0', '0'],
    ['-500m', '-500m'],
    [2, '2'],
    [0.25, '250m'],
  ] as const)
    assert.equal(canonicalQuantity(given), canonical, String(given));
});

it("values that aren't quantities are recognized and kept", () => {
  for (const text of ['', 'm', '1x', '1 Gi', 'Gi']) {
    assert.equal(isQuantity(text), false, text);
    assert.equal(canonicalQuantity(text), text);
  }
});
