import { createLogger, OptionError, systemClock } from '../../runtime/index.ts';
import { createEmbeddedCluster, type EmbeddedCluster, type HttpsServer, startHttpsServer } from '../../sim/index.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { checkFree, writeKubeconfig } from './kubeconfig-file.ts';
import { type ClusterFlags, resolveClusterOptions } from './options.ts';

/** The part of `process` that asks it to end; `process` itself fits. */
export interface SignalSource {
  once(event: NodeJS.Signals, handler: () => void): unknown;
  off(event: NodeJS.Signals, handler: () => void): unknown;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** People who take a node offline want to see it soon; with many nodes heartbeats would be all that happens. */
const graceMsOf = (nodes: number): number => (nodes <= 500 ? 10_000 : 40_000);

const onceStopped = (source: SignalSource): { stopped: Promise<void>; forget: () => void } => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const handler = (): void => resolve();
  for (const signal of SIGNALS) source.once(signal, handler);
  return {
    stopped: promise,
    forget() {
      for (const signal of SIGNALS) source.off(signal, handler);
    },
  };
};

const serve = async (cluster: EmbeddedCluster, port: number): Promise<HttpsServer> => {
  try {
    return await startHttpsServer({ apiServer: cluster.apiServer, wallClock: systemClock, port });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE')
      throw new OptionError('--port', `${port} on 127.0.0.1 is in use: give another one, or leave --port out`);
    if (code === 'EACCES')
      throw new OptionError('--port', `${port} may not be used by this user: give one above 1023, or leave --port out`);
    throw error;
  }
};

const isReady = (object: unknown): boolean => {
  const { status } = object as { status?: { conditions?: { type: string; status: string }[] } };
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
};

/** Creates the nodes; resolves when all have said that they are ready. */
const addNodes = (cluster: EmbeddedCluster, count: number): Promise<void> =>
  new Promise((resolve) => {
    const missing = new Set(Array.from({ length: count }, (_, index) => `node-${index + 1}`));
    const names = [...missing];
    if (count === 0) resolve();
    const end = cluster.apiServer.subscribe(({ resource, object }) => {
      if (resource.plural !== 'nodes' || !isReady(object)) return;
      missing.delete(object.metadata.name);
      if (missing.size > 0) return;
      end();
      resolve();
    });
    for (const name of names) cluster.addNode(name);
  });

const help = (node: string): string => `
In another terminal, after the line above:

  kubectl get nodes
  kubectl annotate node ${node} edgeset.io/sim=offline
  kubectl annotate node ${node} edgeset.io/sim-

Ctrl-C ends it. More: docs/guide/embedded-cluster.md
`;

/** Runs the embedded cluster until a signal comes. The only line on stdout is for the user's shell. */
export const runCluster = async (flags: ClusterFlags, io: Io, signals: SignalSource): Promise<ExitCode> => {
  const { kubeconfig, nodes, port } = resolveClusterOptions(flags);
  await checkFree(kubeconfig);
  const { stopped, forget } = onceStopped(signals);
  const log = createLogger({
    write: (line) => io.stderr(`${line}\n`),
    now: () => systemClock.now(),
    level: 'warn',
    format: 'text',
  });
  const env = { clock: systemClock, random: io.random, log };
  const cluster = createEmbeddedCluster({ env, graceMs: graceMsOf(nodes) });
  try {
    const server = await serve(cluster, port);
    try {
      const removeFile = await writeKubeconfig(kubeconfig, server.kubeconfig());
      try {
        await Promise.race([addNodes(cluster, nodes), stopped]);
        io.stdout(`export KUBECONFIG=${kubeconfig}\n`);
        if (nodes > 0) io.stderr(help('node-1'));
        await stopped;
      } finally {
        await removeFile();
      }
    } finally {
      await server.stop();
    }
  } finally {
    cluster.close();
    forget();
  }
  return exitCodes.ok;
};
