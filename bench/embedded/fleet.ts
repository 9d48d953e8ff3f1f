import { join } from 'node:path';
import { MANAGER_FLAGS } from '../../bin/flags.ts';
import { buildManager } from '../../scripts/bundle.ts';
import { createClient, customResourceDefinitions, daemonSets, loadClusterConfig } from '../../src/kube/index.ts';
import { daemonRolloutCrd } from '../../src/rollout/index.ts';
import { silentLogger, systemClock } from '../../src/runtime/index.ts';
import { createProcesses } from '../../test/cluster/processes.ts';
import { eventually, HopelessError } from '../../test/support/index.ts';
import { type NativeRelease, native } from '../real/native.ts';

const NAMESPACE = 'default';
const APPLY = { type: 'apply', fieldManager: 'bench', force: true } as const;

/**
 * The embedded cluster in a process of its own, for more nodes than the real control plane and its simulated kubelets have room for
 * beside a browser. `folder` holds the programs of the command line.
 */
export const startEmbeddedFleet = async (nodes: number, folder: string) => {
  const processes = createProcesses(folder);
  const kubeconfig = join(folder, 'kubeconfig');
  const { file: manager } = await buildManager(join(folder, 'manager'));
  const start = (name: string, ...args: string[]) => processes.start({ name, file: process.execPath, args });
  const cluster = await start(
    'cluster',
    join(folder, 'edgeset.mjs'),
    'cluster',
    `--nodes=${nodes}`,
    `--kubeconfig-out=${kubeconfig}`,
  );
  const isUp = async (): Promise<boolean> => {
    const log = await cluster.log();
    if (cluster.ended !== undefined) throw new HopelessError(`the cluster ended: ${log}`);
    return log.includes('export KUBECONFIG=');
  };
  await eventually('the cluster is up', isUp, { withinMs: 180_000, everyMs: 250 });
  const env = { clock: systemClock, random: Math.random, log: silentLogger };
  const config = await loadClusterConfig({ kubeconfig, env: {} });
  const client = createClient(config, { env, userAgent: 'edgeset-bench' });
  await client.create(customResourceDefinitions, daemonRolloutCrd);
  const ref = (name: string) => ({ namespace: NAMESPACE, name });
  return {
    kubeconfig,
    namespace: NAMESPACE,
    /** Applies a DaemonSet; resolves at once. */
    apply: async (name: string, release: NativeRelease): Promise<void> =>
      void (await client.patch(daemonSets, ref(name), native.object(name, release), APPLY)),
    /** Resolves when every node runs the DaemonSet's template, available. */
    whenRolledOut: (name: string, timeoutMs: number): Promise<boolean> =>
      eventually(
        `${name} is rolled out`,
        async () => {
          const { metadata, status } = await client.get(daemonSets, ref(name));
          return (
            status?.observedGeneration === metadata?.generation &&
            status?.updatedNumberScheduled === nodes &&
            status.numberAvailable === nodes
          );
        },
        { withinMs: timeoutMs, everyMs: 1_000 },
      ),
    /** Starts the product's manager. */
    startManager: () =>
      start(
        'manager',
        ...MANAGER_FLAGS,
        manager,
        'manager',
        `--kubeconfig=${kubeconfig}`,
        '--leader-elect=false',
        '--metrics-bind-address=0',
        '--health-probe-bind-address=0',
      ),
    async stop(): Promise<void> {
      await client.close();
      await processes.close();
    },
  };
};
