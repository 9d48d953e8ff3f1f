import { errorText, OptionError, systemClock, untilAborted } from '../../runtime/index.ts';
import { toLines } from '../escape.ts';
import type { Io } from '../io.ts';
import { type ConnectionFlags, withCluster } from '../plugin/connection.ts';
import { untilInterrupted } from '../terminal.ts';
import { runCommand } from './commands.ts';
import { createFleet, type FleetOptions } from './fleet.ts';
import { refuseServeFlags } from './in-cluster/options.ts';
import { type CodeOptions, createKeyGate } from './key-gate.ts';
import { type Addresses, openBrowser } from './open-browser.ts';
import { startDashboardServer } from './server.ts';

const MOST_PORTS = 65_535;
const FIRST =
  'The dashboard runs until Ctrl-C. The following address opens one page, which has your rights; the next one is printed then.';
const NEXT = 'That address was used. If it was not you, press Ctrl-C. The next page opens with:';

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

/** Serves the page on this machine, with the rights of the connection for each page that was opened by an address. */
export const openDashboard = async ({ port, shown = '', ...options }: DashboardOptions): Promise<OwnDashboard> => {
  const fleet = createFleet(options);
  // Those who look at it live in real time, whatever the clock of the cluster shows.
  const env = { ...options.connection.env, clock: systemClock };
  const gate = createKeyGate({ clock: env.clock, fleet });
  try {
    // A right that is missing ends the command here, while the page would wait for ever.
    await fleet.overview();
    const server = await startDashboardServer({
      env,
      listen: { host: '127.0.0.1', port },
      gate,
      now: () => fleet.now(),
      trouble: () => fleet.trouble(),
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
        run: (request) => runCommand(request, flags, io),
        port,
      });
      try {
        dashboard.keepPrinting((address, isFirst) => {
          io.stderr(toLines(isFirst ? FIRST : NEXT));
          io.data(`${address}\n`);
        });
        if (flags.browser !== false && io.terminal) openBrowser(dashboard, io.environment);
        await untilAborted(signal);
      } finally {
        await dashboard.close();
      }
    } finally {
      done();
    }
  });
};
