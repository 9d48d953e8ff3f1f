// Holds the code to its direction of knowledge: which folder may import which, that folders meet only at their doors,
// that time and chance come from `Env`, and that the decision core stays pure. The tables below are the rules.

import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync, Visitor } from 'oxc-parser';
import { reportViolations, type Violation } from './violation.ts';

/** What each folder of src/ may import from its siblings. Every row names only rows above it. */
export const MAY_IMPORT: ReadonlyMap<string, readonly string[]> = new Map([
  ['runtime', []],
  ['rollout', []],
  ['process', ['runtime']],
  ['kube', ['runtime']],
  ['resources', ['kube']],
  ['controller', ['runtime', 'rollout', 'kube', 'resources']],
  ['native', ['runtime', 'rollout', 'kube', 'resources', 'controller']],
  ['advanced', ['runtime', 'rollout', 'kube', 'resources', 'controller']],
  ['prefetch', ['runtime', 'rollout', 'kube', 'resources']],
  ['agent', ['runtime', 'process', 'rollout', 'kube', 'resources']],
  ['manager', ['runtime', 'process', 'rollout', 'kube', 'controller', 'native', 'advanced', 'prefetch']],
  ['sim', ['runtime', 'rollout', 'kube', 'resources']],
  [
    'cli',
    [
      'runtime',
      'rollout',
      'kube',
      'resources',
      'controller',
      'native',
      'advanced',
      'prefetch',
      'agent',
      'manager',
      'sim',
    ],
  ],
]);

/** Tests may also build their world from these, whatever the folder that they test. */
const TESTS_MAY_IMPORT: ReadonlySet<string> = new Set(['runtime', 'sim']);

/** The test kit is open to every test, at its doors. */
const TEST_KIT = /^test\/support\/(\w+\/)?index\.ts$/;

/** Folders that hold no I/O, with the packages and builtins that they may use because those do none either. */
const PURE: ReadonlyMap<string, readonly string[]> = new Map([
  ['rollout', ['kubernetes-types', 'sorted-btree', 'node:crypto', 'node:assert', 'node:assert/strict', 'node:util']],
]);

/** The one file that may ask the machine for the time, or for a turn of its event loop. */
const CLOCK = 'src/runtime/clock.ts';

/** What a plan is played with keeps to the same: one seed, one history. The commands around it may look at the clock. */
const SIMULATION = 'test/simulation/';
const SIMULATION_COMMANDS = /^test\/simulation\/(main\.ts|mutants\/)/;

const AMBIENT: ReadonlyMap<string, string> = new Map([
  ['Date.now', 'take the time from Env.clock.now()'],
  ['new Date()', 'take the time from Env.clock.now()'],
  ['Date()', 'take the time from Env.clock.now()'],
  ['performance.now', 'take the time from Env.clock.now()'],
  ['setTimeout', 'wait with Env.clock.timer() or sleep()'],
  ['setInterval', 'wait with Env.clock.timer() or sleep()'],
  ['setImmediate', 'wait with nextTurn()'],
  ['performance.timeOrigin', 'take the time from Env.clock.now()'],
  ['process.hrtime', 'take the time from Env.clock.now()'],
  ['process.uptime', 'take the time from Env.clock.now()'],
  ['Temporal.Now.instant', 'take the time from Env.clock.now()'],
  ['Temporal.Now.plainDateISO', 'take the time from Env.clock.now()'],
  ['Temporal.Now.plainDateTimeISO', 'take the time from Env.clock.now()'],
  ['Temporal.Now.plainTimeISO', 'take the time from Env.clock.now()'],
  ['Temporal.Now.zonedDateTimeISO', 'take the time from Env.clock.now()'],
  ['node:perf_hooks', 'take the time from Env.clock.now()'],
  ['AbortSignal.timeout', 'abort from Env.clock.timer()'],
  ['node:timers', 'wait with Env.clock.timer() or sleep()'],
  ['node:timers/promises', 'wait with Env.clock.timer() or sleep()'],
  ['Math.random', 'take chance from Env.random()'],
  ['crypto.randomUUID', 'take chance from Env.random()'],
  ['crypto.getRandomValues', 'take chance from Env.random()'],
  ['crypto.randomBytes', 'take chance from Env.random()'],
  ['crypto.randomInt', 'take chance from Env.random()'],
  ['crypto.randomFill', 'take chance from Env.random()'],
  ['crypto.randomFillSync', 'take chance from Env.random()'],
  ['crypto.webcrypto', 'take chance from Env.random()'],
  // When they speak is up to the collector of garbage. Nothing else goes by an object's identity: Maps, Sets and
  // properties are iterated in the order in which they were filled, and WeakMaps and WeakSets not at all.
  ['WeakRef', 'keep the object, or a key of it'],
  ['FinalizationRegistry', 'let go of it where it ends'],
]);

