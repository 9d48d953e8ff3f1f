// The histories in testdata/stories, as text that people read. `--test-update-snapshots` writes what happens now into the files:
// review the difference as you review code.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { formatStory, parseStory } from './parse.ts';
import { playStory } from './play.ts';

const FOLDER = path.join(import.meta.dirname, '../../testdata/stories');

describe('the story', () => {
  for (const file of globSync(path.join(FOLDER, '*.txt')).toSorted())
    it(path.basename(file, '.txt').replaceAll('-', ' '), async (t) => {
      const story = parseStory(readFileSync(file, 'utf8'));
      const { happened, violations } = await playStory(story);
      assert.deepEqual(violations, []);
      t.assert.fileSnapshot(formatStory(story, happened), file, { serializers: [String] });
    });
});
