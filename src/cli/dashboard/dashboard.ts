import { generateKeySync } from 'node:crypto';
import { errorText, OptionError, systemClock, untilAborted } from '../../runtime/index.ts';
import { toLines } from '../escape.ts';
import type { Io } from '../io.ts';
import { type ConnectionFlags, withCluster } from '../plugin/connection.ts';
import { untilInterrupted } from '../terminal.ts';
import { runCommand } from './commands.ts';
import { createFleet, type FleetOptions } from './fleet.ts';
import { refuseServeFlags } from './in-cluster/options.ts';
import { createKeyGate, PARAMETER } from './key-gate.ts';
import { openBrowser } from './open-browser.ts';
import { startDashboardServer } from './server.ts';

const MOST_PORTS = 65_535;

export interface DashboardFlags extends ConnectionFlags {
  port?: string;
  /** False with --no-browser. */
  browser?: boolean;
  allNamespaces?: boolean;
}

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= MOST_PORTS) return port;
  throw new OptionError('--port', `"${text}" is not a port: give a number up to ${MOST_PORTS}, or 0 for any free one`);
};

/** The flags of the connection, for the commands that the page runs. */
const flagsOf = (flags: ConnectionFlags): string[] =>
  Object.entries(flags).flatMap(([key, value]: [string, unknown]) => {
    const flag = `--${key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    if (['namespace', 'port', 'browser', 'allNamespaces'].includes(key) || value === undefined) return [];
    if (value === true) return [flag];
    return (Array.isArray(value) ? value : [value]).map((one) => `${flag}=${String(one)}`);
  });

export interface DashboardOptions extends FleetOptions {
  /** 0 for any. */
  port: number;
}

/** Serves the page on this machine. Anyone who has its address has the rights of the connection. */
export const openDashboard = async ({ port, ...options }: DashboardOptions) => {
  const fleet = createFleet(options);
  try {
    // A right that is missing ends the command here, while the page would wait for ever.
    await fleet.overview();
    const key = generateKeySync('hmac', { length: 256 }).export().toString('base64url');
    const server = await startDashboardServer({
      // Those who look at it live in real time, whatever the clock of the cluster shows.
      env: { ...options.connection.env, clock: systemClock },
      listen: { host: '127.0.0.1', port },
      gate: createKeyGate(key, fleet),
      now: () => fleet.now(),
      trouble: () => fleet.trouble(),
      page: async () => (await import('#fleet-page')).fleetPage(),
      toListenError: (_address, cause) =>
        new OptionError('--port', `${port} cannot be used (${errorText(cause)}): give another one, or 0 for any`),
    });
    return {
      /** With the key. */
      address: `http://127.0.0.1:${server.port}/?${PARAMETER}=${key}`,
      async close(): Promise<void> {
        await server.close();
        await fleet.close();
      },
    };
  } catch (error) {
    await fleet.close();
    throw error;
  }
};

/** Serves the page with the user's own rights until interrupted. */
export const showDashboard = async (flags: DashboardFlags, io: Io): Promise<void> => {
  refuseServeFlags(flags);
  const port = portOf(flags.port ?? '0');
  await withCluster(flags, io, async (connection) => {
    const { signal, done } = untilInterrupted();
    try {
      const dashboard = await openDashboard({
        connection,
        namespace: flags.namespace === undefined || flags.allNamespaces ? undefined : connection.namespace,
        run: (request) => runCommand(request, flagsOf(flags), io),
        port,
      });
      try {
        io.stderr(
          toLines(
            'The dashboard is at the following address until Ctrl-C. Anyone who has the address has your rights.',
          ),
        );
        io.data(`${dashboard.address}\n`);
        if (flags.browser !== false && io.terminal) openBrowser(dashboard.address, io.environment);
        await untilAborted(signal);
      } finally {
        await dashboard.close();
      }
    } finally {
      done();
    }
  });
};
