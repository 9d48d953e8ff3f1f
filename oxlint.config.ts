// The linter's configuration, and with it the direction of knowledge: which folder of src/ may import which.

import { builtinModules } from 'node:module';
import { defineConfig, type OxlintOverride } from 'oxlint';
import manifest from './package.json' with { type: 'json' };

/** What each folder of src/ may import from the others, by their `index.ts` only. Every row names only rows above it. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  text: [],
  runtime: [],
  words: ['text'],
  rollout: ['text', 'words'],
  process: ['runtime'],
  http: ['runtime'],
  kube: ['text', 'runtime'],
  leading: ['runtime', 'process', 'kube'],
  checks: ['runtime', 'http', 'words', 'rollout', 'kube'],
  controller: ['runtime', 'words', 'rollout', 'kube', 'checks'],
  'kinds/native': ['text', 'runtime', 'words', 'rollout', 'kube', 'controller'],
  'kinds/advanced': ['text', 'runtime', 'words', 'rollout', 'kube', 'controller'],
  prefetch: ['runtime', 'words', 'rollout', 'kube'],
  notify: ['text', 'runtime', 'http', 'words', 'rollout', 'kube', 'controller'],
  agent: ['runtime', 'process', 'http', 'words', 'rollout', 'kube'],
  manager: [
    'runtime',
    'process',
    'words',
    'rollout',
    'kube',
    'leading',
    'checks',
    'controller',
    'kinds/native',
    'kinds/advanced',
    'prefetch',
    'notify',
  ],
  reach: ['runtime', 'process', 'words', 'rollout', 'kube', 'leading'],
  view: ['text', 'runtime', 'process', 'words', 'rollout', 'kube', 'controller', 'kinds/native', 'kinds/advanced'],
  commands: ['text', 'runtime', 'words', 'rollout', 'kube', 'controller', 'view'],
  dashboard: ['text', 'runtime', 'process', 'http', 'words', 'rollout', 'kube', 'controller', 'view', 'commands'],
  cli: [
    'text',
    'runtime',
    'process',
    'words',
    'rollout',
    'kube',
    'controller',
    'kinds/native',
    'kinds/advanced',
    'view',
    'prefetch',
    'agent',
    'manager',
    'reach',
    'commands',
    'dashboard',
  ],
};

/**
 * What each room of a folder may import of its other rooms, types included. The files beside the rooms are for all: they import
 * none.
 */
const ROOMS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  rollout: {
    facts: [],
    policy: ['facts'],
    plan: ['facts', 'policy'],
    node: ['facts', 'policy', 'plan'],
    fleet: ['facts', 'policy', 'plan', 'node'],
    decision: ['facts', 'policy', 'plan', 'node', 'fleet'],
    report: ['facts', 'policy', 'plan', 'node', 'fleet', 'decision'],
  },
  controller: {
    events: [],
    status: ['events'],
    writes: ['events', 'status'],
    watches: ['status'],
    loop: ['events', 'status', 'writes', 'watches'],
  },
};

const FOLDERS = Object.keys(MAY_IMPORT);
const CLOCK = 'src/runtime/clock.ts';
const TESTS = ['{src,embedded}/**/*.test.ts', '{src,embedded}/**/testing/**'];

interface Pattern {
  regex?: string;
  group?: string[];
  message: string;
}

const notShipped: Pattern = {
  regex: String.raw`^(\.\./)+(test|bench|scripts|web)/`,
  message: 'The product does not import what is not shipped.',
};

/** The embedded cluster is a tool of `edgeset cluster`, of the demo and of tests. */
const noEmbedded: Pattern = {
  regex: String.raw`^(\.\./)+embedded/`,
  message: 'Only `edgeset cluster` and the demo start an embedded cluster.',
};
const embeddedDoor: Pattern = {
  regex: String.raw`^(\.\./)+embedded/(?!index\.ts$)`,
  message: 'Enter embedded by its index.ts.',
};
const USE_EMBEDDED = ['src/cli/cluster/**', 'src/cli/demo/**'];
/** What the embedded cluster uses of the product. */
const EMBEDDED_MAY_IMPORT = ['runtime', 'words', 'rollout', 'kube'];

