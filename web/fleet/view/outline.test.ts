import assert from 'node:assert/strict';
import { it } from 'node:test';
import { outlineOf } from './outline.ts';

it('what a command prints is an outline: indented lines belong to the line above', () => {
  assert.deepEqual(outlineOf('Budget 3.\n\nIt would now:\n  replace a\n    an approval\nOffline: 2.\n'), [
    { text: 'Budget 3.', details: [] },
    { text: 'It would now:', details: ['replace a', 'an approval'] },
    { text: 'Offline: 2.', details: [] },
  ]);
  assert.deepEqual(outlineOf('  indented\n'), [{ text: 'indented', details: [] }]);
  assert.deepEqual(outlineOf(''), []);
});
