import { createHash } from 'node:crypto';
import type { Violation } from '../judge/report.ts';
import type { Operation, Plan, PlannedStep } from './plan/plan.ts';
import { createSimulation, type Simulation } from './simulation.ts';

export interface Outcome {
  violations: readonly Violation[];
  /** SHA-256 of the whole history. */
  digest: string;
  lines: readonly string[];
  updates: number;
  /** Of managers, without leases and Events. */
  writes: number;
  /** How often each kind of fault, and each operation, took effect. */
  fired: ReadonlyMap<string, number>;
  checked: ReadonlyMap<string, number>;
  /** Measurements. */
  figures: ReadonlyMap<string, number>;
  /** Virtual time, ms. */
  tookMs: number;
}

/** Characters of the history that are hashed at a time. */
const HASH_CHUNK = 65_536;
/** A rollout may take this long once faults are over, including the breaker and the progress deadline. */
const CONVERGES_WITHIN_MS = 45 * 60_000;
const REST_MS = 30_000;
/** Longer than a client takes to notice that a watch is silent. */
const MAX_REST_PERIODS = 16;

/** How often faults that have not taken effect are tried again, each time with another rollout. */
const MAX_RETRIES = 12;
const RETRY_MS = 60_000;

/** Steps that can take effect at the same time: one release, and one behaviour for each node. */
const compatible = (steps: readonly PlannedStep[]): readonly PlannedStep[] => {
  const taken = new Set<string>();
  const releases = steps.some(({ operation }) => operation.do === 'release');
  return steps.filter(({ operation }) => {
    // A delayed native controller would bring no node to the bad version.
    if (operation.do === 'native' && releases) return false;
    const what = operation.do === 'release' ? 'release' : operation.do === 'behave' ? operation.node : undefined;
    if (what === undefined) return true;
    if (taken.has(what)) return false;
    taken.add(what);
    return true;
  });
};

const retryFaults = async (
  simulation: Simulation,
  steps: readonly PlannedStep[],
  { strategy, model, nodes, rolloutPlan }: Plan,
  attempt: number,
): Promise<void> => {
  const now = (operation: Operation): void => simulation.execute({ at: 0, operation });
  // Faults of calls match the strategy that the plan began with.
  now({ do: 'strategy', strategy });
  // Nothing waits for people and soaks.
  if (rolloutPlan) now({ do: 'plan', spec: {} });
  // Nodes that a bad version broke hold every slot until their owners approve another one.
  if (model === 'ota')
    for (let index = 0; index < nodes; index += 1) now({ do: 'auto-approve', node: `node-${index}`, agrees: true });
  for (const step of steps) simulation.execute(step);
  if (steps.some(({ fault }) => fault === 'F13')) now({ do: 'crash', who: 'leader' });
  if (!steps.some(({ fault }) => fault === 'F12')) now({ do: 'release', image: `app:encore-${attempt}` });
  await simulation.time.advanceUntil(() => false, 1_000);
  now({ do: 'burst', changes: 30 });
  // An in-place update neither starts nor terminates a pod.
  for (const { operation } of steps) if (operation.do === 'behave') now({ do: 'delete-pod', node: operation.node });
  await simulation.time.advanceUntil(() => false, RETRY_MS);
  now({ do: 'recover' });
  now({ do: 'release', image: `app:last-${attempt}` });
};

/**
 * Runs a plan: all its steps, then until the rollout has converged, then a while at rest. `keep`: the outcome includes the
 * lines of the history.
 */
