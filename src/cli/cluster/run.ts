import path from 'node:path';
import {
  createEmbeddedCluster,
  type EmbeddedCluster,
  type HttpsServer,
  startHttpsServer,
} from '../../../embedded/index.ts';
import { createLogger, OptionError, systemClock } from '../../runtime/index.ts';
import { type ExitCode, exitCodes, type ProcessIo } from '../io.ts';
import { checkFree, writeKubeconfig } from './kubeconfig-file.ts';

/** The flags of `edgeset cluster` as given. */
export interface ClusterFlags {
  kubeconfigOut?: string;
  nodes?: string;
  port?: string;
}

export interface ClusterOptions {
  /** Absolute. */
  kubeconfig: string;
  /** 0 to 20,000. Default 3. */
  nodes: number;
  /** Default 0: any free port. */
  port: number;
}

const MOST_NODES = 20_000;
const MOST_PORTS = 65_535;

const readNumber = (flag: string, text: string, low: number, high: number): number => {
  if (!/^\d+$/.test(text) || Number(text) < low || Number(text) > high)
    throw new OptionError(flag, `"${text}" does not fit: give a whole number from ${low} to ${high}`);
  return Number(text);
};

/** Validates the flags and fills in defaults. Throws an `OptionError` that names the first invalid flag. */
export const resolveClusterOptions = ({ kubeconfigOut = '', nodes, port }: ClusterFlags): ClusterOptions => {
  if (kubeconfigOut === '') throw new OptionError('--kubeconfig-out', 'is empty: give the name of a file to write');
  return {
    kubeconfig: path.resolve(kubeconfigOut),
    nodes: nodes === undefined ? 3 : readNumber('--nodes', nodes, 0, MOST_NODES),
    port: port === undefined ? 0 : readNumber('--port', port, 1, MOST_PORTS),
  };
};

/** Where signals come from, such as `process`. */
export interface SignalSource {
  once(event: NodeJS.Signals, handler: () => void): unknown;
  off(event: NodeJS.Signals, handler: () => void): unknown;
}

const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Users who take a node offline want to see it soon; with many nodes, such frequent heartbeats would be all the work. */
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
      throw new OptionError('--port', `${port} on 127.0.0.1 is in use: give another port, or omit --port`);
    if (code === 'EACCES')
      throw new OptionError('--port', `${port} requires root: give a port above 1023, or omit --port`);
    throw error;
  }
};

const isReady = (object: unknown): boolean => {
  const { status } = object as { status?: { conditions?: { type: string; status: string }[] } };
  return status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') ?? false;
};

/** Creates the nodes; resolves when all are Ready. */
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
In another terminal, run the line above, then for example:

  kubectl get nodes
  kubectl annotate node ${node} edgeset.io/sim=offline
  kubectl annotate node ${node} edgeset.io/sim-

Ctrl-C stops the cluster. More: docs/how-to/embedded-cluster.md
`;

/** Runs the embedded cluster until a signal arrives. The only line on stdout is for the user's shell. */
export const runCluster = async (flags: ClusterFlags, io: ProcessIo, signals: SignalSource): Promise<ExitCode> => {
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
