import { spawn } from 'node:child_process';
import type { Io } from '../io.ts';

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};

/** Opens the address in the user's browser. Without one, the address that was printed is enough. */
export const openBrowser = (address: string, environment: Io['environment']): void => {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = environment;
  const [file = '', ...args] = BROWSER ? [BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
  if (process.platform === 'linux' && !BROWSER && !DISPLAY && !WAYLAND_DISPLAY) return;
  const child = spawn(file, [...args, address], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};
