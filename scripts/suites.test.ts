import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import path from 'node:path';
import { it } from 'node:test';
import { suites } from './suites.ts';

const inRepository = { cwd: path.join(import.meta.dirname, '..') };

it('each test file belongs to one suite', () => {
  const files = globSync('{src,embedded,scripts,web,bench,test}/**/*.test.ts', inRepository).toSorted();
  const ofSuites = Object.values(suites).flatMap((suite) => [...new Set(globSync(suite.files, inRepository))]);
  assert.deepEqual(ofSuites.toSorted(), files);
});
