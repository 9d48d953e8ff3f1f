import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import {
  daemonSets,
  ifFound,
  isKubeError,
  type KubeClient,
  leases,
  metadataOf,
  pagesOf,
  pods as podResource,
} from '../../kube/index.ts';
import { MAX_CLOCK_SKEW_MS, type OutsideHold, type Owner, type PolicyError, toEpochMs } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { AdvancedView } from './advanced-view.ts';
import { type NativeDaemonSet, type NativeDaemonSets, selectorInTheWay, toNative } from './native-daemonsets.ts';
import { isNativeOwner, otherDaemonSetOf } from './other-owner.ts';
import { createPreviousOwners } from './previous-owners.ts';

/** Another controller that manages, or may manage, the same pods. `reason` is for conditions and Events. */
export interface Conflict {
  reason: 'OpenKruiseManager' | 'LeaseForbidden' | 'NativeDaemonSet' | 'PreviousOwner';
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

/** Who holds the lease; undefined for nobody. */
export type LeaseWatch = (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
) => Promise<string | undefined>;

/**
 * Tracks the lease of OpenKruise's manager for all DaemonSets with an occasional read. As in leader election, a lease has
 * expired once it has not changed for its duration by our own clock, because its times are from another machine's clock.
 * Only a lease that expired long ago by any clock is ignored at once.
 */
export const createLeaseWatch = (): LeaseWatch => {
  let last: { at: number; version: string | undefined; unchangedSince: number; holder: string | undefined } | undefined;
  return async (client, clock, signal) => {
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

const kruiseConflict = (holder: string): Conflict => ({
  reason: 'OpenKruiseManager',
  error: {
    field: KRUISE_LEASE_FIELD,
    value: holder,
    problem: "is held by OpenKruise's manager, which manages the same DaemonSets",
    remedy: `stop it (kubectl -n ${KRUISE_LEASE.namespace} scale deployment kruise-controller-manager --replicas=0) and wait for its lease to expire`,
  },
});

/** Without the right to read the lease nothing is written: two managers of the same pods are worse than none. */
const unreadableLease = (refusal: string): Conflict => ({
  reason: 'LeaseForbidden',
  error: {
    field: KRUISE_LEASE_FIELD,
    value: refusal,
    problem: "cannot be read, so OpenKruise's manager may be running",
    remedy: 'grant get on it to the service account of the manager, as deploy/advanced/rbac.yaml does',
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

type Selecting = Pick<AdvancedView, 'namespace' | 'podSelector'>;

const nativeConflict = (
  native: NativeDaemonSet | undefined,
  { namespace, podSelector }: Selecting,
): Conflict | undefined => {
  if (!native) return undefined;
  const { name, deleted } = native;
  const inTheWay = `is also the selector of the native DaemonSet ${name}`;
  return {
    reason: 'NativeDaemonSet',
    error: {
      field: 'spec.selector',
      value: podSelector,
      ...(deleted
        ? {
            problem: `${inTheWay}, which is being deleted, so no pod is created or adopted until it is gone`,
            remedy: `wait for the garbage collector to release its pods; if that lasts, see its finalizers: kubectl -n ${namespace} get daemonset.apps ${name} -o yaml`,
          }
        : {
            problem: `${inTheWay}, so no pod is created`,
            remedy: `hand over its pods with: kubectl -n ${namespace} delete daemonset.apps ${name} --cascade=orphan`,
          }),
    },
  };
};

/** A native DaemonSet with the same selector, if there is one. */
export const findNativeConflict = (
  natives: Pick<NativeDaemonSets, 'withSelector'>,
  view: Selecting,
): Conflict | undefined => nativeConflict(natives.withSelector(view.namespace, view.podSelector), view);

/** The garbage collector has yet to release or delete `what` of a DaemonSet that is being deleted or gone. */
export const previousOwnerConflict = (
  owner: Owner,
  { namespace, podSelector }: Selecting,
  what: 'pods' | 'ControllerRevisions',
): Conflict => {
  const kind = isNativeOwner(owner) ? 'native' : 'Advanced';
  const resources = what === 'pods' ? 'pods' : 'controllerrevisions';
  return {
    reason: 'PreviousOwner',
    error: {
      field: 'spec.selector',
      value: podSelector,
      problem: `matches ${what} that still belong to the ${kind} DaemonSet ${owner.name}, which is being deleted or gone, so no pod is created or adopted`,
      remedy: `wait for the garbage collector to release or delete them; if that lasts, see their owner references: kubectl -n ${namespace} get ${resources} -l '${podSelector}' -o yaml`,
    },
  };
};

type Reader = Pick<KubeClient, 'get' | 'list'>;

/** The same as a leader finds in its caches, from single reads of the namespace. */
const readDaemonSetConflict = async (
  client: Reader,
  clock: Pick<Clock, 'now'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector' | 'uid'>,
  signal: AbortSignal,
): Promise<Conflict | undefined> => {
  const { namespace, podSelector, uid } = view;
  const staying = new Set<string>();
  const inTheWay: NativeDaemonSet[] = [];
  for await (const { items } of pagesOf(client, daemonSets, { namespace, signal }))
    for (const item of items) {
      const native = toNative(item);
      if (!native.deleted) staying.add(native.uid);
      if (selectorInTheWay(item) === podSelector) inTheWay.push(native);
    }
  const native = inTheWay.find(({ deleted }) => !deleted) ?? inTheWay[0];
  if (native) return nativeConflict(native, view);
  const owners = new Map<string, Owner>();
  for await (const { items } of pagesOf(client, metadataOf(podResource), {
    namespace,
    labelSelector: podSelector,
    signal,
  }))
    for (const pod of items) {
      const owner = pod.metadata?.deletionTimestamp ? undefined : otherDaemonSetOf(pod, uid);
      if (owner) owners.set(owner.uid, owner);
    }
  const previous = createPreviousOwners(client, clock, { stays: (owner) => staying.has(owner) });
  for (const owner of owners.values())
    if (await previous.has(owner, namespace, signal)) return previousOwnerConflict(owner, view, 'pods');
  return undefined;
};

/** The conflict that a leader would find, from a single read. What the caller may not read counts as no conflict. */
export const readConflict = async (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector' | 'uid' | 'deleted'>,
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
    unlessForbidden(readDaemonSetConflict(client, clock, view, signal)),
  ]);
  const conflict = kruise ?? native;
  return conflict && { kind: 'invalid', errors: [conflict.error], what: CONFLICT };
};
