import { isKubeError, type KubeClient } from '../../kube/index.ts';
import { daemonRollouts, daemonSets, NotOptedInError } from '../../native/index.ts';
import { annotation, controllerOf, type DaemonRollout } from '../../rollout/index.ts';
import { parseDuration, sleep, systemClock } from '../../runtime/index.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import { interruption } from './interruption.ts';
import { readDaemonSetName } from './text.ts';
import type { WaitFlags } from './wait-command.ts';

const POLL_MS = 500;

type Standing = { kind: 'complete' | 'stalled'; message: string } | { kind: 'going'; message: string };

const conditionOf = (rollout: DaemonRollout | undefined, type: string) =>
  rollout?.status?.conditions?.find((condition) => condition.type === type);

/** What the rollout object says of the DaemonSet's present generation; anything older is no answer. */
export const standingOf = (generation: number, rollout: DaemonRollout | undefined): Standing => {
  if (!rollout?.status || (rollout.status.observedGeneration ?? 0) < generation)
    return { kind: 'going', message: 'Waiting for the manager to see the present template' };
  const stalled = conditionOf(rollout, 'Stalled');
  if (stalled?.status === 'True') return { kind: 'stalled', message: stalled.message };
  const complete = conditionOf(rollout, 'Complete');
  if (complete?.status === 'True') return { kind: 'complete', message: complete.message };
  return { kind: 'going', message: complete?.message ?? rollout.status.summary ?? '' };
};

const look = async (client: KubeClient, namespace: string, name: string, signal: AbortSignal): Promise<Standing> => {
  const daemonSet = await client.get(daemonSets, { namespace, name }, { signal });
  const annotations = daemonSet.metadata?.annotations ?? {};
  if (annotations[annotation.strategy] === undefined && annotations[annotation.proposedStrategy] === undefined)
    throw new NotOptedInError(namespace, name);
  try {
    const rollout = await client.get(daemonRollouts, { namespace, name }, { signal });
    const own = controllerOf(rollout)?.uid === daemonSet.metadata?.uid;
    return standingOf(daemonSet.metadata?.generation ?? 0, own ? rollout : undefined);
  } catch (error) {
    if (isKubeError(error, 'NotFound')) return standingOf(0, undefined);
    throw error;
  }
};

/** Waits for completion. Progress goes to stderr, one line a change. */
export const waitForRollout = async (name: string, flags: WaitFlags, io: Io): Promise<ExitCode> => {
  const timeoutMs = parseDuration('--timeout', flags.timeout);
  const daemonSet = readDaemonSetName(name);
  return withCluster(flags, io, async ({ client, namespace }) => {
    const { signal, done } = interruption();
    const deadline = systemClock.now() + timeoutMs;
    let said = '';
    try {
      for (;;) {
        const standing = await look(client, namespace, daemonSet, signal);
        if (standing.kind === 'complete') {
          io.stdout(`${standing.message}\n`);
          return exitCodes.ok;
        }
        if (standing.kind === 'stalled') {
          io.stderr(`${standing.message}\n`);
          return exitCodes.stalled;
        }
        if (standing.message !== said) io.stderr(`${standing.message}\n`);
        said = standing.message;
        if (systemClock.now() >= deadline) {
          io.stderr(`edgeset: not complete within ${flags.timeout}\n`);
          return exitCodes.failed;
        }
        await sleep(systemClock, Math.min(POLL_MS, deadline - systemClock.now()), signal);
      }
    } catch (error) {
      if (signal.aborted) return exitCodes.failed;
      throw error;
    } finally {
      done();
    }
  });
};
