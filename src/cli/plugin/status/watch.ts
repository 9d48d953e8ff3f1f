import { daemonRollouts } from '../../../controller/index.ts';
import { createReflector, keyOf } from '../../../kube/index.ts';
import type { DaemonRollout } from '../../../rollout/index.ts';
import { type Logger, silentLogger } from '../../../runtime/index.ts';
import type { Io } from '../../io.ts';
import type { Connection } from '../connection.ts';
import { canRedraw, createRegion, untilInterrupted } from '../terminal.ts';
import type { StatusView } from './view.ts';

export interface WatchOptions {
  connection: Connection;
  where: { namespace?: string; labelSelector?: string; fieldSelector?: string };
  /** Names of the DaemonRollouts to show, if `where` matches others, too. Undefined for all. */
  names: ReadonlySet<string> | undefined;
  view: StatusView;
  /** The output is a table, which can be redrawn in place. */
  table: boolean;
  io: Io;
}

/** A logger that only reports the errors of warnings. */
const warningsTo = (report: (error: unknown) => void): Logger => {
  const log: Logger = { ...silentLogger, warn: (_msg, { error } = {}) => report(error), with: () => log };
  return log;
};

/** Shows every change until interrupted, and survives errors of the watch. Redraws on a terminal, appends elsewhere. */
export const watchStatus = async ({ connection, where, names, view, table, io }: WatchOptions): Promise<void> => {
  const { client, env } = connection;
  const region = table && io.screen && canRedraw(io.environment) ? createRegion(io.stdout, io.screen) : undefined;
  let trouble = '';
  const report = (error: unknown): void => {
    trouble = `The watch failed (${error instanceof Error ? error.message : String(error)}); retrying.\n`;
    if (region) redraw();
    else io.stderr(trouble);
  };
  const reflector = createReflector({
    ...where,
    client,
    resource: daemonRollouts,
    env: { ...env, log: warningsTo(report) },
    project: (rollout: DaemonRollout) =>
      names === undefined || names.has(rollout.metadata.name ?? '') ? rollout : undefined,
    handlers: [
      {
        upsert: (key, rollout) => {
          trouble = '';
          if (!started) return;
          if (region) redraw();
          else append(key, rollout);
        },
        remove: (key) => {
          printed.delete(key);
          if (region) redraw();
          else io.stderr(`DaemonRollout ${key} was deleted.\n`);
        },
        synced: () => {
          trouble = '';
          if (region) {
            started = true;
            redraw();
          } else if (!started) start();
        },
      },
    ],
  });
  /** The last row of each rollout: most changes don't change it. */
  const printed = new Map<string, string>();
  let started = false;
  let headed = !table;

  const sorted = (): DaemonRollout[] =>
    [...reflector.store.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

  /** The row without what changes constantly: the time left and the widths of columns. */
  const timeless = (rollout: DaemonRollout): string =>
    view.one(rollout, Number.POSITIVE_INFINITY).replaceAll(/ {2,}/g, '  ');

  function redraw(): void {
    region?.show(`${view.all(sorted(), env.clock.now())}${trouble}`);
  }
  function start(): void {
    started = true;
    const now = env.clock.now();
    const rollouts = sorted();
    // All at once, so that the columns are wide enough for every row.
    const whole = headed || rollouts.length === 0 ? undefined : view.all(rollouts, now);
    headed ||= whole !== undefined;
    if (whole !== undefined) io.stdout(whole);
    for (const rollout of rollouts) {
      if (whole === undefined) io.stdout(view.one(rollout, now));
      printed.set(keyOf(rollout), timeless(rollout));
    }
  }
  function append(key: string, rollout: DaemonRollout): void {
    const now = env.clock.now();
    const text = timeless(rollout);
    if (printed.get(key) === text) return;
    printed.set(key, text);
    io.stdout(headed ? view.one(rollout, now) : view.all([rollout], now));
    headed = true;
  }

  const { signal, done } = untilInterrupted();
  try {
    await reflector.run(signal);
  } finally {
    done();
  }
};
