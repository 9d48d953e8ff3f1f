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
  /** Unique to this process, not to its host: two processes with the same identity would both lead. */
  identity: string;
  /** How long other candidates wait after the last renewal they observed. Default 15,000. */
  leaseDurationMs?: number;
  /**
   * The leader stops leading when it could not renew for this long; below `leaseDurationMs`. Default 10,000. One minute
   * if all that happened is that the API server refused with 429.
   */
  renewDeadlineMs?: number;
  /** Between attempts; below `renewDeadlineMs`. Default 2,000. */
  retryPeriodMs?: number;
  /**
   * Runs while leading. Its signal aborts when leadership ends for any reason. The lease is released only after the
   * promise has settled, so it should settle soon. A rejection ends the election with the same error.
   */
  onLeading: (signal: AbortSignal) => Promise<void>;
  /** Called when the observed holder of the lease changes, also to this process. */
  onNewLeader?: (identity: string) => void;
}

/** Each retry is delayed by up to this share more, so that candidates do not retry in step. */
const JITTER = 0.2;
const LONGEST_ATTEMPT_MS = 5_000;
/**
 * How long a leader stays one while the API server refuses every renewal with 429. Such a server works and has written
 * nothing; it refuses the other candidates, too, and these do not count the time in which they could not read the Lease.
 * Should one of them take over nevertheless, reservations and fences keep the two apart, as after a pause of the process.
 */
const REFUSED_DEADLINE_MS = 60_000;

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
 * Competes for a Lease and leads once. Resolves when leadership is lost, or when `signal` aborts and the lease, if held,
 * is released. Never compares the clocks of two machines: a lease has expired when it did not change for its duration
 * by the local clock.
 */
export const runLeaderElection = async (given: LeaderElectionOptions, signal: AbortSignal): Promise<void> => {
  const options = resolveOptions(given);
  const { client, env, namespace, name, identity, leaseDurationMs, renewDeadlineMs, retryPeriodMs } = options;
  const log = env.log.with({ lease: `${namespace}/${name}`, identity });
  const ref = { namespace, name };
  /** The lease as last read or written. `at`: when it changed, later by the time in which it could not be read. */
  let observed: { lease: Lease; at: number } | undefined;
  /** Since when every attempt to read or write the lease has failed. */
  let unreadSince: number | undefined;
  let reportedLeader: string | undefined;

  const observe = (lease: Lease): void => {
    const changed =
      observed === undefined || observed.lease.metadata?.resourceVersion !== lease.metadata?.resourceVersion;
    const now = env.clock.now();
    if (changed) observed = { lease, at: now };
    else if (observed && unreadSince !== undefined) observed.at += now - unreadSince;
    unreadSince = undefined;
    const holder = lease.spec?.holderIdentity ?? '';
    if (holder === reportedLeader || holder === '') return;
    reportedLeader = holder;
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

  /** True when this process holds the lease afterwards. After an error its state is unknown. */
  const acquireOrRenew = async (call: { signal: AbortSignal; timeoutMs: number }): Promise<boolean> => {
    const now = env.clock.now();
    const ours = observed?.lease.spec?.holderIdentity === identity;
    // The response to our last write is the precondition: renewing needs no read.
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

  // An attempt may not use up the whole renew deadline: after a hung connection there must be time for others.
  const attemptMs = Math.max(retryPeriodMs, Math.min(LONGEST_ATTEMPT_MS, renewDeadlineMs / 2));

  /** Resolves with the time just before the successful request: other candidates may measure the lease from then. */
  const acquire = async (): Promise<number> => {
    for (;;) {
      const startedAt = env.clock.now();
      try {
        if (await acquireOrRenew({ signal, timeoutMs: attemptMs })) return startedAt;
      } catch (error) {
        if (signal.aborted) throw error;
        unreadSince ??= startedAt;
        const remedy = `let a Role in ${namespace} permit "create" of Leases, and "get" and "update" with resourceNames: [${name}]`;
        log.warn('failed to acquire the lease', { error, ...(isKubeError(error, 'Forbidden') && { remedy }) });
      }
      await pause();
    }
  };

  /** Renews the lease. Resolves when it is lost; rejects with the signal's reason when `until` aborts. */
  const renew = async (renewedAt: number, until: AbortSignal): Promise<void> => {
    let lastRenewal = renewedAt;
    /** The attempts since the last renewal; undefined: none. */
    let failures: 'refused' | 'failed' | undefined;
    for (;;) {
      const deadline = lastRenewal + (failures === 'refused' ? REFUSED_DEADLINE_MS : renewDeadlineMs);
      await sleep(env.clock, Math.min(retryPeriodMs, deadline - env.clock.now()), until);
      const startedAt = env.clock.now();
      if (startedAt >= deadline) {
        log.error('leadership lost: the lease was not renewed in time');
        return;
      }
      try {
        const timeoutMs = Math.min(attemptMs, deadline - startedAt);
        if (await acquireOrRenew({ signal: until, timeoutMs })) {
          lastRenewal = startedAt;
          failures = undefined;
        } else {
          log.error('leadership lost: another process holds the lease');
          return;
        }
      } catch (error) {
        if (until.aborted) throw error;
        failures = failures !== 'failed' && isKubeError(error, 'TooManyRequests') ? 'refused' : 'failed';
        log.warn('failed to renew the lease', { error });
      }
    }
  };

  const writeReleased = async (lease: Lease): Promise<void> => {
    const now = toMicroTime(env.clock.now());
    const released = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now, acquireTime: now };
    await client.replace(leases, { ...lease, spec: released }, { timeoutMs: renewDeadlineMs });
  };

  const release = async (): Promise<void> => {
    const lease = observed?.lease;
    if (lease?.spec?.holderIdentity !== identity) return;
    try {
      await writeReleased(lease);
    } catch (error) {
      try {
        if (!isKubeError(error, 'Conflict')) throw error;
        // Still ours if an aborted renewal reached the server after all.
        const current = await client.get(leases, ref, { timeoutMs: renewDeadlineMs });
        if (current.spec?.holderIdentity === identity) await writeReleased(current);
      } catch (reason) {
        log.warn('failed to release the lease; other candidates wait until it expires', { error: reason });
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
  // Renewal continues while the work winds down: no other process may lead before it has finished.
  const renewing = new AbortController();
  const renewed = renew(renewedAt, renewing.signal).then(
    () => term.abort(new Error('leadership lost')),
    () => undefined,
  );
  try {
    await options.onLeading(term.signal);
  } catch (error) {
    if (!term.signal.aborted) throw error;
  } finally {
    term.abort(new Error('leading has ended'));
    renewing.abort(new Error('leading has ended'));
    signal.removeEventListener('abort', onStop);
    await renewed;
    await release();
  }
};
