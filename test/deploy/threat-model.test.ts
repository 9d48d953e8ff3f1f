import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const root = path.join(import.meta.dirname, '../..');

/** A row of "What was tried". */
const ROW = /^\| [^|]+ \| [^|]+ \| `([^`|]+)`: ([^|]+) \|$/;

test('each attack that the threat model says was tried has its test', async () => {
  const page = await readFile(path.join(root, 'docs/explanation/threat-model.md'), 'utf8');
  const [, section = ''] = page.split('\n## What was tried\n');
  const [, , ...rows] = section.split('\n## ')[0]?.match(/^\|.*$/gm) ?? [];
  assert.ok(rows.length > 0);
  for (const row of rows) {
    const [, file = '', title = ''] = ROW.exec(row) ?? [];
    assert.notEqual(title, '', `write this row as | attack | result | \`FILE\`: name of the test |: ${row}`);
    const text = await readFile(path.join(root, file), 'utf8');
    assert.ok(text.includes(title), `${file} has no test "${title}"`);
  }
});
