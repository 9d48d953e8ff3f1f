import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { type Env, sleep } from '../../runtime/index.ts';
import { isKubeError } from '../client/errors.ts';
import { toMicroTime } from '../client/formats.ts';
import { defineResource } from '../client/resource.ts';
import type { KubeClient } from '../client/types.ts';

export const leases = defineResource<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
  namespaced: true,
});

export interface LeaderElectionOptions {
  client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  env: Env;
  namespace: string;
  name: string;
  /** Unique to this process, not to its host: two processes with one identity would both lead. */
  identity: string;
  /** How long others wait after the last renewal that they saw. Default 15,000. */
  leaseDurationMs?: number;
  /** The leader gives up when it could not renew for this long; below `leaseDurationMs`. Default 10,000. */
  renewDeadlineMs?: number;
  /** Between attempts; below `renewDeadlineMs`. Default 2,000. */
  retryPeriodMs?: number;
  /**
   * Runs while leading. Its signal aborts when leadership ends, for whatever reason; the lease is released only after
   * its promise has settled, so it should settle soon. Rejecting ends the election with the same error.
   */
  onLeading: (signal: AbortSignal) => Promise<void>;
  /** Each time another identity (ours included) is seen holding the lease. */
  onNewLeader?: (identity: string) => void;
}

/** Retries are spread by up to this share, so that candidates do not knock in step. */
const JITTER = 0.2;

const resolveOptions = (options: LeaderElectionOptions) => {
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options;
  if (options.identity === '') throw new RangeError('identity must not be empty');
  if (leaseDurationMs < 1000) throw new RangeError('leaseDurationMs must be 1000 or more: leases count whole seconds');
  if (!(renewDeadlineMs < leaseDurationMs)) throw new RangeError('renewDeadlineMs must be below leaseDurationMs');
  if (!(retryPeriodMs > 0 && retryPeriodMs * (1 + JITTER) < renewDeadlineMs))
    throw new RangeError('retryPeriodMs must be above zero and well below renewDeadlineMs');
  return { ...options, leaseDurationMs, renewDeadlineMs, retryPeriodMs };
};

/**
 * Competes for a Lease, leads, and resolves when `signal` aborts (the lease released, if it was ours) or when leadership
 * was lost: a process that lost it should end, and start anew. Clocks of other machines are never compared with ours: a
 * lease has run out when we saw no change of it for its duration by our own clock.
 */
