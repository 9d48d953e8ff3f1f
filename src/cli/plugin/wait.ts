import { policyWithPlan } from '../../commands/index.ts';
import { daemonRollouts } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import {
  controllerOf,
  failedGeneration,
  formatPolicyError,
  hasUnusableName,
  INTERNAL_ERROR,
  type ParsedPolicy,
  type Plan,
  TEMPLATE_NOT_OBSERVED,
} from '../../rollout/index.ts';
import { anySignal, parseDuration, sleep } from '../../runtime/index.ts';
import { escapeLine, toLines } from '../../text/index.ts';
import {
  CommandError,
  type Connection,
  type ConnectionFlags,
  type DaemonSetKind,
  type DaemonSetState,
  findKind,
  joinSentences,
  readName,
  withCluster,
} from '../../view/index.ts';
import type { DaemonRollout, HeldCause } from '../../words/index.ts';
import { hasColor, paint } from '../color.ts';
import { type ExitCode, exitCodes, type Io } from '../io.ts';
import { createLiveRegion } from '../live-region.ts';
import { canRedraw, fitting, printLines, type Screen, untilInterrupted } from '../terminal.ts';
import { coverageOf, type Goal, isDefault, paceOf, readGoal } from './wait-goal.ts';

export interface WaitFlags extends ConnectionFlags {
  timeout: string;
  coverage?: string;
  includeOffline?: boolean;
}

const POLL_MS = 500;
const WIDEST_LINE = 1_000;

/**
 * The progress of a rollout for `wait`. `held`: everything that the policy allows is updated; a partition or a node
 * selector deliberately leaves the other nodes on the old revision.
 */
export interface Progress {
  kind: 'complete' | 'held' | 'stalled' | 'progressing';
  message: string;
  /** How fast it goes, and the time left; changes all the time. */
  pace?: string;
}

const progressing = (message: string, pace = ''): Progress => ({
  kind: 'progressing',
  message,
  ...(pace !== '' && { pace }),
});

/** Which DaemonSets wait for themselves, which servers checks may ask and whether their Secrets exist, only the manager knows. */
const isJudgedByManager = (plan: Plan | undefined): boolean =>
  plan !== undefined && (plan.after.length > 0 || plan.stages.some(({ checks }) => checks.length > 0));

/** Whether the status is about the current policy. Annotations and plans don't change the generation. */
const knowsPolicy = (policy: ParsedPolicy | undefined, policyHash: string | undefined): boolean => {
  // The user may not read the plan.
  if (!policy) return true;
  const isRefused = policyHash === '' && policy.kind === 'on' && isJudgedByManager(policy.policy.plan);
  return isRefused || policyHash === (policy.kind === 'on' ? policy.hash : '');
};

/** Whether the policy leaves nodes with this cause on the old revision for good. */
const isDeliberate: Readonly<Record<HeldCause, boolean>> = {
  partition: true,
  'node-selector': true,
  stage: false,
  after: false,
  busy: false,
  window: false,
  group: false,
  image: false,
  'duplicate-pods': false,
  refused: false,
};

/** Reasons of Ready for which the counts of nodes are still about the target before. */
const beforeTarget: ReadonlySet<string> = new Set([TEMPLATE_NOT_OBSERVED, 'NotSynced']);

/**
 * The progress according to the DaemonRollout, if its status is about the current DaemonSet, template and policy. `policy`:
 * with the plan; undefined if that can't be read.
 */
export const progressOf = (
  { object: { metadata, status: own }, policy }: Pick<DaemonSetState, 'object'> & { policy: ParsedPolicy | undefined },
  rollout: DaemonRollout | undefined,
  goal: Goal,
  now: number,
): Progress => {
  const status = controllerOf(rollout ?? {})?.uid === metadata?.uid ? rollout?.status : undefined;
  const error = status?.conditions?.find(({ type, reason }) => type === 'Stalled' && reason === INTERNAL_ERROR);
  if (!status && policy && hasUnusableName(policy))
    return { kind: 'stalled', message: policy.errors.map(formatPolicyError).join(' ') };
  const { generation = 0 } = metadata ?? {};
  // The status stays about the last generation that could be processed: which one could not, the DaemonSet says.
  const reached = Math.max(status?.daemonSetGeneration ?? 0, (error && failedGeneration(own?.conditions)) ?? 0);
  if (!status || reached < generation) {
    const before = error ? ` Of the one before it says: ${error.message}` : '';
    return progressing(`Waiting for the manager to observe the current template.${before}`);
  }
  if (error) return { kind: 'stalled', message: error.message };
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const [complete, stalled, ready] = ['Complete', 'Stalled', 'Ready'].map(condition);
  const covered = isDefault(goal) || beforeTarget.has(ready?.reason ?? '') ? undefined : coverageOf(status, goal, now);
  if (covered?.reached) return { kind: 'complete', message: covered.message };
  if (isDefault(goal) && complete?.status === 'True' && stalled?.status !== 'True')
    return { kind: 'complete', message: complete.message };
  // A resumed or fixed rollout stays Stalled until the manager has read the annotation.
  if (!knowsPolicy(policy, status.policyHash))
    return progressing('Waiting for the manager to observe the current policy.');
  if (stalled?.status === 'True') return { kind: 'stalled', message: stalled.message };
  // What the policy keeps back is not covered, either.
  const pace = paceOf(status, now);
  if (!isDefault(goal)) return progressing(covered?.message ?? ready?.message ?? '', pace);
  const message = ready?.message ?? status.summary ?? '';
  const held = (status.causes ?? []).filter(({ phase }) => phase === 'held');
  const isHeld = ready?.reason === 'LeftOnOldRevision' && held.every(({ cause }) => isDeliberate[cause as HeldCause]);
  return isHeld
    ? { kind: 'held', message: `${message} The others are left on the old revision by the policy.` }
    : progressing(message, pace);
};