/** A folder is entered by its `index.ts`, and by a test also by the `index.ts` of its `testing` folder. */
const doors = (folders: readonly string[], ...open: string[]): Pattern[] =>
  folders.map((folder) => ({
    group: [`../**/${folder}/**`, ...['index.ts', ...open].map((file) => `!../**/${folder}/${file}`)],
    message: `Enter ${folder} by its index.ts.`,
  }));

const layers = (folder: string, allowed = MAY_IMPORT[folder] ?? []): Pattern[] => {
  const forbidden = FOLDERS.filter((name) => name !== folder && !allowed.includes(name));
  return [
    {
      regex: String.raw`^(\.\./)+(src/)?(${forbidden.join('|')})/`,
      message: `src/${folder} may import only ${allowed.join(', ') || 'packages'}: see oxlint.config.ts.`,
    },
    ...doors(allowed),
    notShipped,
  ];
};

/** `prefix`: from the importing file to its folder. */
const otherRooms = (folder: string, prefix: string, allowed: readonly string[]): Pattern => {
  const forbidden = Object.keys(ROOMS[folder] ?? {}).filter((room) => !allowed.includes(room));
  return {
    regex: `^${prefix}(${forbidden.join('|')})/`,
    message: `Here, of the rooms of src/${folder}, may be imported ${allowed.join(', ') || 'none'}: see oxlint.config.ts.`,
  };
};

/** Modules that these folders must not import: the decision core does no I/O. */
const PURE = ['words', 'rollout'];
const impure = [
  ...builtinModules
    .map((name) => (name.startsWith('node:') ? name : `node:${name}`))
    .filter((name) => !/^node:(crypto|assert|assert\/strict|util)$/.test(name)),
  ...Object.keys(manifest.devDependencies).filter((name) => name !== 'sorted-btree'),
].map((name) => ({ name, message: 'The core is pure: no I/O, no clock, no randomness.' }));

const fromClock = 'Take the time from Env.clock, and wait with Env.clock.timer() or sleep().';
const fromEnv = 'Take random numbers from Env.random().';
/** Everywhere, and again where `ambient` configures the same rule: an override replaces it. */
const anySignals = {
  object: 'AbortSignal',
  property: 'any',
  message:
    'Node keeps its signals alive until they abort: take anySignal or linkedController of src/runtime/signals.ts.',
};
const IDENTITY = 'The garbage collector decides when it acts; keep the object, or a key of it.';
const WAITING = ['setTimeout', 'setInterval'];

/** Time and chance come from `Env`, so that a run on virtual time repeats. */
const ambient = ({ mayYield }: { mayYield: boolean }): NonNullable<OxlintOverride['rules']> => {
  const waiting = mayYield ? WAITING : [...WAITING, 'setImmediate'];
  const collected = ['WeakRef', 'FinalizationRegistry'];
  const time = [
    { object: 'Date', property: 'now' },
    { object: 'performance', property: 'now' },
    { object: 'performance', property: 'timeOrigin' },
    { object: 'process', property: 'uptime' },
    ...(mayYield ? [] : [{ object: 'process', property: 'hrtime' }]),
    { object: 'Temporal', property: 'Now' },
    { object: 'AbortSignal', property: 'timeout' },
    ...waiting.map((property) => ({ object: 'globalThis', property })),
  ];
  const chance = [
    { object: 'Math', property: 'random' },
    ...['randomUUID', 'getRandomValues', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'webcrypto'].map(
      (property) => ({ object: 'crypto', property }),
    ),
  ];
  return {
    'no-restricted-globals': [
      'error',
      ...waiting.map((name) => ({ name, message: fromClock })),
      ...collected.map((name) => ({ name, message: IDENTITY })),
    ],
    'no-restricted-properties': [
      'error',
      ...time.map((each) => ({ ...each, message: fromClock })),
      ...chance.map((each) => ({ ...each, message: fromEnv })),
      anySignals,
    ],
  };
};

