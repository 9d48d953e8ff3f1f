import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSource, MAY_IMPORT } from './check-imports.ts';

const messages = (file: string, source: string): string[] =>
  checkSource(file, source).map(({ line, message }) => `${line}: ${message}`);

test('every row of the table names only rows above it, so no cycle can be written', () => {
  const above = new Set<string>();
  for (const [folder, allowed] of MAY_IMPORT) {
    for (const target of allowed) assert.ok(above.has(target), `${folder} names ${target}, which is not above it`);
    above.add(folder);
  }
});

test('no folder but cli knows a process', () => {
  for (const [folder, allowed] of MAY_IMPORT) {
    if (folder === 'cli') continue;
    assert.deepEqual(
      allowed.filter((target) => ['manager', 'agent', 'cli'].includes(target)),
      [],
      folder,
    );
  }
});

test('an import down the order and through the door passes', () => {
  assert.deepEqual(messages('src/native/a.ts', "import { b } from '../kube/index.ts';\nimport c from './c.ts';"), []);
  assert.deepEqual(messages('bin/edgeset.ts', "import { main } from '../src/cli/index.ts';"), []);
});

test('an import up the order is a violation in every syntax, with the line of the import', () => {
  const expected = 'imports native: kube may know only runtime';
  for (const source of [
    "\nimport { x } from '../native/index.ts';",
    "\nimport type { X } from '../native/index.ts';",
    "\nimport '../native/index.ts';",
    "\nexport { x } from '../native/index.ts';",
    "\nexport * from '../native/index.ts';",
    "\nexport type X = import('../native/index.ts').X;",
    "\nconst x = await import('../native/index.ts');",
  ]) {
    assert.deepEqual(messages('src/kube/a.ts', source), [`2: ${expected}`], source);
  }
});

test('a folder is entered by its door only, also by tests and benchmarks', () => {
  for (const file of ['src/native/a.ts', 'src/native/a.test.ts']) {
    assert.deepEqual(messages(file, "import { x } from '../kube/store.ts';"), [
      '1: imports src/kube/store.ts: other folders enter kube by its door src/kube/index.ts only',
    ]);
  }
  assert.equal(messages('bench/a.ts', "import { x } from '../src/kube/store.ts';").length, 1);
  assert.deepEqual(messages('test/x/a.ts', "import { x } from '../../src/agent/images/index.ts';"), []);
  assert.equal(messages('src/cli/a.ts', "import { x } from '../agent/images/index.ts';").length, 1);
  assert.deepEqual(messages('src/kube/watch/a.ts', "import { x } from '../store.ts';"), []);
});

test("what a folder's tests share is open to tests alone, and in the order of knowledge", () => {
  const source = "import { x } from '../controller/testing/index.ts';";
  assert.deepEqual(messages('src/native/a.test.ts', source), []);
  assert.equal(messages('src/native/a.ts', source).length, 1);
  assert.equal(messages('src/kube/a.test.ts', source).length, 1);
});

test('a new folder needs a row in the table', () => {
  assert.match(messages('src/rings/a.ts', '')[0] ?? '', /no row in MAY_IMPORT/);
});

test('a computed import cannot be checked and is refused', () => {
  assert.match(messages('src/kube/a.ts', 'const x = await import(name);')[0] ?? '', /computed path/);
});

test('tests may use the embedded cluster and the runtime, whatever they test', () => {
  const source = "import { a } from '../sim/index.ts';\nimport { b } from '../runtime/index.ts';";
  assert.deepEqual(messages('src/rollout/a.test.ts', source), []);
  assert.deepEqual(messages('src/rollout/testing/world.ts', source), []);
  assert.equal(messages('src/rollout/a.ts', source).length, 2);
});

test('the decision core uses no builtin and no package that could do I/O', () => {
  for (const name of ['node:fs', 'node:fs/promises', 'node:net', 'node:child_process', 'fs', 'undici', '@x/y']) {
    const [first = ''] = messages('src/rollout/a.ts', `import { x } from '${name}';`);
    assert.ok(first.startsWith(`1: imports ${name}: rollout is pure`), first);
  }
  assert.deepEqual(messages('src/rollout/a.ts', "import type { Pod } from 'kubernetes-types/core/v1.d.ts';"), []);
  assert.deepEqual(messages('src/rollout/a.ts', "import { createHash } from 'node:crypto';"), []);
  assert.deepEqual(messages('src/rollout/a.test.ts', "import { test } from 'node:test';"), []);
});

test('time and chance come from Env everywhere but in the clock itself', () => {
  for (const use of [
    'Date.now()',
    'const f = { now: Date.now };',
    'new Date()',
    'Date()',
    'performance.now()',
    'setTimeout(f, 1)',
    'globalThis.setTimeout(f, 1)',
    'setInterval(f, 1)',
    'setImmediate(f)',
    'const later = setTimeout;',
    'process.hrtime()',
    'process.hrtime.bigint()',
    'Temporal.Now.instant()',
    "import { performance } from 'node:perf_hooks';",
    'new WeakRef(object)',
    'new FinalizationRegistry(f)',
    'AbortSignal.timeout(1)',
    'Math.random()',
    'crypto.randomUUID()',
    "import { createHash, randomUUID } from 'node:crypto';",
    "import { setTimeout } from 'node:timers/promises';",
  ]) {
    assert.equal(messages('src/kube/a.ts', use).length, 1, use);
    assert.deepEqual(messages('src/runtime/clock.ts', use), [], use);
    assert.deepEqual(messages('src/kube/a.test.ts', use), [], use);
    assert.equal(messages('test/simulation/checker/a.ts', use).length, 1, use);
    assert.deepEqual(messages('test/simulation/main.ts', use), [], use);
    assert.deepEqual(messages('test/cluster/a.ts', use), [], use);
  }
});

test('what tests share may wait for a turn of the event loop', () => {
  assert.deepEqual(messages('src/kube/testing/a.ts', 'setImmediate(f)'), []);
  assert.equal(messages('src/kube/testing/a.ts', 'setTimeout(f)').length, 1);
});

test('what only looks like the machine clock passes', () => {
  for (const use of [
    'new Date(ms)',
    'clock.now()',
    'store.setTimeout(1)',
    'const own = { setTimeout: f };',
    'interface Own { setTimeout(): void }',
    'Temporal.Now.timeZoneId()',
    '// Date.now()',
    'const s = "Math.random()"',
  ]) {
    assert.deepEqual(messages('src/kube/a.ts', use), [], use);
  }
});

test('a file that does not parse is a violation, not a pass', () => {
  assert.match(messages('src/kube/a.ts', 'const = ;')[0] ?? '', /cannot be parsed/);
});

test('the test kit is open to tests only, and at its doors', () => {
  const door = "import { eventually } from '../../test/support/index.ts';";
  assert.deepEqual(messages('src/kube/a.test.ts', door), []);
  assert.deepEqual(messages('src/kube/testing/a.ts', door.replace("'../", "'../../")), []);
  assert.equal(messages('src/kube/a.test.ts', door.replace('index', 'eventually')).length, 1);
  assert.deepEqual(messages('src/kube/a.test.ts', door.replace('index', 'api/index')), []);
});
