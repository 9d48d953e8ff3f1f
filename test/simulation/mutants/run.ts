// Puts known defects back one by one. The simulation, or a test where it cannot show the defect, must find each:
//   npm run sim:mutants -- [--processes N] [--table] [--only plans|tests] [NAMES]
// `plans`: those that the simulation finds, on virtual time, so that a busy machine cannot fail them. `tests`: the others.
// A mutant that is not found, or no longer fits the code, fails the run.

import { fork, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { runPlan } from '../run-plan.ts';
import { killOf } from './hunt.ts';
import { mutants } from './index.ts';
import { findMismatch } from './load-mutant.ts';
import type { Finding, Verdict } from './messages.ts';
import type { Hunt, Mutant } from './mutant.ts';

const HERE = import.meta.dirname;
const ROOT = path.join(HERE, '../../..');
/** A mutant may cause an endless loop; others may leave it little of the machine. */
const TIMEOUT_MS = 900_000;

type Fate =
  | { kind: 'killed'; by: string; after: string; invariant: string; text: string }
  | { kind: 'by hand'; file: string; why: string }
  | { kind: 'survived'; why: string };

const survived = (why: string): Fate => ({ kind: 'survived', why });

const environment = (mutant: Mutant, cache: string): NodeJS.ProcessEnv => ({
  ...process.env,
  EDGESET_MUTANT: mutant.name,
  // Each process loads the same modules.
  NODE_COMPILE_CACHE: cache,
});

const planted = ['--import', path.join(HERE, 'preload.ts')];

/** Runs plans in a process with the mutant, until one violates an invariant that it does not violate without the mutant. */
const inSimulation = (mutant: Mutant, cache: string): Promise<Fate> =>
  new Promise((resolve, reject) => {
    const child = fork(path.join(HERE, 'child.ts'), {
      execArgv: planted,
      env: environment(mutant, cache),
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    let complaint = '';
    child.stderr?.on('data', (text: Buffer) => (complaint += text.toString()));
    const hear = async (message: Finding | Verdict): Promise<void> => {
      if (message.kind === 'survived') {
        const others =
          message.otherViolations.length > 0 ? `, although they violated ${message.otherViolations.join(', ')}` : '';
        resolve(survived(`${message.plans} plans${others}`));
        return;
      }
      const { label, plan, invariant, text, plans } = message;
      const without = await runPlan(plan);
      // The plan fails without the mutant: it says nothing about the mutant.
      const isOld = killOf(without, mutant.breaks) !== undefined;
      if (!isOld)
        resolve({ kind: 'killed', by: label, after: plans === 1 ? '1 plan' : `${plans} plans`, invariant, text });
      child.send(isOld ? 'on' : 'stop');
    };
    child.on('message', (message) => void hear(message as Finding | Verdict).catch(reject));
    child.on('error', reject);
    child.on('exit', (code, signal) =>
      resolve(survived(`its process exited with ${code ?? signal} without a result: ${complaint.slice(0, 500)}`)),
    );
  });

/** Whether a test file passes, with the mutant or without. */
const passes = (
  { file, only }: Extract<Hunt, { by: 'test' }>,
  env: NodeJS.ProcessEnv,
  imports: readonly string[],
): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const names = only === undefined ? [] : [`--test-name-pattern=${only}`];
    const child = spawn(process.execPath, [...imports, ...names, path.join(ROOT, file)], {
      env,
      stdio: 'ignore',
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
    });
    child.on('error', reject);
    child.on('exit', (code) => resolve(code === 0));
  });

/** By test: several mutants name the same. */
const passesWithout = new Map<string, Promise<boolean>>();

const inTest = async (mutant: Mutant, hunt: Extract<Hunt, { by: 'test' }>, cache: string): Promise<Fate> => {
  if (await passes(hunt, environment(mutant, cache), planted)) return survived(`${hunt.file} passes with it`);
  // A test that fails in any case says nothing about the mutant.
  const key = JSON.stringify(hunt);
  const without = passesWithout.get(key) ?? passes(hunt, environment(mutant, cache), []);
  passesWithout.set(key, without);
  if (!(await without)) return survived(`${hunt.file} fails without it`);
  return { kind: 'killed', by: hunt.file, after: '1 run', invariant: 'test', text: hunt.only ?? '' };
};

const judge = async (mutant: Mutant, cache: string): Promise<Fate> => {
  const trouble = findMismatch(mutant);
  if (trouble !== undefined) return survived(trouble);
  const hunt = mutant.hunt ?? { by: 'seeds' };
  if (hunt.by === 'hand') return { kind: 'by hand', file: hunt.file, why: hunt.why };
  return hunt.by === 'test' ? inTest(mutant, hunt, cache) : inSimulation(mutant, cache);
};

const tell = ({ name, whose, story, breaks }: Mutant, fate: Fate): string => {
  switch (fate.kind) {
    case 'killed':
      return fate.invariant === 'test'
        ? `elsewhere ${name} (${whose}): ${fate.by}`
        : `killed    ${name} (${whose}): ${fate.invariant} by ${fate.by} after ${fate.after}: ${fate.text.slice(0, 160)}`;
    case 'by hand':
      return `elsewhere ${name} (${whose}): ${fate.file}, not run here: ${fate.why}`;
    case 'survived':
      return `SURVIVED  ${name} (${whose}): ${fate.why}; it must violate ${breaks.join(', ') || 'a test'}: ${story}`;
  }
};

/** A row of docs/explanation/reliability-log.md. */
const row = ({ whose, story, breaks }: Mutant, fate: Fate): string => {
  const cells: Record<Fate['kind'], () => string> = {
    killed: () =>
      fate.kind !== 'killed'
        ? ''
        : fate.invariant === 'test'
          ? `a test | \`${fate.by}\` |`
          : `${fate.invariant} | ${fate.by} |`,
    'by hand': () => (fate.kind === 'by hand' ? `a test | \`${fate.file}\`, by hand |` : ''),
    survived: () => `**survives** (${breaks.join(', ')}) | |`,
  };
  return `| ${whose} | ${story} | ${cells[fate.kind]()}`;
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { processes: { type: 'string' }, table: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const unknown = positionals.filter((name) => !mutants.some((mutant) => mutant.name === name));
if (unknown.length > 0) {
  process.stderr.write(`unknown mutants: ${unknown.join(', ')}; index.ts lists all\n`);
  process.exit(2);
}
const { only } = values;
if (only !== undefined && only !== 'plans' && only !== 'tests') {
  process.stderr.write(`--only must be plans or tests, not "${only}"\n`);
  process.exit(2);
}
const processes = values.processes === undefined ? availableParallelism() : Number(values.processes);
if (!Number.isInteger(processes) || processes < 1) {
  process.stderr.write(`--processes must be a whole number above zero, not "${values.processes}"\n`);
  process.exit(2);
}

const startedAt = performance.now();
const cache = mkdtempSync(path.join(tmpdir(), 'edgeset-mutants-'));
const isTested = ({ hunt }: Mutant): boolean => hunt?.by === 'test' || hunt?.by === 'hand';
const waiting = mutants.filter(
  (mutant) =>
    (positionals.length === 0 || positionals.includes(mutant.name)) &&
    (only === undefined || isTested(mutant) === (only === 'tests')),
);
const fates = new Map<Mutant, Fate>();
const worker = async (): Promise<void> => {
  for (let mutant = waiting.shift(); mutant; mutant = waiting.shift()) {
    const fate = await judge(mutant, cache);
    fates.set(mutant, fate);
    console.log(tell(mutant, fate));
  }
};
await Promise.all(Array.from({ length: processes }, worker)).finally(() =>
  rmSync(cache, { recursive: true, force: true }),
);
if (values.table)
  for (const mutant of mutants) if (fates.has(mutant)) console.log(row(mutant, fates.get(mutant) as Fate));
const failed = [...fates.values()].filter(({ kind }) => kind === 'survived').length;
console.log(`took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`);
console.log(`mutants${only ? `-in-${only}` : ''}: ${fates.size - failed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
