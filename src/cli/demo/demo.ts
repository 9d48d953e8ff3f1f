import type { ExitCode, Io } from '../io.ts';
import { untilInterrupted } from '../plugin/terminal.ts';
import { startAgent } from './agent.ts';
import { startEmbeddedCluster } from './embedded-cluster.ts';
import { startManager } from './manager.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { runDemo } from './run.ts';
import { createLiveView, createPlainView, type View } from './view/index.ts';

/** Narrower or lower, a live picture shows nothing; the lines of a log still do. */
const LEAST = { columns: 40, rows: 16 };

const set = (value: string | undefined): boolean => value !== undefined && value !== '';

/** The console of Linux without a locale, and terminals that say so, have no more than ASCII. */
const knowsUnicode = ({ LC_ALL, LC_CTYPE, LANG, TERM }: Io['environment']): boolean =>
  TERM !== 'linux' && /utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find(set) ?? '');

/** A live picture on a person's terminal; lines for logs, for CI and where colours are not wanted. */
export const chooseView = ({ stdout, screen, environment }: Io, speed: number): View => {
  const { NO_COLOR, CI, TERM } = environment;
  const size = screen?.();
  const live = size && size.columns >= LEAST.columns && size.rows >= LEAST.rows;
  if (!screen || !live || set(NO_COLOR) || set(CI) || TERM === 'dumb') return createPlainView(stdout);
  return createLiveView({ write: stdout, screen, unicode: knowsUnicode(environment), speed });
};

export const demo = async (words: readonly string[], flags: DemoFlags, io: Io): Promise<ExitCode> => {
  const options = resolveDemoOptions(words, flags);
  const view = chooseView(io, options.speed);
  const { signal, done } = untilInterrupted();
  // An interruption must give the terminal back before anything else has a say.
  const restore = (): void => view.close();
  signal.addEventListener('abort', restore, { once: true });
  process.once('exit', restore);
  try {
    return await runDemo(
      options,
      { startCluster: startEmbeddedCluster, startManager, startAgent },
      { view, stderr: io.stderr, signal },
    );
  } finally {
    process.off('exit', restore);
    restore();
    done();
  }
};
