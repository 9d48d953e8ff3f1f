import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { groupFiles } from './group-files.ts';

test('each file is in one group: the longest first, then those that need a process, then 24 neighbors at a time', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-groups-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(path.join(folder, 'tests'));
  const write = (name: string, text: string): string => {
    const file = path.join(folder, 'tests', name);
    writeFileSync(file, text);
    return file;
  };
  const pure = Array.from({ length: 25 }, (_, index) =>
    write(`pure-${index}.test.ts`, "describe('a', () => {\n  before(() => 1);\n});\n"),
  ).toSorted();
  const long = write('long.test.ts', '');
  const alone = [
    'beforeEach(() => 1);',
    "process.emit('SIGINT');",
    "process.env.HOME = '/';",
    't.mock.timers.enable();',
  ].map((text, index) => write(`alone-${index}.test.ts`, `const a = 1;\n${text}\n`));
  const patterns = [path.join(folder, 'tests', '*.test.ts')];
  const groups = groupFiles(patterns, [long], folder);
  assert.deepEqual(groups, groups.toSorted(), 'the test runner sorts them');
  assert.deepEqual(
    groups.map((group) => [...readFileSync(group, 'utf8').matchAll(/^import "(.+)";$/gm)].map(([, file]) => file)),
    [[long], ...alone.map((file) => [file]), pure.slice(0, 24), pure.slice(24)],
  );
  assert.throws(() => groupFiles(patterns, ['gone.test.ts'], folder), /no test files: gone\.test\.ts/);
});
