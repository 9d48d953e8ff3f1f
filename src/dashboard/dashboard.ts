import { ownName } from '../commands/index.ts';
import type { KubeClient } from '../kube/index.ts';
import { type Env, errorText, OptionError, systemClock } from '../runtime/index.ts';
import { type ClustersOptions, createClusters } from './clusters.ts';
import { createFleet, type Fleet, type FleetOptions } from './fleet.ts';
import { type CodeOptions, createKeyGate, type KeyGateOptions } from './key-gate.ts';
import { startDashboardServer } from './server.ts';

/** Addresses of a server on this machine, each of which opens one page. */
export interface Addresses {
  port: number;
  newAddress: (options?: CodeOptions) => string;
}

export interface DashboardOptions extends FleetOptions {
  /** 0 for any. */
  port: number;
  /** What addresses show, as in those of the page: `/NAMESPACE/KIND/NAME`. Default: all rollouts. */
  shown?: string;
}

export interface OwnDashboard extends Addresses {
  /** Prints an address, and the next one whenever a page has used it: the address printed last always opens a page. */
  keepPrinting(print: (address: string, isFirst: boolean) => void): void;
  close(): Promise<void>;
}

/** Who the API server takes the user for; empty where it does not say, as before Kubernetes 1.28. */
const userOf = (client: Pick<KubeClient, 'create'>): Promise<string> => ownName({ client }).catch(() => '');

interface Served {
  env: Env;
  fleet: Fleet;
  /** Who looks at it, once there is something to show. */
  session: () => Promise<NonNullable<KeyGateOptions['session']>>;
  port: number;
  /** See `DashboardOptions`. */
  shown?: string | undefined;
}

/** Serves the page on this machine. Closes the fleet with it, and if it can't be served. */
const serveFleet = async ({ env, fleet, session, port, shown = '' }: Served): Promise<OwnDashboard> => {
  try {
    const gate = createKeyGate({ clock: env.clock, fleet, session: await session() });
    const server = await startDashboardServer({
      env,
      listen: { host: '127.0.0.1', port },
      gate,
      now: () => fleet.now(),
      trouble: (cluster) => fleet.trouble(cluster),
      page: async () => (await import('#fleet-page')).fleetPage(),
      toListenError: (_address, cause) =>
        new OptionError('--port', `${port} cannot be used (${errorText(cause)}): give another one, or 0 for any`),
    });
    const newAddress = (code?: CodeOptions): string =>
      `http://127.0.0.1:${server.port}/#code=${gate.newCode(code)}${shown}`;
    return {
      port: server.port,
      newAddress,
      keepPrinting(print) {
        const next = (isFirst: boolean): void =>
          print(newAddress({ ended: (how) => how === 'used' && next(false) }), isFirst);
        next(true);
      },
      async close() {
        gate.close();
        await server.close();
        await fleet.close();
      },
    };
  } catch (error) {
    await fleet.close();
    throw error;
  }
};

/** Serves the page on this machine, with the rights of the connection for each page that was opened by an address. */
export const openDashboard = async ({ port, shown, ...options }: DashboardOptions): Promise<OwnDashboard> => {
  const fleet = createFleet(options);
  // Those who look at it live in real time, whatever the clock of the cluster shows.
  const env = { ...options.connection.env, clock: systemClock };
  const { cluster, client } = options.connection;
  const session = async () => {
    const user = await userOf(client);
    // A right that is missing ends the command here, while the page would wait for ever.
    await fleet.overview();
    return { cluster, user };
  };
  return serveFleet({ env, fleet, session, port, shown });
};

export interface ClustersDashboardOptions extends Omit<ClustersOptions, 'env'> {
  env: Env;
  /** 0 for any. */
  port: number;
}

/** The same for the clusters of several contexts, whether they answer or not. */
export const openClustersDashboard = ({ port, ...options }: ClustersDashboardOptions): Promise<OwnDashboard> => {
  const session = async () => ({ cluster: '', user: '', clusters: options.contexts });
  return serveFleet({ env: options.env, fleet: createClusters(options), session, port });
};
