// The deterministic simulation: the managers that ship, on an embedded cluster and virtual time, under faults.
//   npm run sim -- [--rollouts N] [--seed S] [--faults F1,F2] [--plan FILE] [--processes N]

import { fork } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { invariantIds } from '../invariants/index.ts';
import { runBatch } from './batch.ts';
import { explore, exploredFaults } from './explore.ts';
import { generatePlan } from './plan/generate-plan.ts';
import { type FaultKind, faultKinds, type Plan } from './plan/plan.ts';
import { shrink } from './plan/shrink.ts';
import { runPlan } from './run-plan.ts';
import { scenarios } from './scenarios/index.ts';
import { formatHistory } from './story.ts';
import { addTotals, emptyTotals, type Totals } from './totals.ts';

const USAGE = `usage: npm run sim -- [options]

  --rollouts N   number of rollouts, from seed 1 or --first on (default 4000; 1e7 before a release)
  --first S      the first seed
  --faults LIST  kinds of faults: ${faultKinds.join(', ')} (default all)
  --processes N  number of processes (default: one for each core)
  --explore      inject a fault at every write of every scenario instead: the process crashes, or is stopped while
                 another one leads
  --every N      with --explore: only every n-th write (default 1)
  --scenario T   with --explore: only scenarios whose name contains this text
  --seed S       print the history of one plan; if it fails, shrink it first
  --plan FILE    the same for a plan in a JSON file
`;

const options = {
  rollouts: { type: 'string', default: '4000' },
  first: { type: 'string', default: '1' },
  faults: { type: 'string' },
  processes: { type: 'string' },
  explore: { type: 'boolean', default: false },
  scenario: { type: 'string', default: '' },
  every: { type: 'string', default: '1' },
  /** For a child process: its number. */
  part: { type: 'string', default: '0' },
  seed: { type: 'string' },
  plan: { type: 'string' },
  /** For a child process: sends its totals to its parent. */
  child: { type: 'boolean', default: false },
  /** For a child process: stops after this many failed plans. */
  failures: { type: 'string', default: '5' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

class UsageError extends Error {
  override readonly name = 'UsageError';
}

const numberOf = (flag: string, text: string): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1)
    throw new UsageError(`--${flag} must be a whole number above zero, not "${text}"`);
  return value;
};

const kindsOf = (text: string | undefined): readonly FaultKind[] => {
  if (text === undefined) return faultKinds;
  return text.split(',').map((name) => {
    const kind = faultKinds.find((each) => each === name.trim());
    if (!kind) throw new UsageError(`--faults: unknown kind "${name}"; known are ${faultKinds.join(', ')}`);
    return kind;
  });
};

const replay = async (plan: Plan): Promise<number> => {
  const first = await runPlan(plan);
  const [violation] = first.violations;
  if (!violation) {
    console.log(formatHistory(plan, await runPlan(plan, true)));
    console.log(`seed ${plan.seed}: no invariant is violated; digest ${first.digest}`);
    return 0;
  }
  const { plan: small, runs } = await shrink(plan, violation.invariant);
  const file = `edgeset-plan-${plan.seed}.json`;
  writeFileSync(file, `${JSON.stringify(small, undefined, 1)}\n`);
  console.log(formatHistory(small, await runPlan(small, true)));
  console.log(
    `shrunk in ${runs} runs from ${plan.steps.length} to ${small.steps.length} steps; to repeat: npm run sim -- --plan ${file}`,
  );
  return 1;
};

/** The seeds of two processes are this far apart, so that they never overlap. */
const STRIDE = 10_000_000;

/** Plans create much garbage and keep nothing: a large young generation is collected less often. */
const HEAP = ['--min-semi-space-size=64', '--max-semi-space-size=64'];

