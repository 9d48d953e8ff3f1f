import { openDashboard, refuseServeFlags, runCommand } from '../dashboard/index.ts';
import { OptionError, untilAborted } from '../runtime/index.ts';
import { toLines } from '../text/index.ts';
import { type ConnectionFlags, withCluster } from '../view/index.ts';
import type { Io } from './io.ts';
import { openBrowser } from './open-browser.ts';
import { untilInterrupted } from './terminal.ts';

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
          io.stdout(`${address}\n`);
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
