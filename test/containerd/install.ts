import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

/** Programs, or files, and the Debian package that each comes from. */
export type Packages = Readonly<Record<string, string>>;

const CONTAINERD: Packages = { containerd: 'containerd', runc: 'runc' };

const find = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/usr/local/bin']
    .map((folder) => path.resolve(folder, program))
    .find((file) => existsSync(file));

const apt = (...args: string[]): string | undefined => {
  const { status, stderr, error } = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
};

/** Installs the missing packages. Says why they cannot be used. */
export const whyNotInstalled = (packages: Packages): string | undefined => {
  if (process.platform !== 'linux') return 'containerd runs on Linux only';
  if (process.getuid?.() !== 0) return 'containerd needs root';
  const missing = Object.entries(packages).filter(([program]) => !find(program));
  if (missing.length === 0) return undefined;
  const names = missing.map(([, name]) => name);
  const problem = apt('update') ?? apt('install', '--no-install-recommends', '--yes', ...names);
  return problem && `${names.join(', ')}: not installed, and could not be: ${problem}`;
};

/**
 * Installs Debian's containerd and runc where they are missing. Why they cannot be used, for a test's `skip`; in CI that
 * is an error instead.
 */
export const whyNoContainerd = (): string | false => {
  const reason = whyNotInstalled(CONTAINERD);
  if (reason !== undefined && process.env.CI) throw new Error(reason);
  return reason ?? false;
};

export const containerdProgram = (): string => {
  const file = find('containerd');
  if (file === undefined) throw new Error('containerd is not installed');
  return file;
};
