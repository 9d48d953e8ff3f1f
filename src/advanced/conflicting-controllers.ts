import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { daemonSets, ifFound, isKubeError, type KubeClient, leases, pagesOf } from '../kube/index.ts';
import { MAX_CLOCK_SKEW_MS, type OutsideHold, type PolicyError, toEpochMs } from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { AdvancedView } from './advanced-view.ts';
import { type NativeDaemonSets, podSelectorOf } from './native-daemonsets.ts';

/** Another controller that manages, or may manage, the same pods. `reason` is for conditions and Events. */
export interface Conflict {
  reason: 'OpenKruiseManager' | 'LeaseForbidden' | 'NativeDaemonSet';
  error: PolicyError;
}

/** Why the rollout is held. */
export const CONFLICT = 'Another controller manages the same pods';

/** The leader election lease of OpenKruise's manager. */
const KRUISE_LEASE = { namespace: 'kruise-system', name: 'kruise-manager' };
const KRUISE_LEASE_FIELD = `Lease ${KRUISE_LEASE.namespace}/${KRUISE_LEASE.name}`;
/** As long as the lease lasts. */
const LEASE_READ_INTERVAL_MS = 15_000;

const readLease = (client: KubeClient, signal: AbortSignal): Promise<Lease | undefined> =>
  ifFound(client.get(leases, KRUISE_LEASE, { signal }));

/** When the lease expires by the clock of its holder, epoch ms; undefined: it does not say. */
const expiresAt = ({ spec }: Lease): number | undefined => {
  const renewedAt = toEpochMs(spec?.renewTime);
  return renewedAt === 0 ? undefined : renewedAt + (spec?.leaseDurationSeconds ?? 0) * 1000;
};

/**
 * Tracks the lease of OpenKruise's manager for all DaemonSets with an occasional read. As in leader election, a lease has
 * expired once it has not changed for its duration by our own clock, because its times are from another machine's clock.
 * Only a lease that expired long ago by any clock is ignored at once.
 */
export const createLeaseWatch = () => {
  let last: { at: number; version: string | undefined; unchangedSince: number; holder: string | undefined } | undefined;
  return async (client: KubeClient, clock: Pick<Clock, 'now'>, signal: AbortSignal): Promise<string | undefined> => {
    const now = clock.now();
    if (last && now >= last.at && now - last.at < LEASE_READ_INTERVAL_MS) return last.holder;
    const lease = await readLease(client, signal);
    const version = lease?.metadata?.resourceVersion;
    const unchangedSince = last?.version === version && last ? Math.min(last.unchangedSince, now) : now;
    const durationMs = (lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
    const isOld = lease && (expiresAt(lease) ?? now) + MAX_CLOCK_SKEW_MS <= now;
    const isHeld = lease && now - unchangedSince < durationMs && !isOld;
    last = { at: now, version, unchangedSince, holder: isHeld ? lease.spec?.holderIdentity || undefined : undefined };
    return last.holder;
  };
};
export type LeaseWatch = ReturnType<typeof createLeaseWatch>;

const kruiseConflict = (holder: string): Conflict => ({
  reason: 'OpenKruiseManager',
  error: {
    field: KRUISE_LEASE_FIELD,
    value: holder,
    problem: "is held by OpenKruise's manager, which manages the same DaemonSets",
    cure: `stop it (kubectl -n ${KRUISE_LEASE.namespace} scale deployment kruise-controller-manager --replicas=0) and wait for its lease to expire`,
  },
});

/** Without the right to read the lease nothing is written: two managers of the same pods are worse than none. */
const unreadableLease = (refusal: string): Conflict => ({
  reason: 'LeaseForbidden',
  error: {
    field: KRUISE_LEASE_FIELD,
    value: refusal,
    problem: "cannot be read, so OpenKruise's manager may be running",
    cure: 'grant get on it to the service account of the manager, as deploy/advanced/rbac.yaml does',
  },
});

/** OpenKruise's manager, if it holds its lease. */
export const findKruiseConflict = async (
  lease: LeaseWatch,
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<Conflict | undefined> => {
  try {
    const holder = await lease(client, clock, signal);
    return holder === undefined ? undefined : kruiseConflict(holder);
  } catch (error) {
    if (isKubeError(error, 'Forbidden')) return unreadableLease(error.message);
    throw error;
  }
};

const nativeConflict = (
  name: string | undefined,
  { namespace, podSelector }: Pick<AdvancedView, 'namespace' | 'podSelector'>,
): Conflict | undefined =>
  name === undefined
    ? undefined
    : {
        reason: 'NativeDaemonSet',
        error: {
          field: 'spec.selector',
          value: podSelector,
          problem: `is also the selector of the native DaemonSet ${name}, so no pod is created`,
          cure: `hand over its pods with: kubectl -n ${namespace} delete daemonset.apps ${name} --cascade=orphan`,
        },
      };

/** A native DaemonSet with the same selector, if there is one. */
export const findNativeConflict = (
  natives: Pick<NativeDaemonSets, 'withSelector'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector'>,
): Conflict | undefined => nativeConflict(natives.withSelector(view.namespace, view.podSelector), view);

/** The same, from a single read of the namespace. */
const readNativeConflict = async (
  client: Pick<KubeClient, 'list'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector'>,
  signal: AbortSignal,
): Promise<Conflict | undefined> => {
  const { namespace, podSelector } = view;
  for await (const { items } of pagesOf(client, daemonSets, { namespace, signal })) {
    const native = items.find((item) => !item.metadata?.deletionTimestamp && podSelectorOf(item) === podSelector);
    if (native) return nativeConflict(native.metadata?.name, view);
  }
  return undefined;
};

/** The conflict that a leader would find, from a single read. What the caller may not read counts as no conflict. */
export const readConflict = async (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector' | 'deleted'>,
): Promise<OutsideHold | undefined> => {
  if (view.deleted) return { kind: 'deleted' };
  const { signal } = new AbortController();
  const readKruise = async (): Promise<Conflict | undefined> => {
    const lease = await readLease(client, signal);
    const holder = lease && (expiresAt(lease) ?? 0) > clock.now() ? lease.spec?.holderIdentity || undefined : undefined;
    return holder === undefined ? undefined : kruiseConflict(holder);
  };
  const unlessForbidden = async (conflict: Promise<Conflict | undefined>): Promise<Conflict | undefined> => {
    try {
      return await conflict;
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return undefined;
      throw error;
    }
  };
  const [kruise, native] = await Promise.all([
    unlessForbidden(readKruise()),
    unlessForbidden(readNativeConflict(client, view, signal)),
  ]);
  const conflict = kruise ?? native;
  return conflict && { kind: 'invalid', errors: [conflict.error], what: CONFLICT };
};