/** Globals that may not even be handed on. */
const NAMES: ReadonlySet<string> = new Set([
  'setTimeout',
  'setInterval',
  'setImmediate',
  'WeakRef',
  'FinalizationRegistry',
]);

/** What tests share may wait for a turn of the event loop, and ask for a fresh seed. */
const FOR_TESTS: ReadonlySet<string> = new Set(['setImmediate', 'process.hrtime']);

const packageName = (specifier: string): string => {
  if (specifier.startsWith('node:')) return specifier;
  const [scope = '', name] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
};

const isTest = (file: string): boolean => file.endsWith('.test.ts');

/** A test, or what tests share. */
const isForTests = (file: string): boolean => isTest(file) || file.includes('/testing/');

/** `src/kube/watch/stream.ts` is of folder `kube`; files outside src/ are of none. */
const folderOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1];

const judgeSibling = (file: string, target: string): string | undefined => {
  const from = folderOf(file);
  const to = folderOf(target);
  if (isForTests(file) && TEST_KIT.test(target)) return undefined;
  if (from !== undefined && target.startsWith('test/support/'))
    return `imports ${target}: the test kit is for tests only, at its door test/support/index.ts`;
  if (to === undefined || to === from) {
    return target.startsWith('src/') && to === undefined
      ? `imports ${target}: code in src/ lives in a folder`
      : undefined;
  }
  // A suite outside of src/ may test a part of a folder alone, by the part's own door.
  // What tests of a folder share has a door of its own, open to the tests of those who know the folder.
  const isDoor =
    target === `src/${to}/index.ts` ||
    (from === undefined && target.endsWith('/index.ts')) ||
    (isForTests(file) && target === `src/${to}/testing/index.ts`);
  if (!isDoor) {
    return `imports ${target}: other folders enter ${to} by its door src/${to}/index.ts only`;
  }
  if (from === undefined) return undefined;
  const allowed = MAY_IMPORT.get(from) ?? [];
  if (allowed.includes(to) || (isForTests(file) && TESTS_MAY_IMPORT.has(to))) return undefined;
  return `imports ${to}: ${from} may know ${allowed.length === 0 ? 'no other folder' : `only ${allowed.join(', ')}`}`;
};

const isPlayed = (file: string): boolean => file.startsWith(SIMULATION) && !SIMULATION_COMMANDS.test(file);

/** It may ask the machine itself. */
const readsTheMachine = (file: string): boolean =>
  isTest(file) || file === CLOCK || (folderOf(file) === undefined && !isPlayed(file));

const judgePackage = (file: string, specifier: string): string | undefined => {
  const from = folderOf(file);
  if (readsTheMachine(file) && file !== CLOCK) return undefined;
  const cure = AMBIENT.get(/^(timers|perf_hooks)/.test(specifier) ? `node:${specifier}` : specifier);
  if (cure !== undefined && file !== CLOCK) return `imports ${specifier}: ${cure}`;
  const pure = from === undefined ? undefined : PURE.get(from);
  const name = packageName(specifier);
  if (from === undefined || pure === undefined || pure.includes(name)) return undefined;
  return `imports ${name}: ${from} is pure and may use only ${pure.join(', ')}`;
};

