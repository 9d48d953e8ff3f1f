// Runs a suite with node's test runner and closes with one line of its totals:
//   scripts/test.ts unit|cluster|browser [options of node --test] [files instead of the whole suite]

import { spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { runChecks } from './checks.ts';
import type { Totals } from './totals.ts';

interface Suite {
  /** Run side by side, each by a runner of its own. */
  lanes: readonly Lane[];
  checks: boolean;
}

interface Lane {
  files: readonly string[];
  /** Test files that run at the same time. */
  concurrency: number;
}

const cores = availableParallelism();
const half = Math.max(1, Math.floor(cores / 2));

const SUITES: Readonly<Record<string, Suite>> = {
  unit: {
    lanes: [
      {
        files: [
          'src/**/*.test.ts',
          'scripts/**/*.test.ts',
          'web/**/*.test.ts',
          'test/agent/**/*.test.ts',
          'test/sim/{advanced,advanced-api,advanced-pods,agent,conformance,determinism,oracle,plugin}.test.ts',
        ],
        concurrency: cores,
      },
    ],
    checks: true,
  },
  cluster: {
    lanes: [
      // A file brings its own API server, controller manager and etcd: one at a time on two cores.
      {
        files: ['test/cluster/**/*.test.ts', 'test/containerd/**/*.test.ts', 'test/sim/*-parity.test.ts'],
        concurrency: half,
      },
      // The same cases on the embedded cluster wait for most of their time, and fit beside.
      { files: ['test/sim/full/**/*.test.ts', 'test/conformance/**/*.test.ts'], concurrency: half },
    ],
    checks: false,
  },
  browser: {
    // A Chromium a file.
    lanes: [{ files: ['test/browser/**/*.test.ts'], concurrency: half }],
    checks: false,
  },
};

const isTotals = (value: unknown): value is Totals =>
  typeof value === 'object' && value !== null && 'passed' in value && 'failed' in value && 'skipped' in value;

/** The runner's totals, or none when it ended before it had any. */
const readTotals = (file: string): Totals | undefined => {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isTotals(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

interface LaneEnd {
  code: number;
  totals: Totals | undefined;
  /** What has not been printed yet. */
  said: string;
}

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** The first lane speaks at once, the others when they have ended: mixed, nobody could read them. */
const runLane = (lane: Lane, options: readonly string[], scratch: string, number: number): Promise<LaneEnd> =>
  new Promise((resolve, reject) => {
    const totalsFile = path.join(scratch, `totals-${number}.json`);
    const outputFile = path.join(scratch, `output-${number}`);
    const output = number === 0 ? 'inherit' : openSync(outputFile, 'w');
    const child = spawn(
      process.execPath,
      [
        '--test',
        `--test-concurrency=${lane.concurrency}`,
        '--test-reporter=spec',
        '--test-reporter-destination=stdout',
        '--test-reporter=./scripts/totals.ts',
        `--test-reporter-destination=${totalsFile}`,
        ...options,
        ...lane.files,
      ],
      { stdio: ['inherit', output, output] },
    );
    for (const signal of STOP_SIGNALS) process.on(signal, () => child.kill(signal));
    child.on('error', reject);
    child.on('exit', (code) => {
      const said = number === 0 ? '' : readFileSync(outputFile, 'utf8');
      if (output !== 'inherit') closeSync(output);
      resolve({ code: code ?? 1, totals: readTotals(totalsFile), said });
    });
  });

const NOTHING: Totals = { passed: 0, failed: 0, skipped: 0 };

/** Undefined when a lane ended without totals. */
const sumOf = (ends: readonly LaneEnd[]): Totals | undefined =>
  ends.reduce<Totals | undefined>(
    (sum, { totals }) =>
      sum &&
      totals && {
        passed: sum.passed + totals.passed,
        failed: sum.failed + totals.failed,
        skipped: sum.skipped + totals.skipped,
      },
    NOTHING,
  );

const lanesOf = (suite: Suite, files: readonly string[]): readonly Lane[] => {
  if (files.length === 0) return suite.lanes;
  return [{ files, concurrency: suite.lanes[0]?.concurrency ?? 1 }];
};

const main = async (name: string, args: readonly string[]): Promise<number> => {
  const suite = SUITES[name];
  if (!suite) {
    console.error(`no suite "${name}": name one of ${Object.keys(SUITES).join(', ')}`);
    return 2;
  }
  const failedChecks = suite.checks ? runChecks() : [];
  const options = args.filter((arg) => arg.startsWith('-'));
  const lanes = lanesOf(
    suite,
    args.filter((arg) => !arg.startsWith('-')),
  );
  const scratch = mkdtempSync(path.join(tmpdir(), 'edgeset-test-'));
  try {
    const ends = await Promise.all(lanes.map((lane, number) => runLane(lane, options, scratch, number)));
    for (const { said } of ends) process.stdout.write(said);
    const code = ends.find((end) => end.code !== 0)?.code ?? 0;
    const totals = sumOf(ends);
    const outcome = totals
      ? `${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`
      : 'the runner ended without totals';
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
