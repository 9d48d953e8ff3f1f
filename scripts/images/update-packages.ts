// Pins the newest versions of the Debian packages: npm run build:images -- --update-packages. Needs Debian of the release that
// debian-packages.json names. apt checks the signatures of the indexes that the checksums come from.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  type Architecture,
  architectures,
  type DebianPackage,
  debianPackages,
  debianRelease,
} from './debian-packages.ts';

const LOCK = path.join(import.meta.dirname, 'debian-packages.json');

const fieldOf = (record: string, field: string): string => {
  const [, value] = new RegExp(`^${field}: (.+)$`, 'm').exec(record) ?? [];
  if (value === undefined) throw new Error(`apt's index names no ${field}:\n${record}`);
  return value;
};

/** The newest packages of one architecture, by indexes in a folder of their own: the machine's apt stays as it is. */
const newest = (architecture: Architecture, folder: string): DebianPackage[] => {
  for (const each of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(path.join(folder, each), { recursive: true });
  const options = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'Acquire::Languages': 'none',
    'Dir::State::lists': path.join(folder, 'lists'),
    'Dir::State::status': '/dev/null',
    'Dir::Cache': path.join(folder, 'cache'),
  };
  const apt = (program: string, ...args: string[]): string =>
    execFileSync(
      program,
      [...Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]), ...args],
      {
        encoding: 'utf8',
        maxBuffer: 1 << 26,
      },
    );
  apt('apt-get', '-qq', 'update');
  const names = debianPackages(architecture).map(({ name }) => name);
  return apt('apt-cache', 'show', '--no-all-versions', ...names)
    .trim()
    .split(/\n\n+/)
    .map((record) => ({
      name: fieldOf(record, 'Package'),
      version: fieldOf(record, 'Version'),
      filename: fieldOf(record, 'Filename'),
      sha256: fieldOf(record, 'SHA256'),
    }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
};

/** Resolves with a line for each package whose version changes. */
export const updatePackages = (): string[] => {
  const system = readFileSync('/etc/os-release', 'utf8');
  const { codename } = debianRelease;
  if (!/^ID=debian$/m.test(system) || !new RegExp(`^VERSION_CODENAME=${codename}$`, 'm').test(system))
    throw new Error(`--update-packages: asks apt for the packages of Debian ${codename}: run it there`);
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-apt-'));
  try {
    const packages = Object.fromEntries(
      architectures.map((each) => [each, newest(each, path.join(folder, each))] as const),
    );
    writeFileSync(LOCK, `${JSON.stringify({ release: debianRelease, packages }, undefined, 2)}\n`);
    return architectures.flatMap((architecture) =>
      debianPackages(architecture).flatMap(({ name, version }) => {
        const now = packages[architecture]?.find((each) => each.name === name)?.version;
        return now === version ? [] : [`${name} ${architecture}: ${version} -> ${now}`];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};
