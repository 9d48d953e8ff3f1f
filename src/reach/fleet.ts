import { defineResource, type KubeObject, listAll, splitKey } from '../kube/index.ts';
import { toEpochMs, writtenAt } from '../rollout/index.ts';
import type { ClusterKind, ClusterReading } from './kind.ts';
import type { ClusterUpdate } from './reach-of.ts';

// Rancher Fleet. The agent of a cluster writes the time into `status.agent.lastSeen` at each check-in, every 15 minutes by default.
// Nothing on the hub says that a cluster is offline.

export interface FleetCluster extends KubeObject {
  status?: { namespace?: string; agent?: { lastSeen?: string | null } };
}

export interface BundleDeployment extends KubeObject {
  spec?: { deploymentID?: string | null; stagedDeploymentID?: string | null };
  status?: {
    appliedDeploymentID?: string | null;
    ready?: boolean;
    nonReadyStatus?: readonly { summary?: { error?: boolean } }[] | null;
    conditions?: readonly { type: string; status: string }[] | null;
  };
}

const GROUP = 'fleet.cattle.io';

export const fleetClusters = defineResource<FleetCluster>({
  group: GROUP,
  version: 'v1alpha1',
  plural: 'clusters',
  kind: 'Cluster',
  namespaced: true,
});

export const bundleDeployments = defineResource<BundleDeployment>({
  group: GROUP,
  version: 'v1alpha1',
  plural: 'bundledeployments',
  kind: 'BundleDeployment',
  namespaced: true,
});

export interface FleetTerms {
  /** How often the agents check in. Default 15 min. */
  checkInMs: number;
  /** Without a check-in for longer, a cluster has gone away. Default 45 min. */
  offlineAfterMs: number;
}

interface FleetReading extends ClusterReading {
  lastSeen: number;
  namespace: string | undefined;
}

/** In check-ins. A healthy cluster may be late. */
const MISSED = 1.5;

/** When a cluster last checked in; undefined: never. */
const lastSeenOf = ({ metadata, status }: FleetCluster): number | undefined => {
  const said = toEpochMs(status?.agent?.lastSeen);
  if (said <= 0) return undefined;
  // The time itself is by the cluster's clock.
  return writtenAt(metadata, { path: ['status', 'agent', 'lastSeen'], subresource: 'status' }) ?? said;
};

export const readBundleDeployment = ({ metadata, spec, status }: BundleDeployment): ClusterUpdate => {
  const isApplied = !!spec?.deploymentID && spec.deploymentID === status?.appliedDeploymentID;
  const finished = isApplied && status.ready === true;
  // When Fleet last wrote the spec. It may only have staged the next version, which the cluster has not been given.
  const isOnlyStaged = finished && !!spec.stagedDeploymentID && spec.stagedDeploymentID !== spec.deploymentID;
  return {
    name: `BundleDeployment ${metadata?.name ?? ''}`,
    at: isOnlyStaged ? undefined : writtenAt(metadata, { path: ['spec', 'deploymentID'] }),
    finished,
    failed: isApplied
      ? (status.nonReadyStatus?.some(({ summary }) => summary?.error === true) ?? false)
      : (status?.conditions?.some(({ type, status: is }) => type === 'Deployed' && is === 'False') ?? false),
  };
};

export const createFleetKind = ({
  checkInMs,
  offlineAfterMs,
}: FleetTerms): ClusterKind<FleetCluster, FleetReading> => ({
  name: 'fleet',
  api: {
    group: GROUP,
    version: 'v1alpha1',
    plural: 'clusters',
    remedy: 'to label its Clusters, install Rancher Fleet',
  },
  clusters: fleetClusters,
  read(cluster) {
    const seen = lastSeenOf(cluster);
    const lastSeen = seen ?? Number.POSITIVE_INFINITY;
    return {
      availability: '',
      goneAfter: seen === undefined ? undefined : seen + offlineAfterMs,
      missingAfter: lastSeen + Math.max(offlineAfterMs - checkInMs, MISSED * checkInMs),
      spreadMs: checkInMs,
      lastSeen,
      namespace: cluster.status?.namespace || undefined,
    };
  },
  lastContact: (_key, { lastSeen }) =>
    Promise.resolve({ state: 'gone', lastContact: lastSeen, dueBy: lastSeen + checkInMs }),
  async updates(key, { namespace }, { client, signal }) {
    // Nothing can have been deployed to a cluster without a namespace.
    if (namespace === undefined || splitKey(key).namespace === undefined) return [];
    return (await listAll(client, bundleDeployments, { namespace, signal })).map(readBundleDeployment);
  },
});
