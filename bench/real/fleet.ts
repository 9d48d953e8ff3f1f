import { startCluster, until } from '../../test/cluster/index.ts';
import type { Manager } from '../../test/conformance/index.ts';
import { MEAN_ANNOTATION, spreadDownTimes } from './down-times.ts';

export interface Release {
  version: number;
  /** Value of apps.openyurt.io/max-unavailable; undefined: the DaemonSet does not opt in. */
  maxUnavailable: string | undefined;
  meanStartMs: number;
}

const STOP_MS = 200;
/** Nodes at a time: their status is polled as one list. */
const CHUNK = 250;

interface SetStatus {
  metadata: { generation: number };
  status: { observedGeneration?: number; updatedNumberScheduled?: number; numberAvailable?: number };
}

/** A real control plane with simulated nodes and a namespace for DaemonSets on all of them. */
export const startRealFleet = async (nodes: number) => {
  // No node is to fall away, however busy the machine; and leases of thousands of nodes, renewed every second, would be
  // all that is measured.
  const cluster = await startCluster({ graceSeconds: 300, delays: { stopMs: STOP_MS } });
  const { api } = cluster.plane;
  try {
    await spreadDownTimes(api);
    const namespace = await cluster.createNamespace('bench');
    const names = Array.from({ length: nodes }, (_, index) => `edge-${String(index).padStart(4, '0')}`);
    for (let from = 0; from < nodes; from += CHUNK) await cluster.addNodes(names.slice(from, from + CHUNK));
    const path = (name: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`;

    return {
      cluster,
      namespace,
      nodes,
      /** Applies a DaemonSet; resolves at once. */
      async apply(name: string, { version, maxUnavailable, meanStartMs }: Release): Promise<void> {
        const optIn =
          maxUnavailable === undefined
            ? {}
            : { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': maxUnavailable };
        const labels = { app: name };
        await api.apply(path(name), {
          apiVersion: 'apps/v1',
          kind: 'DaemonSet',
          metadata: { name, annotations: optIn },
          spec: {
            selector: { matchLabels: labels },
            updateStrategy: { type: 'OnDelete' },
            template: {
              metadata: { labels, annotations: { [MEAN_ANNOTATION]: String(meanStartMs) } },
              spec: { containers: [{ name: 'app', image: `app:v${version}` }] },
            },
          },
        });
      },
      /** Resolves when every node runs the DaemonSet's template, available. */
      whenRolledOut: (name: string, timeoutMs: number): Promise<boolean> =>
        until(`${name} is rolled out`, timeoutMs, 250, async () => {
          cluster.plane.mustRun();
          const { metadata, status } = await api.get<SetStatus>(path(name));
          return (
            status.observedGeneration === metadata.generation &&
            status.updatedNumberScheduled === nodes &&
            status.numberAvailable === nodes
          );
        }),
      /** Starts the product's manager; resolves when it is ready. Nothing else may lead. */
      async startManager(): Promise<Manager> {
        const manager = await cluster.startManager({ namespace, args: ['--leader-elect=false'] });
        const ended = manager.exit.then(async (how) => {
          throw new Error(`the manager ended with ${how}: ${(await manager.log()).slice(-500)}`);
        });
        ended.catch(() => undefined);
        const ready = until(
          'the manager is ready',
          60_000,
          250,
          async () => (await fetch(`${manager.probes}/readyz`)).ok,
        );
        await Promise.race([ready, ended]);
        return manager;
      },
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
};
export type RealFleet = Awaited<ReturnType<typeof startRealFleet>>;
