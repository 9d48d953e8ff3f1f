import { isKubeError, type KubeClient, leases } from '../../kube/index.ts';
import { daemonSets } from '../../resources/index.ts';
import { formatSelector, fromLabelSelector, type PolicyError } from '../../rollout/index.ts';
import type { Clock } from '../../runtime/index.ts';
import type { AdvancedView } from '../advanced-view.ts';

/** Somebody else is at work on the same pods. `reason` is for conditions and Events. */
export interface Obstacle {
  reason: 'OpenKruiseManager' | 'LeaseForbidden' | 'NativeDaemonSet';
  error: PolicyError;
}

/** Where OpenKruise's manager elects its leader. */
const KRUISE_LEASE = { namespace: 'kruise-system', name: 'kruise-manager' };
/** As long as its lease lasts; read only when there is something to do. */
const LEASE_LOOK_MS = 15_000;

/** Reads the lease of OpenKruise's manager, at most once in a while for all DaemonSets together. */
export const createLeaseWatch = () => {
  let seen: { at: number; holder: string | undefined } | undefined;
  return async (client: KubeClient, clock: Pick<Clock, 'now'>, signal: AbortSignal): Promise<string | undefined> => {
    const now = clock.now();
    if (seen && now >= seen.at && now - seen.at < LEASE_LOOK_MS) return seen.holder;
    let holder: string | undefined;
    try {
      const { spec } = await client.get(leases, KRUISE_LEASE, { signal });
      const until = Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1000;
      holder = spec?.holderIdentity && until > now ? spec.holderIdentity : undefined;
    } catch (error) {
      if (!isKubeError(error, 'NotFound')) throw error;
    }
    seen = { at: now, holder };
    return holder;
  };
};
export type LeaseWatch = ReturnType<typeof createLeaseWatch>;

export const kruiseObstacle = (holder: string): Obstacle => ({
  reason: 'OpenKruiseManager',
  error: {
    field: `Lease ${KRUISE_LEASE.namespace}/${KRUISE_LEASE.name}`,
    value: holder,
    problem: "is held by OpenKruise's manager, which acts on the same DaemonSets",
    cure: `stop it (kubectl -n ${KRUISE_LEASE.namespace} scale deployment kruise-controller-manager --replicas=0); its lease runs out by itself`,
  },
});

/** Two managers at work on the same pods are worse than none: without the right to look, nothing is begun. */
export const hiddenLease = (refusal: string): Obstacle => ({
  reason: 'LeaseForbidden',
  error: {
    field: `Lease ${KRUISE_LEASE.namespace}/${KRUISE_LEASE.name}`,
    value: refusal,
    problem: "may not be read, so that nobody here knows whether OpenKruise's manager is at work",
    cure: 'grant get on it to the service account of the manager, as deploy/advanced/rbac.yaml does',
  },
});

/** A native DaemonSet that makes pods for the same selector; undefined when there is none. */
export const nativeObstacle = async (
  client: KubeClient,
  { namespace, podSelector }: Pick<AdvancedView, 'namespace' | 'podSelector'>,
  signal: AbortSignal,
): Promise<Obstacle | undefined> => {
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