export const runPlan = async (plan: Plan, keep = false): Promise<Outcome> => {
  const lines: string[] = [];
  const hash = createHash('sha256');
  /** Hashing is faster in large chunks. */
  let pending = '';
  const flush = (): void => {
    hash.update(pending);
    pending = '';
  };
  const simulation = createSimulation(
    plan,
    (line) => {
      pending += line;
      if (pending.length > HASH_CHUNK) flush();
      if (keep) lines.push(line);
    },
    { logged: keep },
  );
  const { time, checker } = simulation;
  const startedAt = time.now();
  const violations: Violation[] = [];
  // A rejection that nobody handles is a defect.
  const onRejection = (reason: unknown): void =>
    void violations.push({ invariant: 'crash', at: time.now(), text: `unhandled rejection: ${String(reason)}` });
  process.on('unhandledRejection', onRejection);
  try {
    for (const step of plan.steps) {
      await time.advanceUntil(() => false, startedAt + step.at - time.now());
      simulation.execute(step);
    }
    const isOver = (): boolean => checker.hasViolations() || checker.isFinished();
    let done = await time.advanceUntil(isOver, CONVERGES_WITHIN_MS);
    for (let attempt = 1; done && checker.violations.length === 0 && attempt <= MAX_RETRIES; attempt += 1) {
      const unfired = simulation.unfired(plan.steps);
      if (unfired.length === 0) break;
      await retryFaults(simulation, compatible(unfired), plan, attempt);
      done = await time.advanceUntil(isOver, CONVERGES_WITHIN_MS);
    }
    if (!done)
      for (const invariant of [plan, ...(plan.others ?? [])].some(({ rolloutPlan }) => rolloutPlan)
        ? ['L1', 'L9']
        : ['L1'])
        violations.push({
          invariant,
          at: time.now(),
          text: `did not reach the target: ${checker.unfinished().join('; ')}`,
        });
    if (done) checker.onConverged();
    if (done && checker.violations.length === 0) {
      await time.advanceUntil(() => false, REST_MS);
      let before = checker.activity.lastWriteAt;
      let restedAt = time.now();
      // Nodes that a bad version kills may die late, a process may still be stopped, a watch silent, and a call unanswered.
      const isHealthy = (): boolean => simulation.managersAreHealthy() && simulation.managersAreAnswered();
      let healthy = isHealthy();
      await time.advanceUntil(() => false, REST_MS);
      // A manager that is out of touch says so in the status, and writes it again when that has ended.
      const lastCauseAt = (): number => Math.max(simulation.lastReadinessChangeAt(), simulation.lastOutOfTouchAt());
      // Calls of the window itself excuse nothing: at rest nobody has anything to send.
      const wasDisturbed = (): boolean =>
        !healthy || lastCauseAt() > restedAt - REST_MS || !simulation.managersAreHealthy();
      for (let windows = 1; windows < MAX_REST_PERIODS && wasDisturbed(); windows += 1) {
        before = checker.activity.lastWriteAt;
        restedAt = time.now();
        healthy = isHealthy();
        await time.advanceUntil(() => false, REST_MS);
      }
      if (checker.activity.lastWriteAt !== before && simulation.lastCheckAt() <= restedAt)
        violations.push({
          invariant: 'S15',
          at: checker.activity.lastWriteAt,
          text: 'something was written although nothing happened',
        });
      const left = checker.unfinished();
      if (left.length > 0)
        violations.push({ invariant: 'L1', at: time.now(), text: `did not stay at the target: ${left.join('; ')}` });
      if (!simulation.fired.has('F23'))
        violations.push({
          invariant: 'unfired',
          at: time.now(),
          text: 'F23 never took effect: no clock showed a fraction',
        });
      for (const { fault, operation } of simulation.unfired(plan.steps))
        violations.push({
          invariant: 'unfired',
          at: time.now(),
          text: `${fault ?? 'a fault'} never took effect: ${JSON.stringify(operation)}`,
        });
    }
  } finally {
    process.off('unhandledRejection', onRejection);
  }
  flush();
  const digest = hash.digest('hex');
  return {
    violations: [...checker.violations, ...violations],
    digest,
    lines,
    updates: checker.activity.updates,
    writes: simulation.writes(),
    fired: simulation.fired,
    checked: checker.checked,
    figures: checker.figures,
    tookMs: time.now() - startedAt,
  };
};
