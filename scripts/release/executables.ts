// kubectl-edgeset for machines without Node: Node's own binary with the program in it
// (https://nodejs.org/api/single-executable-applications.html), in one archive for each platform.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import manifest from '../../package.json' with { type: 'json' };
import { buildPlugin } from '../bundle.ts';
import { nodePackage } from '../images/node-package.ts';
import { tarOf } from '../images/tar.ts';

const root = path.join(import.meta.dirname, '../..');

export const PLUGIN = 'kubectl-edgeset';

/** As Go, and with it krew, names them. */
export interface Platform {
  os: 'linux' | 'darwin';
  arch: 'amd64' | 'arm64';
}

export const platforms: readonly Platform[] = [
  { os: 'linux', arch: 'amd64' },
  { os: 'linux', arch: 'arm64' },
  { os: 'darwin', arch: 'amd64' },
  { os: 'darwin', arch: 'arm64' },
];

export const archiveNameOf = ({ os, arch }: Platform): string => `${PLUGIN}_v${manifest.version}_${os}_${arch}.tar.gz`;

/** macOS starts no program on arm64 whose signature is missing or broken, and putting the program into Node breaks Node's. */
const signAdHoc = (file: string): void => {
  try {
    execFileSync('go', ['run', '-trimpath', '.', file, PLUGIN], {
      cwd: path.join(import.meta.dirname, 'sign'),
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  } catch (cause) {
    const why =
      cause instanceof Error && 'code' in cause && cause.code === 'ENOENT' ? ': install Go 1.24 or newer' : '';
    throw new Error(`signing ${path.basename(file)} for macOS failed${why}`, { cause });
  }
};

/** kubectl runs this at each press of Tab. */
const COMPLETION = `#!/bin/sh
exec ${PLUGIN} __complete "$@" 2>/dev/null
`;

/** Writes the executable into the folder and returns its path. `cache`: a folder that keeps what was downloaded. */
export const buildExecutable = async (
  { os, arch }: Platform,
  { folder, cache }: { folder: string; cache: string },
): Promise<{ file: string; licenses: Buffer }> => {
  const { file, main, notices } = await buildPlugin(folder);
  const node = nodePackage(os === 'linux' ? arch : `${os}-${arch}`, cache);
  writeFileSync(path.join(folder, 'node'), node.binary);
  // Names without folders, because the executable contains that of the program.
  const config = {
    main: path.basename(main),
    mainFormat: 'module',
    assets: { [path.basename(file)]: path.basename(file) },
    executable: 'node',
    output: PLUGIN,
    disableExperimentalSEAWarning: true,
    // Flags for some other Node in NODE_OPTIONS must not keep the plugin from starting.
    execArgvExtension: 'none',
  };
  writeFileSync(path.join(folder, 'executable.json'), JSON.stringify(config));
  execFileSync(process.execPath, ['--build-sea', 'executable.json'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const output = path.join(folder, PLUGIN);
  if (os === 'darwin') signAdHoc(output);
  return {
    file: output,
    licenses: Buffer.concat([readFileSync(notices), Buffer.from('\n---- Node\n\n'), node.license]),
  };
};

/** The archive of the platform, with the same bytes at each build. */
export const buildArchive = async (platform: Platform, cache: string): Promise<Buffer> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-executable-'));
  try {
    const { file, licenses } = await buildExecutable(platform, { folder, cache });
    const entry = (name: string, content: Buffer, mode = 0o644) =>
      ({ kind: 'file', path: name, mode, content }) as const;
    return gzipSync(
      tarOf([
        entry(PLUGIN, readFileSync(file), 0o755),
        entry('kubectl_complete-edgeset', Buffer.from(COMPLETION), 0o755),
        entry('LICENSE', readFileSync(path.join(root, 'LICENSE'))),
        entry('THIRD_PARTY_LICENSES', licenses),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
};
