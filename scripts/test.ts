// Runs a suite with node's test runner and closes with what failed, and one line of its totals:
//   scripts/test.ts unit|cluster|embedded|browser [options of node --test] [files instead of the whole suite]

import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { runChecks } from './checks.ts';
import type { Totals } from './totals.ts';

interface Suite {
  files: readonly string[];
  /** Test files that run at the same time. */
  concurrency: number;
  /** Conformance cases of a file that run at the same time, unless EDGESET_TEST_CASES says so. Default 6. */
  cases?: number;
  checks: boolean;
}

const cores = availableParallelism();
const half = Math.max(1, Math.floor(cores / 2));

const SUITES: Readonly<Record<string, Suite>> = {
  unit: {
    files: [
      'src/**/*.test.ts',
      'scripts/**/*.test.ts',
      'web/**/*.test.ts',
      'test/{agent,deploy}/**/*.test.ts',
      'test/sim/{advanced,advanced-api,advanced-pods,agent,conformance,determinism,oracle,plugin}.test.ts',
      'test/simulation/**/*.test.ts',
    ],
    concurrency: cores,
    checks: true,
  },
  cluster: {
    files: [
      'test/cluster/**/*.test.ts',
      'test/chaos/**/*.test.ts',
      'test/conformance/**/*.test.ts',
      'test/containerd/**/*.test.ts',
      'test/sim/*-parity.test.ts',
    ],
    concurrency: cores,
    // They wait for most of their time.
    cases: 9,
    checks: false,
  },
  // The cases of the cluster tier on the embedded one; the unit suite has a selection of them.
  embedded: { files: ['test/sim/full/**/*.test.ts'], concurrency: half, checks: false },
  browser: {
    files: ['test/browser/**/*.test.ts'],
    // A Chromium a file.
    concurrency: half,
    checks: false,
  },
};

const isTotals = (value: unknown): value is Totals =>
  typeof value === 'object' &&
  value !== null &&
  'passed' in value &&
  'failed' in value &&
  'skipped' in value &&
  'failures' in value;

/** The runner's totals, or none when it ended before it had any. */
const readTotals = (file: string): Totals | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isTotals(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

const runTests = (suite: Suite, args: readonly string[], scratch: string, totalsFile: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const options = args.filter((arg) => arg.startsWith('-'));
    const files = args.filter((arg) => !arg.startsWith('-'));
    const child = spawn(
      process.execPath,
      [
        '--test',
        `--test-concurrency=${suite.concurrency}`,
        '--test-reporter=spec',
        '--test-reporter-destination=stdout',
        '--test-reporter=./scripts/totals.ts',
        `--test-reporter-destination=${totalsFile}`,
        ...options,
        ...(files.length > 0 ? files : suite.files),
      ],
      {
        stdio: 'inherit',
        env: {
          EDGESET_TEST_CASES: String(suite.cases ?? 6),
          // Hundreds of processes, those under test among them, load the same modules.
          NODE_COMPILE_CACHE: path.join(scratch, 'compiled'),
          // The programs of the control plane, and kubectl: memory is there, cores are not.
          GOGC: '400',
          ...process.env,
        },
      },
    );
    for (const signal of STOP_SIGNALS) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code) => resolve(code ?? 1));
  });

const main = async (name: string, args: readonly string[]): Promise<number> => {
  const suite = SUITES[name];
  if (!suite) {
    console.error(`no suite "${name}": name one of ${Object.keys(SUITES).join(', ')}`);
    return 2;
  }
  const failedChecks = suite.checks ? runChecks() : [];
  const scratch = mkdtempSync(path.join(tmpdir(), 'edgeset-test-'));
  try {
    const totalsFile = path.join(scratch, 'totals.json');
    const code = await runTests(suite, args, scratch, totalsFile);
    const totals = readTotals(totalsFile);
    const outcome = totals
      ? `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`
      : 'the runner ended without totals';
    for (const failure of totals?.failures ?? []) console.log(`failed: ${failure}`);
    const checks = failedChecks.length > 0 ? `; checks failed: ${failedChecks.join(' ')}` : '';
    console.log(`${name}: ${outcome}${checks}`);
    const ran = totals !== undefined && totals.passed + totals.failed > 0;
    return code === 0 && failedChecks.length === 0 && ran ? 0 : code || 1;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
};

const [name = '', ...args] = process.argv.slice(2);
process.exitCode = await main(name, args);
