import { createHash } from 'node:crypto';
import type { Violation } from './checker/report.ts';
import type { Operation, Plan, PlannedStep } from './plan/plan.ts';
import { createSimulation, type Simulation } from './simulation.ts';

export interface Outcome {
  violations: readonly Violation[];
  /** Of the whole history, byte by byte. */
  digest: string;
  lines: readonly string[];
  updates: number;
  /** Of managers, leases and Events left out. */
  writes: number;
  /** How often each fault and each operation met something. */
  fired: ReadonlyMap<string, number>;
  checked: ReadonlyMap<string, number>;
  /** What was measured. */
  figures: ReadonlyMap<string, number>;
  /** Virtual time, ms. */
  tookMs: number;
}

/** Characters of a history that wait to be hashed. */
const MOST_TOLD = 65_536;
/** What a rollout may take once nothing is wrong any more: breaker and progress deadline included. */
const PATIENCE_MS = 45 * 60_000;
const REST_MS = 30_000;
const MOST_RESTS = 8;

/** How often faults that have not taken effect are tried again, each time with another rollout. */
const MOST_ENCORES = 12;
const ENCORE_MS = 60_000;

/** Those that can be met at the same time: one release, and one way to fare for each node. */
const together = (steps: readonly PlannedStep[]): readonly PlannedStep[] => {
  const taken = new Set<string>();
  const releases = steps.some(({ operation }) => operation.do === 'release');
  return steps.filter(({ operation }) => {
    // Kubernetes' own controller, hindered, would bring no node to the bad version.
    if (operation.do === 'native' && releases) return false;
    const what = operation.do === 'release' ? 'release' : operation.do === 'behave' ? operation.node : undefined;
    if (what === undefined) return true;
    if (taken.has(what)) return false;
    taken.add(what);
    return true;
  });
};

const playAgain = async (
  { time, carryOut }: Simulation,
  steps: readonly PlannedStep[],
  { strategy, model, nodes }: Plan,
  encore: number,
): Promise<void> => {
  const now = (operation: Operation): void => carryOut({ at: 0, operation });
  // Calls are those of the strategy that the plan began with.
  now({ do: 'strategy', strategy });
  // Nodes that a bad version broke hold every slot until their owners agree to another one.
  if (model === 'ota')
    for (let index = 0; index < nodes; index += 1) now({ do: 'auto-approve', node: `node-${index}`, agrees: true });
  for (const step of steps) carryOut(step);
  if (steps.some(({ fault }) => fault === 'F13')) now({ do: 'crash', who: 'leader' });
  if (!steps.some(({ fault }) => fault === 'F12')) now({ do: 'release', image: `app:encore-${encore}` });
  await time.advanceUntil(() => false, 1_000);
  now({ do: 'burst', changes: 30 });
  // Pods that are changed in place neither start nor end by themselves.
  for (const { operation } of steps) if (operation.do === 'behave') now({ do: 'delete-pod', node: operation.node });
  await time.advanceUntil(() => false, ENCORE_MS);
  now({ do: 'recover' });
  now({ do: 'release', image: `app:last-${encore}` });
};

/** Plays a plan to its end: all its steps, then until the rollout is over, then a while of rest. `keep`: the history's lines are told. */
export const runPlan = async (plan: Plan, keep = false): Promise<Outcome> => {
  const lines: string[] = [];
  const hash = createHash('sha256');
  /** A hash is quicker with much at a time. */
  let told = '';
  const tellHash = (): void => {
    hash.update(told);
    told = '';
  };
  const world = createSimulation(
    plan,
    (line) => {
      told += line;
      if (told.length > MOST_TOLD) tellHash();
      if (keep) lines.push(line);
    },
    keep,
  );
  const { time, checker } = world;
  const startedAt = time.now();
  const violations: Violation[] = [];
  // A promise that nobody waits for hides a defect.
  const onRejection = (reason: unknown): void =>
    void violations.push({ invariant: 'crash', at: time.now(), text: `an unhandled rejection: ${String(reason)}` });
  process.on('unhandledRejection', onRejection);
  try {
    for (const step of plan.steps) {
      await time.advanceUntil(() => false, startedAt + step.at - time.now());
      world.carryOut(step);
    }
    const isOver = (): boolean => checker.hasViolations() || checker.isFinished();
    let done = await time.advanceUntil(isOver, PATIENCE_MS);
    for (let encore = 1; done && checker.violations.length === 0 && encore <= MOST_ENCORES; encore += 1) {
      const unfired = world.unfired(plan.steps);
      if (unfired.length === 0) break;
      await playAgain(world, together(unfired), plan, encore);
      done = await time.advanceUntil(isOver, PATIENCE_MS);
    }
    if (!done)
      violations.push({
        invariant: 'L1',
        at: time.now(),
        text: `not at the target: ${checker.unfinished().join('; ')}`,
      });
    if (done) checker.onConverged();
    if (done && checker.violations.length === 0) {
      await time.advanceUntil(() => false, REST_MS);
      let before = checker.activity.lastWriteAt;
      let restedAt = time.now();
      await time.advanceUntil(() => false, REST_MS);
      // Nodes that a bad version kills may die late, and a process may still be asleep.
      let atRest = true;
      const stirred = (): boolean => !atRest || world.lastStirAt() > restedAt - REST_MS || !world.isAtRest();
      for (let windows = 1; windows < MOST_RESTS && stirred(); windows += 1) {
        before = checker.activity.lastWriteAt;
        restedAt = time.now();
        atRest = world.isAtRest();
        await time.advanceUntil(() => false, REST_MS);
      }
      if (checker.activity.lastWriteAt !== before)
        violations.push({
          invariant: 'S15',
          at: checker.activity.lastWriteAt,
          text: 'something is written though nothing happens',
        });
      const left = checker.unfinished();
      if (left.length > 0)
        violations.push({ invariant: 'L1', at: time.now(), text: `did not stay at the target: ${left.join('; ')}` });
      for (const { fault, operation } of world.unfired(plan.steps))
        violations.push({
          invariant: 'unfired',
          at: time.now(),
          text: `${fault ?? 'a fault'} never took effect: ${JSON.stringify(operation)}`,
        });
    }
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  tellHash();
  const digest = hash.digest('hex');
  return {
    violations: [...checker.violations, ...violations],
    digest,
    lines,
    updates: checker.activity.updates,
    writes: world.writes(),
    fired: world.fired,
    checked: checker.checked,
    figures: checker.figures,
    tookMs: time.now() - startedAt,
  };
};
