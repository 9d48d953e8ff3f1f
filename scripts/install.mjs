// npm runs this before a command: on a bare clone it installs what the lockfile says. Plain JavaScript for Node 18,
// because it runs before any dependency exists. In a tree that is installed it does nothing; after a change of the
// lockfile run `npm ci` yourself.

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** npm writes this file last: an install that was interrupted has none. */
const installed = path.join(root, 'node_modules', '.package-lock.json');

const say = (text) => process.stderr.write(`edgeset: ${text}\n`);

const npm = (...args) => {
  const { status, error } = spawnSync('npm', args, {
    cwd: root,
    // Once it is there, npm itself runs on the Node of the lockfile.
    env: { ...process.env, PATH: `${path.join(root, 'node_modules', '.bin')}${path.delimiter}${process.env.PATH}` },
    // What the caller prints on stdout stays its own.
    stdio: ['ignore', process.stderr, process.stderr],
    shell: process.platform === 'win32',
  });
  if (status === 0) return;
  say(`npm ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
  process.exit(1);
};

if (!existsSync(installed)) {
  const startedAt = Date.now();
  say('installing the packages of package-lock.json into node_modules, and building dist; once, in under a minute');
  npm('ci');
  // npm leaves out optional packages that ask for a newer Node than the one it runs on; the second run adds them.
  if (Number(process.versions.node.split('.')[0]) < 22) npm('install', '--no-save');
  say(`installed in ${Math.round((Date.now() - startedAt) / 1000)} s`);
}
