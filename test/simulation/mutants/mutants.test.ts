import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { invariantIds } from '../../invariants/index.ts';
import { mutants } from './index.ts';
import { findMismatch } from './load-mutant.ts';

describe('the mutants', () => {
  it('each fit the code exactly once', () => {
    assert.deepEqual(
      mutants.flatMap((mutant) => {
        const why = findMismatch(mutant);
        return why === undefined ? [] : [`${mutant.name}: ${why}`];
      }),
      [],
    );
  });

  it('have unique names', () => {
    const names = mutants.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  it('name the invariants that kill them, or a test', () => {
    for (const { name, breaks, hunt } of mutants)
      assert.equal(breaks.length === 0, hunt?.by === 'test' || hunt?.by === 'hand', name);
  });

  it('cover every invariant, and every known defect of other projects', () => {
    const told = mutants.flatMap(({ whose, breaks }) => [...breaks, ...(whose.match(/#\d+|[SGL]\d+/g) ?? [])]);
    const issues = [
      123232, 63465, 117204, 73011, 77203, 75836, 95432, 14528, 62519, 56355, 118823, 129795, 117658, 898, 1323, 1012,
      443, 2520, 2512, 1340, 2409, 2509, 2754,
    ];
    const wanted = [...invariantIds, ...issues.map((issue) => `#${issue}`)];
    assert.deepEqual(
      wanted.filter((each) => !told.includes(each)),
      [],
    );
  });
});
