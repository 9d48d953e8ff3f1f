import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';

const PROGRAMS = ['containerd', 'runc'];

const find = (program: string): string | undefined =>
  [...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin', '/usr/local/bin']
    .map((folder) => path.join(folder, program))
    .find((file) => existsSync(file));

const apt = (...args: string[]): string | undefined => {
  const { status, stderr, error } = spawnSync('apt-get', ['-qq', '-o', 'DPkg::Lock::Timeout=300', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  });
  return status === 0 ? undefined : (error?.message ?? stderr.trim());
};

const whyNotInstalled = (): string | undefined => {
  if (process.platform !== 'linux') return 'containerd runs on Linux only';
  if (process.getuid?.() !== 0) return 'containerd needs root';
  if (PROGRAMS.every(find)) return undefined;
  const problem = apt('update') ?? apt('install', '--no-install-recommends', '--yes', ...PROGRAMS);
  return problem && `containerd is not installed, and could not be: ${problem}`;
};

/**
 * Installs Debian's containerd and runc where they are missing. Why they cannot be used, for a test's `skip`; in CI that
 * is an error instead.
 */
export const whyNoContainerd = (): string | false => {
  const reason = whyNotInstalled();
  if (reason !== undefined && process.env.CI) throw new Error(reason);
  return reason ?? false;
};

export const containerdProgram = (): string => {
  const file = find('containerd');
  if (file === undefined) throw new Error('containerd is not installed');
  return file;
};
