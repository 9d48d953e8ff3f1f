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
 * Where a rollout stands for whoever waits for it. `rests`: all that the policy allows is updated, and a partition or a
 * node selector leaves the others on the old revision on purpose.
 */
export interface Progress {
  kind: 'complete' | 'rests' | 'stalled' | 'going';
  message: string;
}

const going = (message: string): Progress => ({ kind: 'going', message });

/** Does the status speak of the policy that the DaemonSet has now? Annotations do not raise the generation. */
const knowsPolicy = (policy: ParsedPolicy, policyHash: string | undefined): boolean =>
  policyHash === (policy.kind === 'on' ? policy.hash : '');

const onPurpose: ReadonlySet<string> = new Set(['partition', 'node-selector']);

/** What the rollout object says of the DaemonSet as it is now; what speaks of an earlier one is no answer. */
export const progressOf = (
  { object: { metadata }, policy }: Pick<DaemonSetState, 'object' | 'policy'>,
  rollout: DaemonRollout | undefined,
): Progress => {
  const status = controllerOf(rollout ?? {})?.uid === metadata?.uid ? rollout?.status : undefined;
  if (!status || (status.observedGeneration ?? 0) < (metadata?.generation ?? 0))
    return going('Waiting for the manager to see the present template.');
  const condition = (type: string) => status.conditions?.find((one) => one.type === type);
  const [complete, stalled, ready] = ['Complete', 'Stalled', 'Ready'].map(condition);
  if (complete?.status === 'True' && stalled?.status !== 'True') return { kind: 'complete', message: complete.message };
  // A resumed or mended rollout stays Stalled until the manager has read the annotation: that is no end.
  if (!knowsPolicy(policy, status.policyHash)) return going('Waiting for the manager to see the present policy.');
  if (stalled?.status === 'True') return { kind: 'stalled', message: stalled.message };
  const message = ready?.message ?? status.summary ?? '';
  const held = (status.causes ?? []).filter(({ phase }) => phase === 'held');
  const rests = ready?.reason === 'LeftOnOldRevision' && held.every(({ cause }) => onPurpose.has(cause));
  return rests
    ? { kind: 'rests', message: `${message} The others are left on the old revision, as the policy asks.` }
    : going(message);
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
      `${kind.title} ${namespace}/${name} is being deleted: its rollout will not end`,
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

/** An API server that restarts or is overloaded for a while does not end a wait. */
const mayPass = (error: unknown): boolean =>
  isKubeError(error, 'Transport', 'Timeout', 'TooManyRequests', 'ServerTimeout', 'ServiceUnavailable', 'InternalError');

/** Writes progress to stderr: on a terminal one line that is rewritten, else a line a change. */
const createProgress = (io: Io): ((message: string) => void) => {
  const region =
    io.terminal && canRedraw(io.environment)
      ? createRegion(io.stderr, () => ({ columns: io.screen?.().columns ?? WIDEST_LINE, rows: 3 }))
      : undefined;
  let said = '';
  return (message) => {
    if (message === said) return;
    said = message;
    if (region) region.show(message);
    else io.stderr(`${message}\n`);
  };
};

/** Waits for completion. Resolves with what the shell is told. */
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
          if (last === undefined || stop.aborted || !mayPass(error)) throw error;
          progress('The API server does not answer; waiting for it.');
          await sleep(env.clock, POLL_MS, stop);
          continue;
        }
        if (last.kind === 'complete' || last.kind === 'rests') {
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
        throw new CommandError(
          'TimedOut',
          `not complete within ${flags.timeout}: ${last?.message ?? 'no answer came'}`,
        );
      if (!isKubeError(error, 'NotFound') || !kind) throw error;
      throw last === undefined
        ? kind.notFound(namespace, named.name, error)
        : new CommandError('NotFound', `${kind.title} ${namespace}/${named.name} was deleted meanwhile`, error);
    } finally {
      timer.cancel();
      done();
    }
  });
};
