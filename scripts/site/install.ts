import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Installs the packages of a folder that has a lockfile of its own, unless what is there is of this lockfile. They are no
 * dependencies of the repository, so that `npm ci` stays small. No package runs a program of its own.
 */
export const installApart = (folder: string): void => {
  const lockfile = readFileSync(path.join(folder, 'package-lock.json'));
  const installed = createHash('sha256').update(lockfile).digest('hex');
  // Written last: an installation that was interrupted has none.
  const stamp = path.join(folder, 'node_modules', '.lockfile-sha256');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === installed) return;
  execFileSync('npm', ['ci', '--ignore-scripts'], {
    cwd: folder,
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  });
  writeFileSync(stamp, installed);
};
