import { type KubeClient, runLeaderElection } from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';
import type { LeaderElectionOptions } from './options.ts';

/**
 * Calls `lead` whenever this process becomes the leader; its signal aborts when the lease is lost or `signal` aborts.
 * Holds the lease until `lead` has settled, then releases it. Resolves after `signal` has aborted and all of this is done.
 */
export type Elect = (lead: (leading: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;

/** For a single process: it leads from start to stop. */
export const withoutElection: Elect = (lead, signal) => lead(signal);

export interface ElectionParts {
  client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  env: Env;
  /** Unique to this process. */
  identity: string;
  /** Called with false at the start, then on each change. */
  onChange: (leading: boolean) => void;
}

/** Elects a leader with a Lease, again and again until the signal aborts. */
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

export interface Election {
  elect: Elect;
  /** How long writes that are in flight have once the lease is lost, until another process may hold it. */
  settleWithinMs: number;
}

/** By the Lease of `options`; undefined: the process leads from start to stop. */
export const createElection = (parts: ElectionParts, options: LeaderElectionOptions | undefined): Election =>
  options === undefined
    ? { elect: withoutElection, settleWithinMs: Number.POSITIVE_INFINITY }
    : { elect: electByLease(parts, options), settleWithinMs: options.leaseDurationMs - options.renewDeadlineMs };
