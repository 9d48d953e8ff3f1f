// Runs a suite with Node's test runner; the whole unit suite after the static checks:
//   scripts/test.ts unit|cluster|embedded|browser|package|nodes [options of node --test] [files instead of the whole suite]
// A plain word stands for the files of the suite whose path contains it.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { groupFiles } from './group-files.ts';
import { selectFiles } from './select-files.ts';
import { suites } from './suites.ts';

const [name = '', ...args] = process.argv.slice(2);
const suite = suites[name];
if (!suite) {
  console.error(`no suite "${name}": name one of ${Object.keys(suites).join(', ')}`);
  process.exit(2);
}
const options = args.filter((arg) => arg.startsWith('-'));
const files = selectFiles(
  args.filter((arg) => !arg.startsWith('-')),
  suite.files,
);
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
