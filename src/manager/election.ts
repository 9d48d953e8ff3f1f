import { type KubeClient, runLeaderElection } from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';
import type { LeaderElectionOptions } from './options.ts';
import type { Elect } from './run-controllers.ts';

export interface ElectionParts {
  client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  env: Env;
  /** Unique to this process. */
  identity: string;
  /** Hears at the start that we stand by, then each change. */
  onChange: (leading: boolean) => void;
}

/** An election over a Lease: one term after another, until the signal aborts. */
export const electByLease =
  ({ client, env, identity, onChange }: ElectionParts, options: LeaderElectionOptions): Elect =>
  async (lead, signal) => {
    const { namespace, id: name, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
    const onLeading = async (leading: AbortSignal): Promise<void> => {
      const onEnd = (): void => onChange(false);
      leading.addEventListener('abort', onEnd, { once: true });
      onChange(true);
      await lead(leading);
    };
    const onNewLeader = (leader: string): void => env.log.info('the lease has a new holder', { leader, identity });
    onChange(false);
    while (!signal.aborted) {
      await runLeaderElection(
        {
          client,
          env,
          namespace,
          name,
          identity,
          leaseDurationMs,
          renewDeadlineMs,
          retryPeriodMs,
          onLeading,
          onNewLeader,
        },
        signal,
      );
    }
  };
