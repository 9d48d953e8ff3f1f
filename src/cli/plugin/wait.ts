import { daemonRollouts } from '../../controller/index.ts';
import { isKubeError } from '../../kube/index.ts';
import type { DaemonRollout } from '../../rollout/index.ts';
import { parseDuration, sleep } from '../../runtime/index.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { type Connection, withCluster } from './connect.ts';
import { CommandFailure } from './failure.ts';
import { interruption } from './interruption.ts';
import type { DaemonSetKind } from './kinds.ts';
import { findKind, readName } from './names.ts';
import { createRegion, mayRewrite } from './region.ts';
import { type Standing, standingOf } from './standing.ts';
import type { WaitFlags } from './wait-command.ts';

const POLL_MS = 500;
const WIDEST_LINE = 1_000;

const look = async (
  { client, namespace }: Connection,
  kind: DaemonSetKind,
  name: string,
  signal: AbortSignal,
): Promise<Standing> => {
  const subject = await kind.get(client, { namespace, name }, { signal });
  if (subject.object.metadata?.deletionTimestamp)
    throw new CommandFailure(
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
  return standingOf(subject, rollout);
};

/** An API server that restarts or is overloaded for a while does not end a wait. */
const mayPass = (error: unknown): boolean =>
  isKubeError(error, 'Transport', 'Timeout', 'TooManyRequests', 'ServerTimeout', 'ServiceUnavailable', 'InternalError');

/** Writes progress to stderr: on a terminal one line that is rewritten, else a line a change. */
const createProgress = (io: Io): ((message: string) => void) => {
  const region =
    io.terminal && mayRewrite(io.environment)
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
    const { signal, done } = interruption();
    const over = new AbortController();
    const timer = env.clock.timer(timeoutMs, () => over.abort());
    const stop = AbortSignal.any([signal, over.signal]);
    const progress = createProgress(io);
    let last: Standing | undefined;
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
        throw new CommandFailure(
          'TimedOut',
          `not complete within ${flags.timeout}: ${last?.message ?? 'no answer came'}`,
        );
      if (!isKubeError(error, 'NotFound') || !kind) throw error;
      throw last === undefined
        ? kind.notFound(namespace, named.name, error)
        : new CommandFailure('NotFound', `${kind.title} ${namespace}/${named.name} was deleted meanwhile`, error);
    } finally {
      timer.cancel();
      done();
    }
  });
};
