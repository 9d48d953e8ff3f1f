import { defineResource, ifFound, type KubeObject, leases, listAll } from '../kube/index.ts';
import { toEpochMs, writtenAt } from '../rollout/index.ts';
import type { ClusterKind, ClusterReading, Hub } from './kind.ts';
import type { ClusterUpdate, GoneContact } from './reach-of.ts';

// Open Cluster Management. The agent of a cluster renews a Lease in the cluster's namespace every `leaseDurationSeconds`, and up
// to a quarter later. After five of them without a renewal, the hub sets the condition to Unknown.

interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  observedGeneration?: number;
}

export interface ManagedCluster extends KubeObject {
  spec?: { leaseDurationSeconds?: number };
  status?: { conditions?: readonly Condition[] };
}

export interface ManifestWork extends KubeObject {
  status?: { conditions?: readonly Condition[] };
}

const GROUP = 'cluster.open-cluster-management.io';

export const managedClusters = defineResource<ManagedCluster>({
  group: GROUP,
  version: 'v1',
  plural: 'managedclusters',
  kind: 'ManagedCluster',
  namespaced: false,
});

export const manifestWorks = defineResource<ManifestWork>({
  group: 'work.open-cluster-management.io',
  version: 'v1',
  plural: 'manifestworks',
  kind: 'ManifestWork',
  namespaced: true,
});

const LEASE = 'managed-cluster-lease';
const DEFAULT_LEASE_SECONDS = 60;
/** Lease durations without a renewal after which the hub gives up. */
const LEASES_MISSED = 5;
/** By then the next renewal was due, even if one was late or lost. */
const LEASES_TO_NEXT = 2;

interface OcmReading extends ClusterReading {
  /** Its API server is not healthy, and its agent said so. */
  isUnhealthy: boolean;
  /** When the condition changed, by a clock of the cluster or of the hub. */
  transitionAt: number;
  /** When any condition was last changed, by the API server's clock. */
  writtenAt: number | undefined;
  leaseMs: number;
}

const goneAfter = (status: string | undefined): number | undefined => {
  if (status === undefined) return undefined;
  return status === 'True' ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
};

const read = ({ metadata, spec, status }: ManagedCluster): OcmReading => {
  const condition = status?.conditions?.find(({ type }) => type === 'ManagedClusterConditionAvailable');
  const transitionAt = toEpochMs(condition?.lastTransitionTime);
  const leaseMs = (spec?.leaseDurationSeconds || DEFAULT_LEASE_SECONDS) * 1000;
  const gone = goneAfter(condition?.status);
  return {
    availability: `${condition?.status} ${transitionAt}`,
    goneAfter: gone,
    missingAfter: gone ?? Number.POSITIVE_INFINITY,
    // Each Lease runs out by itself, as long after the first as it was renewed after that.
    spreadMs: LEASES_TO_NEXT * leaseMs,
    isUnhealthy: condition?.status === 'False',
    transitionAt,
    writtenAt: writtenAt(metadata, { path: ['status', 'conditions'], subresource: 'status' }),
    leaseMs,
  };
};

/** When the hub last took a renewal, by the hub's clock: the time in the Lease is by the cluster's. */
const lastRenewal = async (name: string, { client, signal }: Hub): Promise<number | undefined> => {
  const lease = await ifFound(client.get(leases, { namespace: name, name: LEASE }, { signal }));
  const at = writtenAt(lease?.metadata, { path: ['spec', 'renewTime'] }) ?? toEpochMs(lease?.spec?.renewTime);
  return at > 0 ? at : undefined;
};

/** Nothing says when it went away: any update may be why. */
const atAnyTime: GoneContact = {
  state: 'gone',
  lastContact: Number.NEGATIVE_INFINITY,
  dueBy: Number.POSITIVE_INFINITY,
};

const isTrue = (work: ManifestWork, type: string, status = 'True'): boolean =>
  work.status?.conditions?.some(
    (condition) =>
      condition.type === type &&
      condition.status === status &&
      condition.observedGeneration === work.metadata?.generation,
  ) ?? false;

/** Applied in this generation, and no longer progressing; without rules for `Progressing`, available. */
const isFinished = (work: ManifestWork): boolean => {
  const hasRules = work.status?.conditions?.some(({ type }) => type === 'Progressing') ?? false;
  return isTrue(work, 'Applied') && (hasRules ? isTrue(work, 'Progressing', 'False') : isTrue(work, 'Available'));
};

export const readManifestWork = (work: ManifestWork): ClusterUpdate => ({
  name: `ManifestWork ${work.metadata?.name ?? ''}`,
  at: writtenAt(work.metadata, { path: ['spec'] }),
  finished: isFinished(work),
  failed: isTrue(work, 'Degraded'),
});

export const ocm: ClusterKind<ManagedCluster, OcmReading> = {
  name: 'ocm',
  api: {
    group: GROUP,
    version: 'v1',
    plural: 'managedclusters',
    remedy: 'to label its ManagedClusters, install the hub of Open Cluster Management',
  },
  clusters: managedClusters,
  read,
  async lastContact(name, reading, changedAt, hub) {
    const { isUnhealthy, transitionAt, leaseMs } = reading;
    if (transitionAt === 0) return atAnyTime;
    // The watch may have brought it late, and the time inside may come from another clock: between them.
    const times = [transitionAt, changedAt ?? transitionAt, reading.writtenAt ?? transitionAt];
    const [first, last] = [Math.min(...times), Math.max(...times)];
    if (isUnhealthy) return { state: 'gone', lastContact: first, dueBy: last };
    const renewedAt = await lastRenewal(name, hub);
    // The hub makes a Lease that is missing, and writes a time of its own into it.
    return renewedAt !== undefined && renewedAt <= first
      ? { state: 'gone', lastContact: renewedAt, dueBy: renewedAt + LEASES_TO_NEXT * leaseMs }
      : { state: 'gone', lastContact: first - LEASES_MISSED * leaseMs, dueBy: last };
  },
  updates: async (name, _reading, { client, signal }) =>
    (await listAll(client, manifestWorks, { namespace: name, signal })).map(readManifestWork),
};
