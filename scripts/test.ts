// Runs a suite with Node's test runner; the whole unit suite after the static checks:
//   scripts/test.ts unit|cluster|embedded|browser|package|nodes [options of node --test] [files instead of the whole suite]

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { groupFiles } from './group-files.ts';

interface Suite {
  files: readonly string[];
  /** Processes that run test files at the same time. */
  concurrency: number;
  /** Most files share a process with their neighbors. These take longest: they start first, each in its own process. */
  longest?: readonly string[];
  /** Conformance cases of a file that run at the same time, unless EDGESET_TEST_CASES is set. Default 6. */
  cases?: number;
}

const cores = availableParallelism();
const half = Math.max(1, Math.floor(cores / 2));

const SUITES: Readonly<Record<string, Suite>> = {
  unit: {
    files: [
      '{src,embedded}/**/*.test.ts',
      'scripts/**/*.test.ts',
      'web/**/*.test.ts',
      'bench/**/*.test.ts',
      'test/{agent,as-shipped,deploy,hostile-text}/**/*.test.ts',
      'test/embedded/{advanced,advanced-api,advanced-pods,agent,conformance,determinism,guides,oracle,plans,plugin}.test.ts',
      'test/{invariants,simulation,stories}/**/*.test.ts',
    ],
    // The longest wait for clusters on a real clock most of the time.
    concurrency: 2 * cores,
    longest: [
      'test/simulation/known/known.test.ts',
      'test/embedded/conformance.test.ts',
      'src/cli/demo/run.test.ts',
      'test/embedded/guides.test.ts',
      'test/embedded/advanced.test.ts',
      'test/stories/stories.test.ts',
      'src/agent/agent.test.ts',
      'test/agent/hostile/hostile.test.ts',
      'test/hostile-text/index.test.ts',
      'test/embedded/plugin.test.ts',
      'test/embedded/agent.test.ts',
      'src/cli/plugin/wait.test.ts',
      'src/cli/manager.test.ts',
      'test/simulation/same-history.test.ts',
      'scripts/bundle.test.ts',
    ],
  },
  cluster: {
    files: [
      'test/cluster/**/*.test.ts',
      'test/chaos/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/images/**/*.test.ts',
      'test/embedded/*-parity.test.ts',
    ],
    concurrency: cores,
    // With more of them the machine is busy all the time, which makes each slower and the whole no faster.
    cases: 5,
  },
  // The cases of the cluster tier on the embedded cluster; the unit suite has a selection of them.
  embedded: { files: ['test/embedded/full/**/*.test.ts'], concurrency: half },
  // The package of npm, installed and run outside of the checkout.
  package: { files: ['test/package/**/*.test.ts'], concurrency: half },
  // One Chromium a file.
  browser: { files: ['test/browser/**/*.test.ts'], concurrency: half },
  // By test/nodes/run.ts, which gives it namespaces of its own.
  nodes: { files: ['test/nodes/**/*.test.ts'], concurrency: 1 },
};

const [name = '', ...args] = process.argv.slice(2);
const suite = SUITES[name];
if (!suite) {
  console.error(`no suite "${name}": name one of ${Object.keys(SUITES).join(', ')}`);
  process.exit(2);
}
const options = args.filter((arg) => arg.startsWith('-'));
const files = args.filter((arg) => !arg.startsWith('-'));
const isWhole = files.length === 0;
if (name === 'unit' && isWhole) {
  const { status } = spawnSync('npm', ['run', 'check'], { stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) process.exit(status ?? 1);
}
const scratch = mkdtempSync(path.join(tmpdir(), 'edgeset-suite-'));
// Dozens of files start the programs as they are shipped, and each would build its own. To load what builds them takes a second.
const programs = isWhole && (await (await import('./bundle.ts')).buildPrograms(scratch)) && scratch;
const ofSuite = suite.longest ? groupFiles(suite.files, suite.longest, scratch) : suite.files;
const { status } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${suite.concurrency}`,
    '--test-reporter=spec',
    ...options,
    ...(isWhole ? ofSuite : files),
  ],
  {
    stdio: 'inherit',
    env: {
      EDGESET_TEST_CASES: String(suite.cases ?? 6),
      // Hundreds of processes load the same modules, including the processes under test.
      NODE_COMPILE_CACHE: path.join(tmpdir(), 'edgeset-compile-cache'),
      // For the programs of the control plane and kubectl: trade memory for CPU.
      GOGC: '400',
      ...(programs && { EDGESET_PROGRAMS: programs }),
      ...process.env,
    },
  },
);
rmSync(scratch, { recursive: true });
process.exitCode = status ?? 1;
