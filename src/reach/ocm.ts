import { defineResource, ifFound, type KubeObject, leases, listAll } from '../kube/index.ts';
import { toEpochMs, WHOLE_SECOND_MS } from '../rollout/index.ts';
import type { ClusterKind, ClusterReading, Hub } from './kind.ts';
import { writtenAt } from './managed-fields.ts';
import type { ClusterContact, ClusterUpdate } from './reach-of.ts';

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
  /** Undefined: the cluster never reported. */
  status: string | undefined;
  /** By a clock of the cluster or of the hub; 0 if it can't be read. */
  transitionAt: number;
  leaseMs: number;
}

const read = ({ spec, status }: ManagedCluster): OcmReading => {
  const condition = status?.conditions?.find(({ type }) => type === 'ManagedClusterConditionAvailable');
  const transitionAt = toEpochMs(condition?.lastTransitionTime);
  return {
    availability: `${condition?.status} ${transitionAt}`,
    status: condition?.status,
    transitionAt,
    leaseMs: (spec?.leaseDurationSeconds || DEFAULT_LEASE_SECONDS) * 1000,
  };
};

/** When the hub last took a renewal, by the hub's clock: the time in the Lease is by the cluster's. */
const lastRenewal = async (name: string, { client, signal }: Hub): Promise<number | undefined> => {
  const lease = await ifFound(client.get(leases, { namespace: name, name: LEASE }, { signal }));
  const at = writtenAt(lease?.metadata, { path: ['spec', 'renewTime'] }) ?? toEpochMs(lease?.spec?.renewTime);
  return at > 0 ? at : undefined;
};

/** Nothing says when it went away: any update may be why. */
const atAnyTime: ClusterContact = {
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
  isGone: ({ status }) => status !== undefined && status !== 'True',
  async contact(name, { status, transitionAt, leaseMs }, { now, changedAt }, hub) {
    if (status === undefined) return { contact: { state: 'never' } };
    if (status === 'True') {
      // Times are whole seconds, rounded down.
      const since = changedAt ?? (transitionAt > 0 ? transitionAt + WHOLE_SECOND_MS : now);
      return { contact: { state: 'available', since } };
    }
    // The watch may have brought it late, and the time inside may come from another clock: between them.
    const times = [changedAt, transitionAt].filter((time) => time !== undefined && time > 0) as number[];
    const [first, last] = [Math.min(...times), Math.max(...times)];
    // Its API server is not healthy, and its agent said so at once.
    if (status === 'False')
      return { contact: times.length > 0 ? { state: 'gone', lastContact: first, dueBy: last } : atAnyTime };
    const renewedAt = await lastRenewal(name, hub);
    if (renewedAt === undefined && times.length === 0) return { contact: atAnyTime };
    // The hub makes a Lease that is missing, and writes a time of its own into it.
    const isRenewal = renewedAt !== undefined && (times.length === 0 || renewedAt <= last);
    return {
      contact: isRenewal
        ? { state: 'gone', lastContact: renewedAt, dueBy: renewedAt + LEASES_TO_NEXT * leaseMs }
        : { state: 'gone', lastContact: first - LEASES_MISSED * leaseMs, dueBy: last },
    };
  },
  updates: async (name, _reading, { client, signal }) =>
    (await listAll(client, manifestWorks, { namespace: name, signal })).map(readManifestWork),
};
