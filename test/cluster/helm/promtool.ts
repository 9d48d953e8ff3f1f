import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const run = (file: string, args: readonly string[], cwd?: string): string => {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${path.basename(file)} ${args.join(' ')}: ${error?.message ?? stderr + stdout}`);
  return stdout;
};

/** Debian's package, unpacked into `folder`: installing it would start Prometheus. Returns the path of promtool. */
const unpack = (folder: string): string => {
  // Without a list of packages it is not found.
  try {
    run('apt-get', ['download', 'prometheus'], folder);
  } catch {
    run('apt-get', ['-qq', 'update']);
    run('apt-get', ['download', 'prometheus'], folder);
  }
  const archive = readdirSync(folder).find((file) => file.endsWith('.deb')) ?? '';
  run('dpkg-deb', ['--extract', archive, '.'], folder);
  return path.join(folder, 'usr', 'bin', 'promtool');
};

export interface Promtool {
  run(...args: string[]): string;
  /** The path of Prometheus itself. */
  prometheus: string;
  close(): void;
}

/**
 * Prometheus' own checker, from the PATH or from Debian's package. Why it can't be had, for a test's `skip`; in CI that is an
 * error instead.
 */
export const findPromtool = (): Promtool | { missing: string } => {
  const installed = (process.env.PATH ?? '')
    .split(':')
    .map((folder) => path.join(folder, 'promtool'))
    .find((file) => existsSync(file));
  const using = (file: string, close: () => void): Promtool => ({
    run: (...args) => run(file, args),
    prometheus: path.join(path.dirname(file), 'prometheus'),
    close,
  });
  if (installed !== undefined) return using(installed, () => undefined);
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-promtool-'));
  const close = (): void => rmSync(folder, { recursive: true });
  try {
    return using(unpack(folder), close);
  } catch (error) {
    close();
    if (process.env.CI) throw error;
    return { missing: `promtool is not installed, and could not be: ${String(error)}` };
  }
};
