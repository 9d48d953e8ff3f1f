import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { invariants } from './invariants.ts';

describe('the list of invariants', () => {
  it('is the one that the documentation shows', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/explanation/reliability.md'), 'utf8');
    const rows = [...page.matchAll(/^\| ([SGL]\d+) \| ([^|]*) \|$/gm)].map(([, id, sentence]) => [id, sentence]);
    assert.deepEqual(rows, Object.entries(invariants));
  });
});
