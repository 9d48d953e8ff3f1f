import type { ExitCode, Io } from '../io.ts';
import { canRedraw, untilInterrupted } from '../plugin/terminal.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { runDemo } from './run.ts';
import { createLiveView, createPlainView, type View } from './view/index.ts';

/** On a smaller terminal, the log shows more than a live picture. */
const SMALLEST_SCREEN = { columns: 40, rows: 16 };

/** The Linux console and terminals without a UTF-8 locale have ASCII glyphs only. */
const hasUnicode = ({ LC_ALL, LC_CTYPE, LANG, TERM }: Io['environment']): boolean =>
  TERM !== 'linux' && /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');

/** A live picture on a terminal; a log for files, pipes, CI and NO_COLOR. */
export const chooseView = ({ stdout, screen, environment }: Io, speed: number): View => {
  const size = screen?.();
  const isLarge = size && size.columns >= SMALLEST_SCREEN.columns && size.rows >= SMALLEST_SCREEN.rows;
  if (!screen || !isLarge || !canRedraw(environment)) return createPlainView(stdout);
  return createLiveView({ write: stdout, screen, unicode: hasUnicode(environment), speed });
};

export const demo = async (words: readonly string[], flags: DemoFlags, io: Io): Promise<ExitCode> => {
  const options = resolveDemoOptions(words, flags);
  const view = chooseView(io, options.speed);
  const { signal, done } = untilInterrupted();
  // An interrupt restores the terminal before anything else prints.
  const restore = (): void => view.close();
  signal.addEventListener('abort', restore, { once: true });
  process.once('exit', restore);
  try {
    return await runDemo(options, { view, stderr: io.stderr, signal });
  } finally {
    process.off('exit', restore);
    restore();
    done();
  }
};
