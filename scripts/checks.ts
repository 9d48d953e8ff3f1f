// Everything about the code that needs no test run: one line a check, and its output only when it fails.

import { spawnSync } from 'node:child_process';
import path from 'node:path';

interface Check {
  name: string;
  command: readonly string[];
}

const bin = (name: string): string => path.join('node_modules', '.bin', name);

const CHECKS: readonly Check[] = [
  { name: 'types', command: [bin('tsc'), '-p', '.'] },
  { name: 'web', command: [bin('tsc'), '-p', 'web'] },
  { name: 'lint', command: [bin('oxlint'), '--type-aware', '--deny-warnings'] },
  { name: 'format', command: [bin('biome'), 'check', '.'] },
  { name: 'imports', command: [process.execPath, 'scripts/check-imports.ts'] },
  { name: 'tree', command: [process.execPath, 'scripts/check-tree.ts'] },
  { name: 'links', command: [process.execPath, 'scripts/check-links.ts'] },
];

const secondsSince = (startMs: number): string => `${((performance.now() - startMs) / 1000).toFixed(1)} s`;

/** Runs all checks and returns the names of those that failed. */
export const runChecks = (): string[] =>
  CHECKS.filter(({ name, command }) => {
    const [file = '', ...args] = command;
    const startMs = performance.now();
    const { status, error, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    const failed = status !== 0;
    console.log(`${failed ? 'FAIL' : 'ok  '} ${name.padEnd(8)} ${secondsSince(startMs)}`);
    if (failed) process.stdout.write(`${[stdout, stderr, error?.message].filter(Boolean).join('\n').trim()}\n`);
    return failed;
  }).map(({ name }) => name);

if (import.meta.main) {
  const failed = runChecks();
  if (failed.length > 0) {
    console.error(`checks failed: ${failed.join(', ')} (npm run format cures most of format's)`);
    process.exitCode = 1;
  }
}
