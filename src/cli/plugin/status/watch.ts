import { isDeepStrictEqual } from 'node:util';
import { daemonRollouts } from '../../../controller/index.ts';
import { createReflector, keyOf } from '../../../kube/index.ts';
import { errorText, type Logger, silentLogger } from '../../../runtime/index.ts';
import { compareNames, toLines } from '../../../text/index.ts';
import type { Connection } from '../../../view/index.ts';
import type { DaemonRollout } from '../../../words/index.ts';
import type { Io } from '../../io.ts';
import { createLiveRegion } from '../../live-region.ts';
import { canRedraw, fitting, untilInterrupted } from '../../terminal.ts';
import type { StatusView } from './view.ts';

export interface WatchOptions {
  connection: Connection;
  where: { namespace?: string; labelSelector?: string; fieldSelector?: string };
  /** Which DaemonRollouts to show, if `where` matches others, too. */
  isShown: (rollout: DaemonRollout) => boolean;
  view: StatusView;
  /** Watches what the rows also depend on; the callback receives the key of the DaemonRollout to show again. */
  follow: (onChange: (key: string) => void) => (signal: AbortSignal) => Promise<void>;
  /** Further rows of a table, for these rollouts. */
  unserved: (rollouts: readonly DaemonRollout[]) => DaemonRollout[];
  io: Io;
}

/** A logger that only reports the errors of warnings. */
const warningsTo = (report: (error: unknown) => void): Logger => {
  const log: Logger = { ...silentLogger, warn: (_msg, { error } = {}) => report(error), with: () => log };
  return log;
};

/** Shows every change until interrupted, and survives errors of the watch. Redraws on a terminal, appends elsewhere. */
export const watchStatus = async ({
  connection,
  where,
  isShown,
  view,
  follow,
  unserved,
  io,
}: WatchOptions): Promise<void> => {
  const { client, env } = connection;
  const { table } = view;
  const { print, screen } = io;
  const region = table && screen && canRedraw(io.environment) ? createLiveRegion(io.draw.stdout, screen) : undefined;
  let trouble = '';
  const report = (error: unknown): void => {
    trouble = toLines(`The watch failed (${errorText(error)}); retrying.`);
    if (region) redraw();
    else io.stderr(trouble);
  };
  const reflector = createReflector({
    ...where,
    client,
    resource: daemonRollouts,
    env: { ...env, log: warningsTo(report) },
    project: (rollout: DaemonRollout) => (isShown(rollout) ? rollout : undefined),
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
          else io.stderr(toLines(`DaemonRollout ${key} was deleted.`));
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
  /** The last lines of each rollout: most changes don't change them. */
  const printed = new Map<string, readonly string[]>();
  let started = false;
  let headed = !table;

  const rows = (): DaemonRollout[] => {
    const rollouts = [...reflector.store.values()];
    return [...rollouts, ...(table ? unserved(rollouts) : [])].toSorted((a, b) => compareNames(keyOf(a), keyOf(b)));
  };

  /** The lines without what changes constantly: times and the widths of columns. */
  const timeless = (rollout: DaemonRollout): string[] =>
    view.one(rollout, Number.POSITIVE_INFINITY).replaceAll(/ {2,}/g, '  ').split('\n');

  function redraw(): void {
    if (!region || !screen) return;
    const { columns, rows: height } = screen();
    const lines = `${view.all(rows(), env.clock.now())}${trouble}`.trimEnd().split('\n');
    // The last line stays free: the cursor goes there when the region is left.
    region.draw(fitting(lines, { columns, rows: height - 1 }));
  }
  function start(): void {
    started = true;
    const now = env.clock.now();
    const rollouts = rows();
    // All at once, so that the columns are wide enough for every row.
    const whole = headed || rollouts.length === 0 ? undefined : view.all(rollouts, now);
    headed ||= whole !== undefined;
    if (whole !== undefined) print(whole);
    for (const rollout of rollouts) {
      if (whole === undefined) print(view.one(rollout, now));
      printed.set(keyOf(rollout), timeless(rollout));
    }
  }
  function append(key: string, rollout: DaemonRollout): void {
    const now = env.clock.now();
    const lines = timeless(rollout);
    const before = printed.get(key);
    if (isDeepStrictEqual(before, lines)) return;
    printed.set(key, lines);
    if (!headed) print(view.all([rollout], now));
    else if (table && before) {
      // The row, which the lines of its stages belong to, and those of them that have changed.
      const whole = view.one(rollout, now).split('\n');
      const changed = whole.filter((line, index) => line !== '' && (index === 0 || lines[index] !== before[index]));
      print(changed.map((line) => `${line}\n`).join(''));
    } else print(view.one(rollout, now));
    headed = true;
  }

  const followed = follow((key) => {
    const rollout = reflector.store.get(key);
    if (!started) return;
    if (region) redraw();
    else if (rollout && table) append(key, rollout);
  });
  const { signal, done } = untilInterrupted();
  // However the process ends, the cursor is restored.
  const leave = (): void => region?.leave();
  process.once('exit', leave);
  try {
    await Promise.all([reflector.run(signal), followed(signal)]);
  } finally {
    leave();
    process.off('exit', leave);
    done();
  }
};
