// Trees of files: in a folder, or as an archive that tar makes, whose bytes depend on names, modes and contents only.

import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export type Entry =
  | { kind: 'file'; path: string; mode: number; content: Buffer }
  | { kind: 'folder'; path: string; mode: number }
  | { kind: 'link'; path: string; target: string };

/** Writes the entries, with the folders that they need, into a folder. */
export const writeTree = (entries: readonly Entry[], folder: string): void => {
  const umask = process.umask(0o022);
  for (const entry of entries) {
    const target = path.join(folder, entry.path);
    mkdirSync(path.dirname(target), { recursive: true });
    if (entry.kind === 'link') {
      symlinkSync(entry.target, target);
      continue;
    }
    if (entry.kind === 'file') writeFileSync(target, entry.content, { flag: 'wx' });
    else mkdirSync(target);
    chmodSync(target, entry.mode);
  }
  process.umask(umask);
};

const LARGEST = 1 << 29;

const tar = (...args: string[]): Buffer => execFileSync('tar', args, { maxBuffer: LARGEST });

export const tarOf = (entries: readonly Entry[]): Buffer => {
  const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-tar-'));
  const fixed = ['--format=ustar', '--sort=name', '--mtime=@0', '--owner=0', '--group=0', '--numeric-owner'];
  try {
    writeTree(entries, folder);
    return tar('--create', '--file=-', ...fixed, `--directory=${folder}`, ...readdirSync(folder).toSorted());
  } finally {
    rmSync(folder, { recursive: true });
  }
};

/** The content of one file of an archive, which may be compressed. */
export const readMember = (archive: string, name: string): Buffer =>
  tar('--extract', '--to-stdout', '--file', archive, name);
