// The pinned toolchain: are node_modules what package-lock.json says, and if not, make them so; then hand over to the
// Node inside them. Plain JavaScript for Node 18 without dependencies, because it runs before any exist.

import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { withLock } from './lock.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const modules = path.join(root, 'node_modules');
const lockfile = path.join(root, 'package-lock.json');
const installedLockfile = path.join(modules, '.package-lock.json');
const nodePackage = path.join(modules, 'node');
const pinnedNode = path.join(nodePackage, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
const followParent = new URL('follow-parent.mjs', import.meta.url).href;
const installLock = path.join(root, '.cache', 'install.lock');

const say = (line) => process.stderr.write(`edgeset: ${line}\n`);

const readJson = (file) => {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const what = `${path.relative(root, file)} cannot be read (${error.message})`;
    throw new Error(`${what}; restore it from git, then run the command again.`, { cause: error });
  }
};

const sameEntries = (a = {}, b = {}) =>
  Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([key, value]) => b[key] === value);

/** The packages that the lockfile wants, by their folder. */
const lockedPackages = () => {
  const { packages = {} } = readJson(lockfile);
  const manifest = readJson(path.join(root, 'package.json'));
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
    if (sameEntries(manifest[kind], packages['']?.[kind])) continue;
    throw new Error(
      `package.json and package-lock.json disagree about ${kind}: run \`npm install\`, commit both files, then run the command again.`,
    );
  }
  return packages;
};

const libc = () => {
  if (process.platform !== 'linux' || !process.report) return undefined;
  process.report.excludeNetwork = true;
  return process.report.getReport().header.glibcVersionRuntime ? 'glibc' : 'musl';
};

// Optional packages for other platforms are absent by right, and so are those without a platform that only they need.
// One for this platform is missing when an older Node installed: npm silently leaves out what asks for a newer one.
const absentByRight = (want) => {
  if (want.optional !== true) return false;
  if (!want.os && !want.cpu) return true;
  const here =
    (want.os ?? [process.platform]).includes(process.platform) && (want.cpu ?? [process.arch]).includes(process.arch);
  return !here || (want.libc !== undefined && !want.libc.includes(libc()));
};

// npm writes node_modules/.package-lock.json last, so a torn install has none.
const installedMatchesLockfile = () => {
  const wanted = lockedPackages();
  if (!existsSync(installedLockfile)) return false;
  const { packages: installed = {} } = readJson(installedLockfile);
  return Object.entries(wanted).every(([where, want]) => {
    if (where === '') return true;
    const got = installed[where];
    if (!got) return absentByRight(want);
    return got.version === want.version && got.integrity === want.integrity;
  });
};

