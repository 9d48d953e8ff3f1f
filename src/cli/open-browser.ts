import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Addresses } from '../dashboard/index.ts';
import type { Io } from './io.ts';

const OPENERS: Readonly<Record<string, readonly string[]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
};
/** A browser may have to start first. */
const LIFE_MS = 60_000;

/** No character of an address has a meaning in HTML. */
const redirectTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>edgeset</title>
<meta http-equiv="refresh" content="0;url=${address}"><a href="${address}">Open the dashboard</a>
`;

/**
 * Opens a page in the user's browser, by a file that only this user can read: every user of the machine can read the command line
 * of the browser, and would be faster than the browser. Without a file or a browser, the address that was printed is enough.
 */
export const openBrowser = ({ port, newAddress }: Addresses, environment: Io['environment']): void => {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY } = environment;
  const [program = '', ...args] = BROWSER ? [BROWSER] : (OPENERS[process.platform] ?? ['xdg-open']);
  if (process.platform === 'linux' && !BROWSER && !DISPLAY && !WAYLAND_DISPLAY) return;
  let folder = '';
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    // A browser in a sandbox, such as one of snap, reads neither a temporary folder nor a hidden one.
    folder = mkdtempSync(path.join(homedir(), `edgeset-dashboard-${port}-`));
    const file = path.join(folder, 'open.html');
    writeFileSync(file, redirectTo(newAddress({ lifeMs: LIFE_MS, ended: remove })), { mode: 0o600, flag: 'wx' });
    const child = spawn(program, [...args, pathToFileURL(file).href], { stdio: 'ignore', detached: true });
    child.on('error', () => undefined);
    child.unref();
  } catch {
    if (folder !== '') remove();
  }
};