const ambientModules = [
  ...['timers', 'timers/promises', 'perf_hooks', 'node:timers', 'node:timers/promises', 'node:perf_hooks'].map(
    (name) => ({ name, message: fromClock }),
  ),
  {
    name: 'node:crypto',
    importNames: [
      'randomUUID',
      'getRandomValues',
      'randomBytes',
      'randomInt',
      'randomFill',
      'randomFillSync',
      'webcrypto',
    ],
    message: fromEnv,
  },
];

const product = (folder: string, files = `src/${folder}/**`, rooms: Pattern[] = []): OxlintOverride => ({
  files: [files],
  excludeFiles: [...TESTS, ...(rooms.length > 0 ? [`src/${folder}/index.ts`] : [])],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: [...ambientModules, ...(PURE.includes(folder) ? impure : [])],
        patterns: [...layers(folder), noEmbedded, ...rooms],
      },
    ],
    ...ambient({ mayYield: false }),
  },
});

export default defineConfig({
  plugins: ['typescript', 'import', 'unicorn', 'promise', 'node'],
  jsPlugins: ['./scripts/linear-patterns.ts'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  options: { typeAware: true },
  ignorePatterns: ['dist'],
  rules: {
    // No `any` enters, and an `any` from a library does not spread.
    'typescript/no-explicit-any': 'error',
    'typescript/no-unsafe-argument': 'error',
    'typescript/no-unsafe-assignment': 'error',
    'typescript/no-unsafe-call': 'error',
    'typescript/no-unsafe-member-access': 'error',
    'typescript/no-unsafe-return': 'error',
    'typescript/ban-ts-comment': 'error',
    'typescript/no-non-null-assertion': 'error',

    // Every promise is awaited or explicitly dropped; everything thrown is an Error.
    'typescript/no-floating-promises': [
      'error',
      // node:test runs its tests and reports their failures whether or not their promise is awaited.
      {
        allowForKnownSafeCalls: [{ from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] }],
      },
    ],
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    // The reason of an AbortSignal has the type `any` and is passed on unchanged.
    'typescript/only-throw-error': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
    'typescript/prefer-promise-reject-errors': ['error', { allowThrowingAny: true, allowThrowingUnknown: true }],
    'typescript/switch-exhaustiveness-check': 'error',
    'typescript/no-deprecated': 'error',
    'eslint/eqeqeq': ['error', 'always', { null: 'ignore' }],

    // Modules: named exports, types imported as types, no cycles, types included, no mutable exports.
    'typescript/consistent-type-imports': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-duplicates': 'error',
    'import/no-mutable-exports': 'error',
    'import/no-self-import': 'error',

    'no-restricted-properties': ['error', anySignals],

    // A file that takes more than one sitting to read holds more than one idea. Tests as well.
    'eslint/max-lines': ['error', { max: 400 }],
    'eslint/no-warning-comments': 'error',

    // Off: a helper beside its only user reads better than one moved to the top of the file.
    'unicorn/consistent-function-scoping': 'off',
    // Off: retries, ordered writes and polling are sequential on purpose.
    'eslint/no-await-in-loop': 'off',
    // Off: it does not see that a callback or another method ends the loop, as a stop signal does.
    'eslint/no-unmodified-loop-condition': 'off',
    // Off: for the three names of a constant list a Set is neither faster than an array nor clearer.
    'unicorn/prefer-set-has': 'off',
    // Off: tsc's noImplicitReturns does it, and knows when a switch over a union is exhaustive.
    'typescript/consistent-return': 'off',
    // Off: an assertion in one place narrows what an API server sends; untrusted input goes through zod.
    'typescript/no-unsafe-type-assertion': 'off',
  },
  overrides: [
    ...FOLDERS.map((folder) => product(folder)),
    ...Object.entries(ROOMS).flatMap(([folder, rooms]) => [
      product(folder, `src/${folder}/*.ts`, [otherRooms(folder, String.raw`\./`, [])]),
      ...Object.entries(rooms).map(([room, allowed]) =>
        product(folder, `src/${folder}/${room}/**`, [otherRooms(folder, String.raw`\.\./`, allowed)]),
      ),
    ]),
    {
      files: USE_EMBEDDED,
      excludeFiles: TESTS,
      rules: {
        'no-restricted-imports': ['error', { paths: ambientModules, patterns: [...layers('cli'), embeddedDoor] }],
      },
    },
    {
      files: ['embedded/**'],
      excludeFiles: TESTS,
      rules: {
        'no-restricted-imports': [
          'error',
          { paths: ambientModules, patterns: layers('embedded', EMBEDDED_MAY_IMPORT) },
        ],
        ...ambient({ mayYield: false }),
      },
    },
    {
      // Text of others reaches what is shipped. Tests choose their own.
      files: ['src/**', 'embedded/**', 'web/**'],
      excludeFiles: [...TESTS, 'web/**/*.test.ts', 'web/page.ts'],
      rules: { 'linear/patterns': 'error' },
    },
    {
      // Tests may import every folder.
      files: TESTS,
      rules: { 'no-restricted-imports': ['error', { patterns: doors(FOLDERS, 'testing/index.ts') }] },
    },
    {
      // Suites outside of src/ may test a part of a folder alone, by the part's own index.ts.
      files: ['test/**', 'bench/**'],
      rules: {
        'no-restricted-imports': [
          'error',
          {
            patterns: [
              { group: ['../**/src/**', '!../**/src/**/index.ts'], message: 'Enter a folder by its index.ts.' },
            ],
          },
        ],
      },
    },
    {
      // It calls every parser alone, also those that are private to their folder.
      files: ['test/hostile-text/**'],
      rules: { 'no-restricted-imports': 'off' },
    },
    {
      // What tests share, and what a plan of the simulation runs, repeats as well.
      files: ['{src,embedded}/**/testing/**', 'test/simulation/**', 'test/judge/**'],
      excludeFiles: ['**/*.test.ts', 'test/simulation/main.ts', 'test/simulation/mutants/**'],
      rules: ambient({ mayYield: true }),
    },
    {
      // The one file that may ask the machine for the time.
      files: [CLOCK],
      rules: {
        'no-restricted-globals': 'off',
        'no-restricted-properties': ['error', anySignals],
        'no-restricted-imports': ['error', { patterns: layers('runtime') }],
      },
    },
    {
      // A server's log is structured and passed in. The command line's output is its product.
      files: ['{src,embedded}/**/*.ts'],
      excludeFiles: ['src/cli/**', '{src,embedded}/**/*.test.ts'],
      rules: { 'eslint/no-console': 'error' },
    },
    {
      // A fixture that lacks an element fails its test with a stack trace, which is enough.
      files: ['**/*.test.ts'],
      rules: { 'typescript/no-non-null-assertion': 'off' },
    },
    {
      // Their hosts ask for a default export.
      files: ['**/*.config.ts', 'scripts/site/vitepress/.vitepress/config.mjs'],
      rules: { 'import/no-default-export': 'off' },
    },
    {
      // Plain JavaScript, because it runs before anything is installed.
      files: ['scripts/*.mjs'],
      rules: {
        'typescript/no-unsafe-argument': 'off',
        'typescript/no-unsafe-assignment': 'off',
        'typescript/no-unsafe-call': 'off',
        'typescript/no-unsafe-member-access': 'off',
        'typescript/no-unsafe-return': 'off',
      },
    },
  ],
});
