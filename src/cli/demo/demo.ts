import type { Addresses } from '../../dashboard/index.ts';
import type { ExitCode, Io } from '../io.ts';
import { openBrowser } from '../open-browser.ts';
import { liveScreenOf, untilInterrupted } from '../terminal.ts';
import { createLiveView } from './live-view.ts';
import { type DemoFlags, resolveDemoOptions } from './options.ts';
import { createPlainView } from './plain-view.ts';
import { runDemo } from './run.ts';
import type { View } from './view.ts';

/** A live picture on a terminal; a log for files, pipes, CI and NO_COLOR. */
export const chooseView = (io: Io, speed: number): View => {
  const screen = liveScreenOf(io);
  return screen ? createLiveView(screen, speed) : createPlainView(io.draw.stdout);
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
    const openPage = (addresses: Addresses): void => {
      if (flags.browser !== false && io.terminal) openBrowser(addresses, io.environment);
    };
    return await runDemo(options, { view, stderr: io.stderr, signal, openPage });
  } finally {
    process.off('exit', restore);
    restore();
    done();
  }
};
