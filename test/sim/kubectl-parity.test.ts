import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Command, commands } from './parity/commands.ts';
import { normal } from './parity/normal.ts';
import { embeddedSide, realSide, type Side } from './parity/sides.ts';

const lineOf = (command: Command): string => (typeof command === 'string' ? command : command[0]);

describe('kubectl is answered as by a real API server', { timeout: 600_000 }, () => {
  let sides: readonly [real: Side, embedded: Side];

  before(async () => {
    sides = await Promise.all([realSide(), embeddedSide()]);
  });
  after(() => Promise.all(sides.map((side) => side.stop())));

  for (const [index, command] of commands.entries()) {
    it(`${index}: kubectl ${lineOf(command)}`, async () => {
      const [line, stdin] = typeof command === 'string' ? [command, ''] : command;
      const [real, embedded] = await Promise.all(sides.map((side) => side.kubectl(line, stdin)));
      assert.ok(real && embedded);
      assert.deepEqual(normal(embedded), normal(real));
    });
  }
});