const inChild = (args: readonly string[]): Promise<Totals> =>
  new Promise((resolve, reject) => {
    const child = fork(import.meta.filename, ['--child', ...args], {
      execArgv: [...process.execArgv, ...HEAP],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let tally: Totals | undefined;
    child.on('message', (message) => {
      tally = message as Totals;
    });
    child.on('error', reject);
    child.on('exit', (code) =>
      tally ? resolve(tally) : reject(new Error(`a process of the simulation exited with ${code} and sent no totals`)),
    );
  });

const list = (sums: Readonly<Record<string, number>>): string =>
  Object.entries(sums)
    .toSorted(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

/** In this many rollouts each kind of fault takes effect, and each invariant is checked. */
const LEAST_FOR_ALL_KINDS = 1_000;

const runMany = async (
  first: number,
  rollouts: number,
  faults: string | undefined,
  processes: number,
): Promise<number> => {
  const startedAt = performance.now();
  const share = String(Math.ceil(rollouts / processes));
  const sum = emptyTotals();
  const batches = Array.from({ length: processes }, (_, index) =>
    inChild(['--first', String(first + index * STRIDE), '--rollouts', share, ...(faults ? ['--faults', faults] : [])]),
  );
  for (const tally of await Promise.all(batches)) addTotals(sum, tally);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `rollouts  ${sum.rollouts} in ${sum.plans} plans, ${sum.updates} updates, ${sum.virtualHours.toFixed(0)} hours of virtual time in ${seconds.toFixed(0)} s: ${(sum.rollouts / seconds / processes).toFixed(1)} a second a process`,
  );
  const rate = (rolled: number, cpu: number): string => (rolled / Math.max(cpu, 1e-6)).toFixed(1);
  console.log(
    `speed     ${rate(sum.rollouts, sum.cpuSeconds)} rollouts a CPU second, of plans of 5 nodes ${rate(sum.ofFive.rollouts, sum.ofFive.cpuSeconds)}`,
  );
  const isKind = ([name]: readonly [string, number]): boolean => faultKinds.some((kind) => kind === name);
  const happened = Object.entries(sum.fired);
  console.log(`faults    ${list(Object.fromEntries(happened.filter(isKind)))}`);
  console.log(`happened  ${list(Object.fromEntries(happened.filter((each) => !isKind(each))))}`);
  for (const kind of kindsOf(faults)) {
    if ((sum.fired[kind] ?? 0) > 0 || sum.rollouts < LEAST_FOR_ALL_KINDS) continue;
    sum.failures.push({
      seed: first,
      invariant: 'unfired',
      text: `${kind} never took effect in the whole run`,
    });
  }
  if (faults === undefined && sum.rollouts >= LEAST_FOR_ALL_KINDS)
    // L1 is checked at the end of every plan, and not counted.
    for (const invariant of invariantIds.filter((id) => id !== 'L1'))
      if ((sum.checked[invariant] ?? 0) === 0)
        sum.failures.push({ seed: first, invariant, text: 'was never checked in the whole run' });
  console.log(`checked   ${list(sum.checked)}`);
  const measured = Object.entries(sum.figures).map(([name, value]) => [name, Math.round(value)] as const);
  console.log(`measured  ${list(Object.fromEntries(measured))}`);
  for (const { seed, invariant, text } of sum.failures)
    console.log(
      `FAILED    seed ${seed}: ${invariant} ${text}\n          npm run sim -- --seed ${seed}${faults ? ` --faults ${faults}` : ''}`,
    );
  console.log(`simulation: ${sum.plans - sum.failures.length} passed, ${sum.failures.length} failed`);
  return sum.failures.length > 0 ? 1 : 0;
};

const scenariosNamed = (text: string) => {
  const chosen = scenarios.filter(({ name }) => name.includes(text));
  if (chosen.length === 0) throw new UsageError(`--scenario: no scenario matches "${text}"`);
  return chosen;
};

/** One part of the scenarios. */
const explorePart = async (text: string, every: number, part: number, parts: number): Promise<Totals> => {
  const tally = emptyTotals();
  const mine = scenariosNamed(text).filter((_, index) => index % parts === part);
  for (const ordeal of exploredFaults)
    for await (const { scenario, violations } of explore(ordeal, mine, every)) {
      tally.plans += 1;
      tally.fired[ordeal.name] = (tally.fired[ordeal.name] ?? 0) + 1;
      const [first] = violations;
      if (first) tally.failures.push({ seed: 0, invariant: first.invariant, text: `${scenario}: ${first.text}` });
    }
  return tally;
};

const exploreAll = async (wanted: string, every: number, processes: number): Promise<number> => {
  const chosen = scenariosNamed(wanted);
  const startedAt = performance.now();
  const sum = emptyTotals();
  const parts = Array.from({ length: processes }, (_, part) =>
    inChild([
      '--explore',
      '--scenario',
      wanted,
      '--every',
      String(every),
      '--part',
      String(part),
      '--processes',
      String(processes),
    ]),
  );
  for (const tally of await Promise.all(parts)) addTotals(sum, tally);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(`explored  ${chosen.length} scenarios, points: ${list(sum.fired)}, in ${seconds.toFixed(0)} s`);
  for (const { invariant, text } of sum.failures) console.log(`FAILED    ${invariant} ${text}`);
  console.log(`exploration: ${sum.plans - sum.failures.length} passed, ${sum.failures.length} failed`);
  return sum.failures.length > 0 ? 1 : 0;
};

const main = async (): Promise<number> => {
  const { values } = parseArgs({ options });
  if (values.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  const kinds = kindsOf(values.faults);
  if (values.seed !== undefined) return replay(generatePlan(numberOf('seed', values.seed), kinds));
  if (values.plan !== undefined) return replay(JSON.parse(readFileSync(values.plan, 'utf8')) as Plan);
  const rollouts = numberOf('rollouts', values.rollouts);
  const every = numberOf('every', values.every);
  const first = numberOf('first', values.first);
  const processes = values.processes === undefined ? availableParallelism() : numberOf('processes', values.processes);
  if (!values.child)
    return values.explore
      ? exploreAll(values.scenario, every, processes)
      : runMany(first, rollouts, values.faults, processes);
  const tally = values.explore
    ? await explorePart(values.scenario, every, Number(values.part), processes)
    : await runBatch(first, rollouts, kinds, numberOf('failures', values.failures));
  await new Promise((resolve) => process.send?.(tally, resolve));
  return 0;
};

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof UsageError) && !(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n${USAGE}`);
  process.exitCode = 2;
}
