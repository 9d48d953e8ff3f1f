import { daemonRollouts } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import { controllerOf, type DaemonRollout, type ParsedPolicy } from '../../rollout/index.ts';
import { parseDuration, sleep } from '../../runtime/index.ts';
import type { WaitFlags } from '../commands.ts';
import { type ExitCode, exitCodes, type Io } from '../io.ts';
import { type Connection, withCluster } from './connection.ts';
import { CommandError } from './errors.ts';
import type { DaemonSetKind, DaemonSetState } from './kinds/kind.ts';
import { findKind, readName } from './kinds/names.ts';
import { canRedraw, createRegion, untilInterrupted } from './terminal.ts';

const POLL_MS = 500;
const WIDEST_LINE = 1_000;

/**
 * The progress of a rollout for `wait`. `held`: everything that the policy allows is updated; a partition or a node
 * selector deliberately leaves the other nodes on the old revision.
 */
export interface Progress {
  kind: 'complete' | 'held' | 'stalled' | 'progressing';
  message: string;
}

const progressing = (message: string): Progress => ({ kind: 'progressing', message });

/** Whether the status is about the current policy. Annotations don't change the generation. */
const knowsPolicy = (policy: ParsedPolicy, policyHash: string | undefined): boolean =>
  policyHash === (policy.kind === 'on' ? policy.hash : '');

const deliberate: ReadonlySet<string> = new Set(['partition', 'node-selector']);

/** The progress according to the DaemonRollout, if its status is about the current DaemonSet, template and policy. */
export const progressOf = (
  { object: { metadata }, policy }: Pick<DaemonSetState, 'object' | 'policy'>,
  rollout: DaemonRollout | undefined,
): Progress => {
  const status = controllerOf(rollout ?? {})?.uid === metadata?.uid ? rollout?.status : undefined;
  if (!status || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0))
    return progressing('Waiting for the manager to observe the current template.');
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const [complete, stalled, ready] = ['Complete', 'Stalled', 'Ready'].map(condition);
  if (complete?.status === 'True' && stalled?.status !== 'True') return { kind: 'complete', message: complete.message };
  // A resumed or fixed rollout stays Stalled until the manager has read the annotation.
  if (!knowsPolicy(policy, status.policyHash))
    return progressing('Waiting for the manager to observe the current policy.');
  if (stalled?.status === 'True') return { kind: 'stalled', message: stalled.message };
  const message = ready?.message ?? status.summary ?? '';
  const held = (status.causes ?? []).filter(({ phase }) => phase === 'held');
  const isHeld = ready?.reason === 'LeftOnOldRevision' && held.every(({ cause }) => deliberate.has(cause));
  return isHeld
    ? { kind: 'held', message: `${message} The others are left on the old revision by the policy.` }
    : progressing(message);
};

const look = async (
  { client, namespace }: Connection,
  kind: DaemonSetKind,
  name: string,
  signal: AbortSignal,
): Promise<Progress> => {
  const subject = await kind.get(client, { namespace, name }, { signal });
  if (subject.object.metadata?.deletionTimestamp)
    throw new CommandError(
      'BeingDeleted',
      `${kind.title} ${namespace}/${name} is being deleted: its rollout will not complete`,
    );
  if (subject.policy.kind === 'off') throw kind.notServed(namespace, name);
  let rollout: DaemonRollout | undefined;
  try {
    rollout = await client.get(daemonRollouts, { namespace, name: kind.rolloutName(name) }, { signal });
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
  return progressOf(subject, rollout);
};

/** Whether the API server may recover, such as from a restart or overload. */
const isTransient = (error: unknown): boolean =>
  isKubeError(error, 'Transport', 'Timeout', 'TooManyRequests', 'ServerTimeout', 'ServiceUnavailable', 'InternalError');

/** Writes progress to stderr: one line that is redrawn on a terminal, otherwise a line per change. */
const createProgress = (io: Io): ((message: string) => void) => {
  const region =
    io.terminal && canRedraw(io.environment)
      ? createRegion(io.stderr, () => ({ columns: io.screen?.().columns ?? WIDEST_LINE, rows: 3 }))
      : undefined;
  let printed = '';
  return (message) => {
    if (message === printed) return;
    printed = message;
    if (region) region.show(message);
    else io.stderr(`${message}\n`);
  };
};

/** Waits until the rollout is complete. Resolves with the exit code. */
export const waitForRollout = async (name: string, flags: WaitFlags, io: Io): Promise<ExitCode> => {
  const timeoutMs = parseDuration('--timeout', flags.timeout);
  const named = readName(name);
  return withCluster(flags, io, async (connection) => {
    const { env, namespace } = connection;
    const { signal, done } = untilInterrupted();
    const over = new AbortController();
    const timer = env.clock.timer(timeoutMs, () => over.abort());
    const stop = AbortSignal.any([signal, over.signal]);
    const progress = createProgress(io);
    let last: Progress | undefined;
    let kind: DaemonSetKind | undefined;
    try {
      for (;;) {
        try {
          kind ??= await findKind(connection, named, { signal: stop });
          last = await look(connection, kind, named.name, stop);
        } catch (error) {
          if (last === undefined || stop.aborted || !isTransient(error)) throw error;
          progress('The API server is not responding; waiting for it.');
          await sleep(env.clock, POLL_MS, stop);
          continue;
        }
        if (last.kind === 'complete' || last.kind === 'held') {
          io.stdout(`${last.message}\n`);
          return exitCodes.ok;
        }
        if (last.kind === 'stalled') {
          io.stderr(`${last.message}\n`);
          return exitCodes.stalled;
        }
        progress(last.message);
        await sleep(env.clock, POLL_MS, stop);
      }
    } catch (error) {
      if (signal.aborted) return exitCodes.failed;
      if (over.signal.aborted)
        throw new CommandError('TimedOut', `not complete within ${flags.timeout}: ${last?.message ?? 'no response'}`);
      if (!isKubeError(error, 'NotFound') || !kind) throw error;
      throw last === undefined
        ? kind.notFound(namespace, named.name, error)
        : new CommandError('NotFound', `${kind.title} ${namespace}/${named.name} was deleted`, error);
    } finally {
      timer.cancel();
      done();
    }
  });
};
