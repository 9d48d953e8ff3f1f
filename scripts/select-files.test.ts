import assert from 'node:assert/strict';
import { it } from 'node:test';
import { selectFiles } from './select-files.ts';

const suite = ['scripts/*.test.ts'];

it('a plain word selects the files of the suite whose path contains it', () => {
  assert.deepEqual(selectFiles(['select-files'], suite), ['scripts/select-files.test.ts']);
  assert.deepEqual(selectFiles(['group', 'select'], suite), [
    'scripts/group-files.test.ts',
    'scripts/select-files.test.ts',
  ]);
});

it('names of files and patterns are passed on, whatever the suite has', () => {
  const names = ['src/a.test.ts', './a', 'src/**/*.test.ts', 'a.test.ts'];
  assert.deepEqual(selectFiles(names, suite), names);
});

it('a word that selects nothing is an error, not an empty suite', () => {
  assert.throws(() => selectFiles(['nonesuch'], suite), {
    message: 'no file of this suite has "nonesuch" in its path',
  });
});
