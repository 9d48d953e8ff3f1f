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
  /** Of DaemonRollouts, where `where` lets others through; undefined for all. */
  names: ReadonlySet<string> | undefined;
  view: StatusView;
  /** What is shown is a table, which can be rewritten in place. */
  table: boolean;
  io: Io;
}

/** Tells of warnings, and of nothing else. */
const warningsTo = (tell: (error: unknown) => void): Logger => {
  const log: Logger = { ...silentLogger, warn: (_msg, { error } = {}) => tell(error), with: () => log };
  return log;
};

/** Shows every change until interrupted, through every disturbance: in place on a terminal, else appended. */
export const watchStatus = async ({ connection, where, names, view, table, io }: WatchOptions): Promise<void> => {
  const { client, env } = connection;
  const region = table && io.screen && canRedraw(io.environment) ? createRegion(io.stdout, io.screen) : undefined;
  let trouble = '';
  const tell = (error: unknown): void => {
    trouble = `The watch is disturbed (${error instanceof Error ? error.message : String(error)}); it is taken up again.\n`;
    if (region) redraw();
    else io.stderr(trouble);
  };
  const reflector = createReflector({
    ...where,
    client,
    resource: daemonRollouts,
    env: { ...env, log: warningsTo(tell) },
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
          said.delete(key);
          if (region) redraw();
          else io.stderr(`DaemonRollout ${key} is gone.\n`);
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
  /** What was appended last, by key: most changes of a rollout do not show. */
  const said = new Map<string, string>();
  let started = false;
  let headed = !table;

  const sorted = (): DaemonRollout[] =>
    [...reflector.store.values()].toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));

  /** Without what changes by itself: the time that is left, and the widths of columns. */
  const timeless = (rollout: DaemonRollout): string =>
    view.one(rollout, Number.POSITIVE_INFINITY).replaceAll(/ {2,}/g, '  ');

  function redraw(): void {
    region?.show(`${view.all(sorted(), env.clock.now())}${trouble}`);
  }
  function start(): void {
    started = true;
    const now = env.clock.now();
    const rollouts = sorted();
    // Whole, so that the widths of its columns suit all of them.
    const whole = headed || rollouts.length === 0 ? undefined : view.all(rollouts, now);
    headed ||= whole !== undefined;
    if (whole !== undefined) io.stdout(whole);
    for (const rollout of rollouts) {
      if (whole === undefined) io.stdout(view.one(rollout, now));
      said.set(keyOf(rollout), timeless(rollout));
    }
  }
  function append(key: string, rollout: DaemonRollout): void {
    const now = env.clock.now();
    const text = timeless(rollout);
    if (said.get(key) === text) return;
    said.set(key, text);
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
