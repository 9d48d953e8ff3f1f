// The Debian packages of the images: which, how they are downloaded, and what is taken from them.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import lock from './debian-packages.json' with { type: 'json' };

export type Architecture = keyof typeof lock.packages;

export const architectures = Object.keys(lock.packages) as readonly Architecture[];

export interface DebianPackage {
  name: string;
  version: string;
  /** Its path in an archive of Debian. */
  filename: string;
  sha256: string;
}

export const debianRelease: { id: string; codename: string } = lock.release;

export const debianPackages = (architecture: Architecture): readonly DebianPackage[] => lock.packages[architecture];

const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

const run = (program: string, ...args: string[]): string => {
  try {
    return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
      throw new Error(`${program} is missing: build the images on Debian or Ubuntu, or with Containerfile`, {
        cause: error,
      });
    throw error;
  }
};

/** Archives of Debian, such as `http://HOST/debian/`: the one that the environment names, and those of apt. */
const archives = (): string[] => {
  const { EDGESET_DEBIAN_MIRROR: mirror } = process.env;
  // Prints where apt would read its indexes, and needs neither them nor root.
  const indexes = run('apt-get', 'update', '--print-uris').matchAll(/^'([^']+?)dists\//gm);
  return [
    ...new Set([...(mirror ? [mirror.replace(/\/*$/, '/')] : []), ...indexes.map(([, archive = '']) => archive)]),
  ];
};

/**
 * The package's file: from the folder if it is there, else downloaded into it through apt's own downloader, which knows
 * mirrors, proxies and logins of this machine. A file is accepted only if its checksum is the one in the lock.
 */
const fetchPackage = (wanted: DebianPackage, folder: string): string => {
  const file = path.join(folder, path.basename(wanted.filename));
  if (existsSync(file)) {
    if (sha256(file) === wanted.sha256) return file;
    throw new Error(`${file} has not the SHA-256 of scripts/images/debian-packages.json: remove it`);
  }
  mkdirSync(folder, { recursive: true });
  const part = `${file}.${process.pid}`;
  const causes: string[] = [];
  for (const archive of archives()) {
    try {
      run('/usr/lib/apt/apt-helper', 'download-file', archive + wanted.filename, part, `SHA256:${wanted.sha256}`);
    } catch (error) {
      // Where apt keeps what it refused.
      rmSync(`${part}.FAILED`, { force: true });
      causes.push(error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error));
      continue;
    }
    renameSync(part, file);
    return file;
  }
  throw new Error(
    `none of apt's archives has ${wanted.name} ${wanted.version}: if this is not Debian ${debianRelease.codename}, set EDGESET_DEBIAN_MIRROR to a mirror of it; if Debian has a newer version by now, run "npm run build:images -- --update-packages"; or put ${path.basename(wanted.filename)} into ${folder}${causes.map((cause) => `\n  ${cause}`).join('')}`,
  );
};

export interface UnpackedPackage extends DebianPackage {
  /** Its entry in dpkg's database. */
  control: string;
  /** A file of it. Follows symbolic links, also into the other packages. */
  readFile: (file: string) => Buffer;
}

/** Unpacks all packages of the architecture, and calls `use` with them. */
export const withDebianPackages = <T>(
  architecture: Architecture,
  folder: string,
  use: (packages: readonly UnpackedPackage[]) => T,
): T => {
  const root = mkdtempSync(path.join(tmpdir(), 'edgeset-debian-'));
  try {
    const unpacked = debianPackages(architecture).map((each): UnpackedPackage => {
      const file = fetchPackage(each, folder);
      run('dpkg-deb', '--extract', file, root);
      return {
        ...each,
        control: run('dpkg-deb', '--field', file),
        readFile: (name) => readFileSync(path.join(root, name)),
      };
    });
    return use(unpacked);
  } finally {
    rmSync(root, { recursive: true });
  }
};
