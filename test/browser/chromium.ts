import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import path from 'node:path';
import { type Browser, chromium } from 'playwright-core';

/** The first of these programs on PATH. */
export const findProgram = (...names: readonly string[]): string | undefined =>
  (process.env.PATH ?? '')
    .split(path.delimiter)
    .flatMap((dir) => names.map((name) => path.join(dir, name)))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });

const find = () => findProgram('chromium', 'chromium-browser', 'google-chrome');

const CURE = 'install Chromium (on Debian: apt-get install chromium), then run npm run test:browser again';

const install = (): void => {
  if (process.getuid?.() !== 0) throw new Error(`there is no Chromium on PATH, and only root may install it: ${CURE}`);
  process.stderr.write('edgeset: installing Chromium for the browser tests ...\n');
  const apt = (...args: string[]): void => {
    execFileSync('apt-get', ['-q', '-y', ...args], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  };
  apt('update');
  apt('install', '--no-install-recommends', 'chromium', 'fonts-dejavu-core');
};

/** Path of the machine's Chromium; installs it if there is none. */
export const chromiumProgram = (): string => {
  if (find() === undefined) {
    try {
      install();
    } catch (cause) {
      throw new Error(`Chromium could not be installed: ${CURE}`, { cause });
    }
  }
  const program = find();
  if (program === undefined) throw new Error(`there is no Chromium on PATH: ${CURE}`);
  return program;
};

/** Only connects to the page's own server, not to its vendor for updates or lists. */
export const CHROMIUM_ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts Chromium, or `executablePath` that starts it in some way of its own. */
export const launchChromium = (executablePath = chromiumProgram()): Promise<Browser> =>
  chromium.launch({ executablePath, args: CHROMIUM_ARGS });