const judgeImport = (file: string, specifier: string): string | undefined =>
  specifier.startsWith('.')
    ? judgeSibling(file, path.posix.join(path.posix.dirname(file), specifier))
    : judgePackage(file, specifier);

/** Every breach of the tables in one file; `file` is its path from the repository's root, with forward slashes. */
export const checkSource = (file: string, source: string): Violation[] => {
  const violations: Violation[] = [];
  const add = (offset: number, message: string | undefined): void => {
    if (message !== undefined) violations.push({ file, line: source.slice(0, offset).split('\n').length, message });
  };
  const { program, errors } = parseSync(file, source);
  if (errors[0]) {
    add(errors[0].labels[0]?.start ?? 0, `cannot be parsed: ${errors[0].message}`);
    return violations;
  }
  const folder = folderOf(file);
  if (folder !== undefined && !MAY_IMPORT.has(folder)) {
    add(0, `src/${folder} has no row in MAY_IMPORT of scripts/check-imports.ts: say there what it may know`);
  }
  const mayAsk = readsTheMachine(file);
  /** Names of properties and parameters are not those of globals. */
  const own = new Set<number>();
  const ambient = (offset: number, name: string): void => {
    const cure = mayAsk || (isForTests(file) && FOR_TESTS.has(name)) ? undefined : AMBIENT.get(name);
    if (cure !== undefined) add(offset, `uses ${name}: ${cure}`);
  };
  const imported = (offset: number, specifier: string): void => add(offset, judgeImport(file, specifier));

  new Visitor({
    ImportDeclaration: (node) => {
      imported(node.start, node.source.value);
      if (node.source.value !== 'node:crypto') return;
      for (const specifier of node.specifiers) {
        const name = specifier.type === 'ImportSpecifier' && specifier.imported;
        if (name && name.type === 'Identifier') ambient(specifier.start, `crypto.${name.name}`);
      }
    },
    ExportAllDeclaration: (node) => imported(node.start, node.source.value),
    ExportNamedDeclaration: (node) => {
      if (node.source) imported(node.start, node.source.value);
    },
    TSImportType: (node) => imported(node.start, node.source.value),
    ImportExpression: (node) => {
      if (node.source.type === 'Literal' && typeof node.source.value === 'string') {
        imported(node.start, node.source.value);
      } else if (folder !== undefined) {
        add(node.start, 'imports a computed path: its direction cannot be checked');
      }
    },
    Property: (node) => {
      if (node.key.type === 'Identifier' && !node.computed && !node.shorthand) own.add(node.key.start);
    },
    MethodDefinition: (node) => void own.add(node.key.start),
    PropertyDefinition: (node) => void own.add(node.key.start),
    TSPropertySignature: (node) => void own.add(node.key.start),
    TSMethodSignature: (node) => void own.add(node.key.start),
    ImportSpecifier: (node) => {
      own.add(node.imported.start);
      own.add(node.local.start);
    },
    MemberExpression: (node) => {
      if (node.property.type !== 'Identifier' || node.computed) return;
      const { name } = node.property;
      own.add(node.property.start);
      const owner = source.slice(node.object.start, node.object.end);
      if (/^[\w.]+$/.test(owner)) ambient(node.start, owner === 'globalThis' ? name : `${owner}.${name}`);
    },
    Identifier: (node) => {
      if (NAMES.has(node.name) && !own.has(node.start)) ambient(node.start, node.name);
    },
    CallExpression: (node) => {
      if (node.callee.type === 'Identifier' && node.callee.name === 'Date') ambient(node.start, 'Date()');
    },
    NewExpression: (node) => {
      const isDate = node.callee.type === 'Identifier' && node.callee.name === 'Date';
      if (isDate && node.arguments.length === 0) ambient(node.start, 'new Date()');
    },
  }).visit(program);
  return violations;
};

if (import.meta.main) {
  const files = globSync('{src,bin,test,bench}/**/*.ts').map((file) => file.split(path.sep).join('/'));
  reportViolations(files.toSorted().flatMap((file) => checkSource(file, readFileSync(file, 'utf8'))));
}
