import {
  type ClustersDashboardOptions,
  type CommandRequest,
  type CommandResult,
  type OwnDashboard,
  openClustersDashboard,
  openDashboard,
  refuseServeFlags,
  runCommand,
} from '../dashboard/index.ts';
import { type Env, OptionError, silentLogger, systemClock, untilAborted } from '../runtime/index.ts';
import { isActive, toLines } from '../text/index.ts';
import { type ConnectionFlags, connectionSettings, withCluster } from '../view/index.ts';
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
  /** Several contexts of the kubeconfig, instead of one; each once. */
  contexts?: readonly string[];
}

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= MOST_PORTS) return port;
  throw new OptionError('--port', `"${text}" is not a port: give a number up to ${MOST_PORTS}, or 0 for any free one`);
};

/** Serves what `open` opens until the user presses Ctrl-C. */
const serve = async (open: () => Promise<OwnDashboard>, flags: DashboardFlags, io: Io): Promise<void> => {
  const { signal, done } = untilInterrupted();
  try {
    const dashboard = await open();
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
};

/** What is wrong with the flags or the kubeconfig ends the command here: a page would only wait for it. */
const checkContexts = async (contexts: readonly string[], flags: DashboardFlags, io: Io): Promise<void> => {
  for (const context of contexts) {
    if (isActive(context))
      throw new OptionError(
        '--contexts',
        `"${context}" has characters that a page can't show: give it another name with "kubectl config rename-context"`,
      );
    await connectionSettings({ ...flags, context }, io);
  }
};

/** Serves the page with the user's own rights until interrupted. */
export const showDashboard = async (flags: DashboardFlags, io: Io): Promise<void> => {
  refuseServeFlags(flags);
  const port = portOf(flags.port ?? '0');
  const run = (request: CommandRequest): Promise<CommandResult> => runCommand(request, flags, io);
  const { contexts } = flags;
  const { edgeset } = io;
  if (contexts) {
    await checkContexts(contexts, flags, io);
    const env: Env = { clock: systemClock, random: io.random, log: silentLogger };
    const namespace = flags.allNamespaces ? undefined : flags.namespace;
    // Prompts of several credential plugins at once can't be answered.
    const connect: ClustersDashboardOptions['connect'] = (context, work) =>
      withCluster({ ...flags, context }, io, work, { terminal: false });
    await serve(() => openClustersDashboard({ env, contexts, connect, namespace, edgeset, run, port }), flags, io);
    return;
  }
  await withCluster(flags, io, async (connection) => {
    const namespace = flags.namespace === undefined || flags.allNamespaces ? undefined : connection.namespace;
    await serve(() => openDashboard({ connection, namespace, edgeset, run, port }), flags, io);
  });
};
