import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import { daemonSets, ifFound, isKubeError, type KubeClient, leases } from '../kube/index.ts';
import {
  formatSelector,
  fromLabelSelector,
  MAX_CLOCK_SKEW_MS,
  type OutsideHold,
  type PolicyError,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { AdvancedView } from './advanced-view.ts';

/** Somebody else is at work on the same pods. `reason` is for conditions and Events. */
export interface Conflict {
  reason: 'OpenKruiseManager' | 'LeaseForbidden' | 'NativeDaemonSet';
  error: PolicyError;
}

/** What a rollout is told to wait for. */
export const CONFLICT = 'Somebody else is at work on the same pods';

/** Where OpenKruise's manager elects its leader. */
const KRUISE_LEASE = { namespace: 'kruise-system', name: 'kruise-manager' };
/** As long as its lease lasts; read only when there is something to do. */
const LEASE_LOOK_MS = 15_000;

const readLease = (client: KubeClient, signal: AbortSignal): Promise<Lease | undefined> =>
  ifFound(client.get(leases, KRUISE_LEASE, { signal }));

/** Until when the lease holds by the clock of whoever renewed it, epoch ms. */
const heldUntil = ({ spec }: Lease): number =>
  Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1000;

/** Who holds the lease of OpenKruise's manager, as far as one look can tell. */
export const kruiseHolder = async (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  signal: AbortSignal,
): Promise<string | undefined> => {
  const lease = await readLease(client, signal);
  return lease && heldUntil(lease) > clock.now() ? lease.spec?.holderIdentity || undefined : undefined;
};

/**
 * Follows the lease of OpenKruise's manager, with a read once in a while for all DaemonSets together. As in any election the
 * lease has run out when we saw no change of it for its duration: its times are by another machine's clock. Only where they
 * are long past by any clock is that not waited for.
 */
export const createLeaseWatch = () => {
  let seen: { at: number; version: string | undefined; since: number; holder: string | undefined } | undefined;
  return async (client: KubeClient, clock: Pick<Clock, 'now'>, signal: AbortSignal): Promise<string | undefined> => {
    const now = clock.now();
    if (seen && now >= seen.at && now - seen.at < LEASE_LOOK_MS) return seen.holder;
    const lease = await readLease(client, signal);
    const version = lease?.metadata?.resourceVersion;
    const since = seen?.version === version && seen ? Math.min(seen.since, now) : now;
    const lastsMs = (lease?.spec?.leaseDurationSeconds ?? 0) * 1000;
    const held = lease && now - since < lastsMs && heldUntil(lease) + MAX_CLOCK_SKEW_MS > now;
    seen = { at: now, version, since, holder: held ? lease.spec?.holderIdentity || undefined : undefined };
    return seen.holder;
  };
};
export type LeaseWatch = ReturnType<typeof createLeaseWatch>;

export const kruiseConflict = (holder: string): Conflict => ({
  reason: 'OpenKruiseManager',
  error: {
    field: `Lease ${KRUISE_LEASE.namespace}/${KRUISE_LEASE.name}`,
    value: holder,
    problem: "is held by OpenKruise's manager, which acts on the same DaemonSets",
    cure: `stop it (kubectl -n ${KRUISE_LEASE.namespace} scale deployment kruise-controller-manager --replicas=0); its lease runs out by itself`,
  },
});

/** Two managers at work on the same pods are worse than none: without the right to look, nothing is begun. */
export const unreadableLease = (refusal: string): Conflict => ({
  reason: 'LeaseForbidden',
  error: {
    field: `Lease ${KRUISE_LEASE.namespace}/${KRUISE_LEASE.name}`,
    value: refusal,
    problem: "may not be read, so that nobody here knows whether OpenKruise's manager is at work",
    cure: 'grant get on it to the service account of the manager, as deploy/advanced/rbac.yaml does',
  },
});

/** A native DaemonSet that makes pods for the same selector; undefined when there is none. */
export const nativeConflict = async (
  client: KubeClient,
  { namespace, podSelector }: Pick<AdvancedView, 'namespace' | 'podSelector'>,
  signal: AbortSignal,
): Promise<Conflict | undefined> => {
  const { items } = await client.list(daemonSets, { namespace, signal });
  const twin = items.find(({ metadata, spec }) => {
    const selector = fromLabelSelector(spec?.selector ?? {});
    return !metadata?.deletionTimestamp && selector.ok && formatSelector(selector.selector) === podSelector;
  });
  if (!twin) return undefined;
  const name = twin.metadata?.name ?? '';
  return {
    reason: 'NativeDaemonSet',
    error: {
      field: 'spec.selector',
      value: podSelector,
      problem: `is the selector of the native DaemonSet ${name} too, so that no pod is created`,
      cure: `hand its pods over with: kubectl -n ${namespace} delete daemonset.apps ${name} --cascade=orphan`,
    },
  };
};

/** Who is at work on the same pods, as a leader would find it; what the reader may not look at is taken for nobody. */
export const readConflict = async (
  client: KubeClient,
  clock: Pick<Clock, 'now'>,
  view: Pick<AdvancedView, 'namespace' | 'podSelector' | 'deleted'>,
): Promise<OutsideHold | undefined> => {
  if (view.deleted) return { kind: 'deleted' };
  const { signal } = new AbortController();
  const look = async (find: () => Promise<Conflict | undefined>): Promise<Conflict | undefined> => {
    try {
      return await find();
    } catch (error) {
      if (isKubeError(error, 'Forbidden')) return undefined;
      throw error;
    }
  };
  const [kruise, twin] = await Promise.all([
    look(async () => {
      const holder = await kruiseHolder(client, clock, signal);
      return holder === undefined ? undefined : kruiseConflict(holder);
    }),
    look(() => nativeConflict(client, view, signal)),
  ]);
  const obstacle = kruise ?? twin;
  return obstacle && { kind: 'invalid', errors: [obstacle.error], what: CONFLICT };
};
