// Each row of the reference names the case that proves it against the programs as they are shipped.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { areas } from './areas.ts';
import { judgeProof } from './cases.ts';
import { proofs } from './proofs/index.ts';

const missing = (from: readonly string[], of: ReadonlySet<string>): string[] => from.filter((row) => !of.has(row));

describe('the reference, row by row', () => {
  for (const [name, read] of Object.entries(areas)) {
    const cases = proofs[name] ?? {};

    it(`${name}: the code and the reference have the same rows`, async () => {
      const { inCode, documented } = await read();
      assert.ok(inCode.length > 0);
      assert.deepEqual(missing(inCode, new Set(documented)), [], 'not in docs/reference');
      assert.deepEqual(missing(documented, new Set(inCode)), [], 'in docs/reference alone');
    });

    it(`${name}: every row has a case, and every case a row`, async () => {
      const rows = new Set((await read()).inCode);
      const named = Object.keys(cases);
      assert.deepEqual(missing([...rows], new Set(named)), [], 'rows without a case');
      assert.deepEqual(missing(named, rows), [], 'rows that no longer exist');
    });

    it(`${name}: each case exists, runs the programs as they are shipped, and mentions its row`, async () => {
      const { words = (row: string) => [row] } = await read();
      assert.deepEqual(
        Object.entries(cases).flatMap(([row, proof]) => {
          const problem = judgeProof(proof, words(row));
          return problem === undefined ? [] : [`${row}: ${problem}`];
        }),
        [],
      );
    });
  }

  it('has a part for each list of cases', () => {
    assert.deepEqual(missing(Object.keys(proofs), new Set(Object.keys(areas))), []);
  });
});