export const runLeaderElection = async (given: LeaderElectionOptions, signal: AbortSignal): Promise<void> => {
  const options = resolveOptions(given);
  const { client, env, namespace, name, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const log = env.log.with({ lease: `${namespace}/${name}`, identity });
  const ref = { namespace, name };
  let observed: { lease: Lease; at: number } | undefined;
  let toldLeader: string | undefined;

  const observe = (lease: Lease): void => {
    const changed =
      observed === undefined || observed.lease.metadata?.resourceVersion !== lease.metadata?.resourceVersion;
    if (changed) observed = { lease, at: env.clock.now() };
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder === toldLeader || holder === '') return;
    toldLeader = holder;
    options.onNewLeader?.(holder);
  };

  const spec = (previous: Lease | undefined): NonNullable<Lease['spec']> => {
    const now = toMicroTime(env.clock.now());
    const ours = previous?.spec?.holderIdentity === identity;
    const transitions = previous?.spec?.leaseTransitions ?? 0;
    return {
      ...previous?.spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000),
      acquireTime: ours ? (previous.spec?.acquireTime ?? now) : now,
      renewTime: now,
      leaseTransitions: previous === undefined || ours ? transitions : transitions + 1,
    };
  };

  /** True when the lease is ours afterwards. Errors mean that we do not know. */
  const acquireOrRenew = async (call: { signal: AbortSignal; timeoutMs: number }): Promise<boolean> => {
    const now = env.clock.now();
    const ours = observed?.lease.spec?.holderIdentity === identity;
    // Our own last write is the best precondition: renewing needs no read.
    if (observed !== undefined && ours) {
      try {
        observe(await client.replace(leases, { ...observed.lease, spec: spec(observed.lease) }, call));
        return true;
      } catch (error) {
        if (!isKubeError(error, 'Conflict', 'NotFound')) throw error;
      }
    }
    let lease: Lease;
    try {
      lease = await client.get(leases, ref, call);
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
      try {
        observe(await client.create(leases, { metadata: ref, spec: spec(undefined) }, call));
        return true;
      } catch (refusal) {
        if (isKubeError(refusal, 'AlreadyExists', 'Conflict')) return false;
        throw refusal;
      }
    }
    observe(lease);
    const holder = lease.spec?.holderIdentity ?? '';
    const duration = (lease.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
    if (holder !== '' && holder !== identity && (observed?.at ?? now) + duration > now) return false;
    try {
      observe(await client.replace(leases, { ...lease, spec: spec(lease) }, call));
      return true;
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return false;
      throw error;
    }
  };

  const pause = (): Promise<void> => sleep(env.clock, retryPeriodMs * (1 + JITTER * env.random()), signal);

  // One attempt may not use up the whole time to renew: after a hung connection there must be time for another.
  const attemptMs = Math.max(retryPeriodMs, renewDeadlineMs / 2);

  /** Resolves with the time that the lease is ours from: before the request, as others may count from then. */
  const acquire = async (): Promise<number> => {
    for (;;) {
      const startedAt = env.clock.now();
      try {
        if (await acquireOrRenew({ signal, timeoutMs: attemptMs })) return startedAt;
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn('could not compete for the lease', { error });
      }
      await pause();
    }
  };

  /** Resolves when the lease is lost; rejects with the signal's reason when `until` aborts. */
  const keep = async (renewedAt: number, until: AbortSignal): Promise<void> => {
    let lastRenewal = renewedAt;
    for (;;) {
      const mustBy = lastRenewal + renewDeadlineMs;
      await sleep(env.clock, Math.min(retryPeriodMs, mustBy - env.clock.now()), until);
      const startedAt = env.clock.now();
      if (startedAt >= mustBy) {
        log.error('leadership lost: the lease was not renewed in time');
        return;
      }
      try {
        const timeoutMs = Math.min(attemptMs, mustBy - startedAt);
        if (await acquireOrRenew({ signal: until, timeoutMs })) lastRenewal = startedAt;
        else {
          log.error('leadership lost: another holds the lease');
          return;
        }
      } catch (error) {
        if (until.aborted) throw error;
        log.warn('could not renew the lease', { error });
      }
    }
  };

  const giveUp = async (lease: Lease): Promise<void> => {
    const now = toMicroTime(env.clock.now());
    const released = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await client.replace(leases, { ...lease, spec: released }, { timeoutMs: renewDeadlineMs });
  };

  const release = async (): Promise<void> => {
    const lease = observed?.lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    try {
      await giveUp(lease);
    } catch (error) {
      try {
        if (!isKubeError(error, 'Conflict')) throw error;
        // Ours still, where a renewal that was broken off when the work ended had reached the server.
        const current = await client.get(leases, ref, { timeoutMs: renewDeadlineMs });
        if (current.spec?.holderIdentity === identity) await giveUp(current);
      } catch (reason) {
        log.warn('could not release the lease: others wait until it runs out', { error: reason });
      }
    }
  };

  let renewedAt: number;
  try {
    renewedAt = await acquire();
  } catch (error) {
    if (signal.aborted) return;
    throw error;
  }
  log.info('leading');
  const term = new AbortController();
  const onStop = (): void => term.abort(signal.reason);
  if (signal.aborted) onStop();
  else signal.addEventListener('abort', onStop, { once: true });
  // Renewing goes on while the work winds down: nobody else may start before it is done.
  const renewing = new AbortController();
  const kept = keep(renewedAt, renewing.signal).then(
    () => term.abort(new Error('leadership lost')),
    () => undefined,
  );
  try {
    await options.onLeading(term.signal);
  } catch (error) {
    if (!term.signal.aborted) throw error;
  } finally {
    term.abort(new Error('done leading'));
    renewing.abort(new Error('done leading'));
    signal.removeEventListener('abort', onStop);
    await kept;
    await release();
  }
};
