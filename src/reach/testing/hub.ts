import { createApiServer, createInProcessClient } from '../../../embedded/index.ts';
import { createTestClock } from '../../../test/support/index.ts';
import {
  customResourceDefinitions,
  type KubeClient,
  type KubeObject,
  leases,
  namespaces,
  type Resource,
} from '../../kube/index.ts';
import { createLogger, createRandom } from '../../runtime/index.ts';
import { createReachController, type ReachController, type ReachMetrics } from '../controller.ts';
import { bundleDeployments, fleetClusters } from '../fleet.ts';
import type { ClusterKind, ClusterReading } from '../kind.ts';
import { managedClusters, manifestWorks } from '../ocm.ts';

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };

const crdOf = ({ group, version, plural, kind, namespaced }: Resource) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: namespaced ? 'Namespaced' : 'Cluster',
    names: { plural, kind, singular: kind.toLowerCase(), listKind: `${kind}List` },
    versions: [
      {
        name: version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
});

/** When the clock of a hub starts. */
export const START = Date.parse('2026-01-01T00:00:00Z');

/** A hub on virtual time, whose objects say what those of Open Cluster Management and of Rancher Fleet say. */
export const createHub = async () => {
  const clock = createTestClock(START);
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), now: () => clock.now(), format: 'text' });
  const env = { clock, random: createRandom(1), log };
  const client = createInProcessClient(createApiServer(env));
  for (const resource of [managedClusters, manifestWorks, fleetClusters, bundleDeployments])
    await client.create<KubeObject>(customResourceDefinitions, crdOf(resource));
  const time = (): string => new Date(clock.now()).toISOString();
  const namespaced = new Set<string>();

  const write = async <T extends KubeObject>(resource: Resource<T>, object: T, manager = 'hub'): Promise<void> => {
    const { namespace, name = '' } = object.metadata ?? {};
    const ref = { name, ...(namespace !== undefined && { namespace }) };
    if (namespace !== undefined && !namespaced.has(namespace)) {
      namespaced.add(namespace);
      await client.create(namespaces, { metadata: { name: namespace } });
    }
    const exists = await client.get(resource, ref).then(
      () => true,
      () => false,
    );
    if (!exists) await client.create(resource, object, { fieldManager: manager });
    const { status } = object as { status?: unknown };
    if (exists) await client.patch(resource, ref, object, { type: 'merge', fieldManager: manager });
    if (status !== undefined)
      await client.patch(resource, ref, { status }, { type: 'merge', fieldManager: manager, subresource: 'status' });
  };

  return {
    clock,
    client,
    env,
    lines,
    write,
    time,
    /** What the hub says of a ManagedCluster. */
    available: (name: string, status: 'True' | 'False' | 'Unknown'): Promise<void> =>
      write(managedClusters, {
        metadata: { name },
        status: { conditions: [{ type: 'ManagedClusterConditionAvailable', status, lastTransitionTime: time() }] },
      }),
    renewLease: (namespace: string): Promise<void> =>
      write(leases, {
        metadata: { namespace, name: 'managed-cluster-lease' },
        spec: { renewTime: new Date(clock.now()).toISOString().replace('Z', '000Z') },
      }),
    give: (namespace: string, version: string): Promise<void> =>
      write(manifestWorks, { metadata: { namespace, name: 'till' }, spec: { version } } as KubeObject),
    checkIn: (name: string): Promise<void> =>
      write(fleetClusters, {
        metadata: { namespace: 'fleet-default', name },
        status: { namespace: `cluster-${name}`, agent: { lastSeen: time() } },
      }),
    label: async (resource: Resource, name: string, namespace?: string): Promise<string | undefined> => {
      const found = await client.get(resource, { name, ...(namespace !== undefined && { namespace }) });
      return found.metadata?.labels?.['edgeset.io/reach'];
    },
    /** Starts a controller that leads; stops with the returned function. */
    start: <T extends KubeObject, R extends ClusterReading>(
      kind: ClusterKind<T, R>,
      metrics: ReachMetrics = { changed: () => undefined, failed: () => undefined },
      through: KubeClient = client,
    ): { controller: ReachController; stop: () => Promise<void> } => {
      const stopping = new AbortController();
      const terms = { settleMs: 10_000, suspectWindowMs: 300_000 };
      const controller = createReachController(kind, { client: through, env, terms, metrics, aheadMs: () => 0 });
      const runs = [controller.run(stopping.signal), controller.lead(stopping.signal)];
      return {
        controller,
        async stop() {
          stopping.abort();
          await Promise.all(runs);
        },
      };
    },
  };
};
