// npm run test:nodes: runs the suite on real kubelets, in a network, mount and process namespace of its own. Whatever it
// makes ends with that; only control groups and a folder are left to remove.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { chromiumProgram } from '../browser/chromium.ts';
import { findPrograms } from '../cluster/controlplane/build.ts';
import { findHelm } from '../cluster/helm/programs.ts';
import { whyNotInstalled } from '../containerd/index.ts';
import { childOf } from './machine/command.ts';
import { controlGroups, removeControlGroup } from './machine/control-groups.ts';
import { findNodePrograms } from './programs.ts';

const root = join(import.meta.dirname, '..', '..');
const PREFIX = 'edgeset-nodes-';
const packages = {
  containerd: 'containerd',
  runc: 'runc',
  curl: 'curl',
  ip: 'iproute2',
  sysctl: 'procps',
  iptables: 'iptables',
  unshare: 'util-linux',
  '/usr/lib/cni/bridge': 'containernetworking-plugins',
};

const UNSHARE = 'unshare --net --mount --pid --ipc --fork --mount-proc --propagation private --kill-child'.split(' ');

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** A run that was killed leaves these behind. Their names hold its process ID. */
const sweep = async (): Promise<void> => {
  const isLeft = (name: string): boolean => name.startsWith(PREFIX) && !isAlive(Number(name.split('-')[2]));
  for (const name of (await controlGroups(PREFIX)).filter(isLeft)) await removeControlGroup(name);
  for (const name of readdirSync(tmpdir()).filter(isLeft)) rmSync(join(tmpdir(), name), { recursive: true });
};

/** Why no node can run here. */
const whyNot = (): string | undefined => {
  if (process.platform !== 'linux') return 'kubelets need Linux';
  if (process.getuid?.() !== 0) return 'kubelets need root: run it with sudo, or in a privileged container';
  const [program = '', ...flags] = UNSHARE;
  const { status, stderr, error } = spawnSync(program, [...flags, 'true'], { encoding: 'utf8' });
  return status === 0 ? undefined : `namespaces cannot be made here: ${error?.message ?? stderr.trim()}`;
};

/** Everything that needs the network of this machine; builds only what is missing. */
const prepare = async (): Promise<void> => {
  const problem = whyNotInstalled(packages);
  if (problem !== undefined) throw new Error(problem);
  chromiumProgram();
  await findPrograms();
  await findNodePrograms();
  await findHelm();
};

const main = async (args: readonly string[]): Promise<number> => {
  const reason = whyNot();
  if (reason !== undefined) {
    console.log(`test:nodes: skipped, because ${reason}`);
    return 0;
  }
  await prepare();
  await sweep();
  const dir = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
  const images = join(root, 'scripts', 'build-images.ts');
  execFileSync(process.execPath, [images, `--arch=${architecture}`, `--output=${join(dir, 'images')}`]);
  const controlGroup = basename(dir);
  // Ends with this process, however that ends.
  const tests = [process.execPath, join(root, 'scripts', 'test.ts'), 'nodes', ...args];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...UNSHARE, ...tests], {
    stdio: 'inherit',
    env: { ...process.env, TMPDIR: dir, EDGESET_NODES: controlGroup },
  });
  // With its first process the namespace ends, and only after all others in it does unshare.
  const end = (): void => void process.kill(childOf(child.pid ?? 0) || (child.pid ?? 0), 'SIGKILL');
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  const status = await new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? 1));
  });
  await removeControlGroup(controlGroup);
  rmSync(dir, { recursive: true });
  return status;
};

process.exitCode = await main(process.argv.slice(2));
