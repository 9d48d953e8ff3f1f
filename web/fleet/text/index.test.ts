import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

const PARTS = path.join(import.meta.dirname, '../parts');
/** What people would read: text between two tags, text on its own line, and attributes that are read aloud or shown. */
const WORDS = [
  /(?<!<code)>\s*[A-Za-z][a-z]+[^<>{}()=;]*<\//g,
  /^\s+[A-Z][a-z]+( [A-Za-z]+)*[.:…]?$/gm,
  /\b(?:aria-label|placeholder|title|alt)="[^"]*"/g,
];

const wordsIn = (source: string): string[] => WORDS.flatMap((pattern) => source.match(pattern) ?? []);

test('no part of the page has its own words', () => {
  const files = readdirSync(PARTS, { encoding: 'utf8', recursive: true }).filter((file) => file.endsWith('.tsx'));
  assert.ok(files.length > 20, 'they are found');
  for (const file of files) assert.deepEqual(wordsIn(readFileSync(path.join(PARTS, file), 'utf8')), [], file);
  const own = ['<b>Log in</b>', '  Group by\n', '<i title="Why">'];
  for (const source of own) assert.equal(wordsIn(source).length, 1, source);
});
