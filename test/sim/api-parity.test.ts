import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { calls } from './parity/calls.ts';
import { normal } from './parity/normal.ts';
import { embeddedSide, realSide, type Side } from './parity/sides.ts';

describe('API calls are answered as by a real API server', { timeout: 600_000 }, () => {
  let sides: readonly [real: Side, embedded: Side];

  before(async () => {
    sides = await Promise.all([realSide(), embeddedSide()]);
  });
  after(() => Promise.all(sides.map((side) => side.stop())));

  for (const [index, spec] of calls.entries()) {
    it(`${index}: ${spec.method} ${spec.path} ${spec.body === undefined ? '' : JSON.stringify(spec.body).slice(0, 120)}`, async () => {
      const [real, embedded] = await Promise.all(sides.map((side) => side.call(spec)));
      assert.ok(real && embedded);
      assert.deepEqual(normal(embedded), normal(real));
    });
  }
});