const pinnedNodeWorks = () => {
  try {
    accessSync(pinnedNode, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

// npm puts node_modules/.bin first on PATH. An install deletes the Node behind it, so everything that the install
// starts must find the Node that was there before.
const installEnv = () => ({
  ...process.env,
  PATH: (process.env.PATH ?? '')
    .split(path.delimiter)
    .filter((dir) => !path.resolve(dir).startsWith(modules))
    .join(path.delimiter),
});

const withPinnedNodeFirst = (env) => ({
  ...env,
  PATH: [path.dirname(pinnedNode), env.PATH].filter(Boolean).join(path.delimiter),
});

// Under npm, npm itself says which Node and which npm it is; else the ones on PATH are taken.
const bootstrapNode = () => {
  const given = process.env.npm_node_execpath;
  return given && !given.startsWith(modules) ? given : 'node';
};
const npmCommand = (node) => {
  const given = process.env.npm_execpath;
  if (given && /\.[cm]?js$/.test(given)) return [node, [given]];
  return [process.platform === 'win32' ? 'npm.cmd' : 'npm', []];
};

/** Runs to the end and keeps what was printed: it is shown only when it explains a failure. */
const capture = (command, args, cwd, env = installEnv()) =>
  new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: command.endsWith('.cmd'),
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    child.on('error', (error) =>
      resolve({ ok: false, output: `${output}${error.message}\n`, missing: error.code === 'ENOENT' }),
    );
    child.on('close', (code) => resolve({ ok: code === 0, output, missing: false }));
  });

const NETWORK_CODES =
  /^(E(NOTFOUND|AI_AGAIN|CONNREFUSED|CONNRESET|TIMEDOUT|HOSTUNREACH|NETUNREACH|PROTO|503|502|504)|ERR_SOCKET_TIMEOUT|FETCH_ERROR)$/;

const cureFor = ({ output, missing }) => {
  if (missing) return 'npm is not on PATH: install Node with npm, then run the command again.';
  const code = /^npm (?:error|ERR!) code (\S+)/m.exec(output)?.[1] ?? '';
  if (NETWORK_CODES.test(code)) {
    return 'npm could not reach its registry: check the network, the proxy and `npm config get registry`, then run the command again.';
  }
  if (/CERT|SELF_SIGNED|ISSUER/.test(code)) {
    return "npm does not trust its registry's certificate: set npm's `cafile` or NODE_EXTRA_CA_CERTS, then run the command again.";
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return `npm may not write: make ${root} and npm's cache (\`npm config get cache\`) writable for this user.`;
  }
  if (code === 'ENOSPC') return 'The disk is full: free about 1 GB, then run the command again.';
  return 'npm says above what is wrong; `npm install` repeats the step by itself.';
};

const failInstall = (what, result) => {
  process.stderr.write(result.output.endsWith('\n') ? result.output : `${result.output}\n`);
  throw new Error(`${what}\n${cureFor(result)}`);
};

const npmInstall = async (node, env) => {
  // Not `npm ci`: it refuses a lockfile that lacks an optional package of some other platform, as one written against
  // an incomplete mirror does. `--no-save` keeps to the lockfile and leaves it alone, and what does not change in
  // node_modules stays usable meanwhile.
  const flags = ['install', '--no-save', '--prefer-offline', '--include=dev', '--include=optional'];
  const [command, args] = npmCommand(node);
  const result = await capture(command, [...args, ...flags, '--no-audit', '--no-fund'], root, env);
  if (!result.ok) failInstall('installing dependencies failed.', result);
};

const install = async () => {
  const started = process.hrtime.bigint();
  if (!installedMatchesLockfile()) {
    say('installing dependencies (half a minute on the first run) ...');
    // Without npm's own record nothing says which of the files are whole.
    if (!existsSync(installedLockfile)) rmSync(modules, { recursive: true, force: true });
    await npmInstall(bootstrapNode(), installEnv());
  }
  if (!pinnedNodeWorks()) {
    // npm did not run the `node` package's install script (ignore-scripts, or an npm that asks for approval): this is
    // all that the script does.
    const result = await capture(bootstrapNode(), ['installArchSpecificPackage.js'], nodePackage);
    if (!pinnedNodeWorks()) {
      failInstall(`${path.relative(root, pinnedNode)} is missing and fetching it failed.`, result);
    }
  }
  if (!installedMatchesLockfile()) {
    // npm leaves out native packages whose `engines` the Node that runs it does not satisfy: the pinned one does.
    await npmInstall(pinnedNode, withPinnedNodeFirst(installEnv()));
  }
  const seconds = Number((process.hrtime.bigint() - started) / 100_000_000n) / 10;
  say(`dependencies are in place (${seconds} s)`);
};

/** Makes node_modules what package-lock.json says. Does nothing, in a few milliseconds, when they are. */
export const ensureInstalled = async () => {
  const ready = () => installedMatchesLockfile() && pinnedNodeWorks();
  if (!ready()) {
    await withLock(installLock, say, async () => {
      if (!ready()) await install();
    });
  }
  // bin/edgeset compares these two files' times to see cheaply that nothing is to be done.
  if (statSync(installedLockfile).mtimeMs <= statSync(lockfile).mtimeMs) {
    utimesSync(installedLockfile, new Date(), new Date());
  }
};

const PASSED_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'];
// A terminal sends these to every process in the foreground itself: passing them on would deliver them twice.
const TERMINAL_SIGNALS = new Set(['SIGINT', 'SIGHUP', 'SIGQUIT']);

/** Becomes the pinned Node running `command`, a script and its arguments; where a process cannot be replaced, a child with our signals and exit. */
export const runUnderPinnedNode = (command) => {
  const args = process.env.npm_lifecycle_event ? ['--import', followParent, ...command] : command;
  const env = {
    ...process.env,
    PATH: [path.dirname(pinnedNode), process.env.PATH].filter(Boolean).join(path.delimiter),
  };
  if (typeof process.execve === 'function' && process.platform !== 'win32') {
    process.execve(pinnedNode, [pinnedNode, ...args], env);
  }
  const child = spawn(pinnedNode, args, { stdio: 'inherit', env });
  for (const signal of PASSED_SIGNALS) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && TERMINAL_SIGNALS.has(signal))) child.kill(signal);
    });
  }
  child.on('error', (error) => {
    say(`${pinnedNode} does not start (${error.message}); remove node_modules, then run the command again.`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    for (const passed of PASSED_SIGNALS) process.removeAllListeners(passed);
    process.kill(process.pid, signal);
  });
};