const look = async (
  connection: Connection,
  kind: DaemonSetKind,
  name: string,
  goal: Goal,
  signal: AbortSignal,
): Promise<Progress> => {
  const { client, env, namespace } = connection;
  const subject = await kind.get(client, { namespace, name }, { signal });
  if (subject.object.metadata?.deletionTimestamp)
    throw new CommandError(
      'BeingDeleted',
      `${kind.title} ${namespace}/${name} is being deleted: its rollout will not complete`,
    );
  if (subject.policy.kind === 'off') throw kind.notServed(namespace, name);
  const policy = await policyWithPlan(connection, subject.policy, { signal });
  let rollout: DaemonRollout | undefined;
  try {
    rollout = await client.get(daemonRollouts, { namespace, name: kind.rolloutName(name) }, { signal });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
  return progressOf({ object: subject.object, policy }, rollout, goal, env.clock.now());
};

/** Whether the API server may recover, such as from a restart or overload. */
const isTransient = (error: unknown): boolean =>
  isKubeError(error, 'Transport', 'Timeout', 'TooManyRequests', 'ServerTimeout', 'ServiceUnavailable', 'InternalError');

/** Writes progress to stderr: one line that is redrawn on a terminal, otherwise a line per change. */
const createProgress = (io: Io) => {
  const screen = (): Screen => ({ columns: io.screen?.().columns ?? WIDEST_LINE, rows: 1 });
  const region = io.terminal && canRedraw(io.environment) ? createLiveRegion(io.draw.stderr, screen) : undefined;
  let printed = '';
  return {
    show({ message, pace }: Pick<Progress, 'message' | 'pace'>): void {
      if (region) {
        const line = joinSentences(escapeLine(message), pace === undefined ? '' : paint(`${pace}.`, 'accent'));
        region.draw(fitting([line], screen()));
        return;
      }
      // The pace alone is no news for a log.
      if (message === printed) return;
      printed = message;
      io.stderr(toLines(joinSentences(message, pace === undefined ? '' : `${pace}.`)));
    },
    /** What was shown gives way to the result. */
    close: (): void => region?.close(),
  };
};

/** Waits until the rollout is complete. Resolves with the exit code. */
export const waitForRollout = async (name: string, flags: WaitFlags, io: Io): Promise<ExitCode> => {
  const timeoutMs = parseDuration('--timeout', flags.timeout);
  const goal = readGoal(flags.coverage, flags.includeOffline);
  const named = readName(name);
  return withCluster(flags, io, async (connection) => {
    const { env, namespace } = connection;
    const { signal, done } = untilInterrupted();
    const over = new AbortController();
    const timer = env.clock.timer(timeoutMs, () => over.abort());
    const stop = anySignal(signal, over.signal);
    const progress = createProgress(io);
    // However the process ends, the cursor is restored.
    process.once('exit', progress.close);
    let last: Progress | undefined;
    let kind: DaemonSetKind | undefined;
    try {
      for (;;) {
        try {
          kind ??= await findKind(connection, named, { signal: stop });
          last = await look(connection, kind, named.name, goal, stop);
        } catch (error) {
          if (last === undefined || stop.aborted || !isTransient(error)) throw error;
          progress.show({ message: 'The API server is not responding; waiting for it.' });
          await sleep(env.clock, POLL_MS, stop);
          continue;
        }
        if (last.kind === 'progressing') {
          progress.show(last);
          await sleep(env.clock, POLL_MS, stop);
          continue;
        }
        progress.close();
        const { kind: result, message } = last;
        if (result !== 'stalled') {
          printLines([{ text: message, tone: result === 'complete' ? 'good' : undefined }], io);
          return exitCodes.ok;
        }
        const inColor = io.terminal && hasColor(io.environment);
        if (inColor) io.draw.stderr(`${paint(escapeLine(message), 'bad')}\n`);
        else io.stderr(toLines(message));
        return exitCodes.stalled;
      }
    } catch (error) {
      if (signal.aborted) return exitCodes.failed;
      if (over.signal.aborted)
        throw new CommandError('TimedOut', `not complete within ${flags.timeout}: ${last?.message ?? 'no response'}`);
      if (!isKubeError(error, 'NotFound') || !kind) throw error;
      throw last === undefined
        ? kind.notFound(connection, named.name, error)
        : new CommandError('NotFound', `${kind.title} ${namespace}/${named.name} was deleted`, error);
    } finally {
      progress.close();
      process.off('exit', progress.close);
      timer.cancel();
      done();
    }
  });
};
