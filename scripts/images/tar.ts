// Trees of files: as a tar archive whose bytes depend on names, modes and contents only (owner root, time 0, sorted), or in a
// folder.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export type Entry =
  | { kind: 'file'; path: string; mode: number; content: Buffer }
  | { kind: 'folder'; path: string; mode: number }
  | { kind: 'link'; path: string; target: string };

const BLOCK = 512;
const LONGEST_NAME = 100;
const TYPES = { file: '0', link: '2', folder: '5' } as const;

const header = (entry: Entry): Buffer => {
  const name = entry.kind === 'folder' ? `${entry.path}/` : entry.path;
  const target = entry.kind === 'link' ? entry.target : '';
  for (const text of [name, target])
    if (Buffer.byteLength(text) > LONGEST_NAME)
      throw new Error(`${text} is too long for a tar header: give it at most ${LONGEST_NAME} bytes`);
  const bytes = Buffer.alloc(BLOCK);
  const put = (offset: number, text: string): void => void bytes.write(text, offset, 'utf8');
  const octal = (offset: number, digits: number, value: number): void =>
    put(offset, `${value.toString(8).padStart(digits, '0')}\0`);
  put(0, name);
  octal(100, 7, entry.kind === 'link' ? 0o777 : entry.mode);
  octal(108, 7, 0);
  octal(116, 7, 0);
  octal(124, 11, entry.kind === 'file' ? entry.content.length : 0);
  octal(136, 11, 0);
  // The checksum counts itself as spaces.
  put(148, ' '.repeat(8));
  put(156, TYPES[entry.kind]);
  put(157, target);
  put(257, 'ustar\u000000');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return bytes;
};

/** The folders that entries need and that are not among them. */
const missingFolders = (entries: readonly Entry[]): Entry[] => {
  const known = new Set(entries.map((entry) => entry.path));
  const missing: Entry[] = [];
  for (const entry of entries)
    for (let folder = path.posix.dirname(entry.path); folder !== '.'; folder = path.posix.dirname(folder)) {
      if (known.has(folder)) break;
      known.add(folder);
      missing.push({ kind: 'folder', path: folder, mode: 0o755 });
    }
  return missing;
};

/** All entries with the folders that they need, each folder before what is in it. */
const completed = (entries: readonly Entry[]): Entry[] =>
  [...entries, ...missingFolders(entries)].toSorted((a, b) => (a.path < b.path ? -1 : 1));

export const tarOf = (entries: readonly Entry[]): Buffer => {
  const parts = completed(entries).flatMap((entry) => {
    if (entry.kind !== 'file') return [header(entry)];
    const padding = Buffer.alloc((BLOCK - (entry.content.length % BLOCK)) % BLOCK);
    return [header(entry), entry.content, padding];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
};

/** The content of one file of an archive that `tarOf` made. */
export const readEntry = (tar: Buffer, name: string): Buffer => {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0; ) {
    const size = Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8);
    const content = at + BLOCK;
    if (tar.toString('utf8', at, at + LONGEST_NAME).replace(/\0.*$/, '') === name)
      return tar.subarray(content, content + size);
    at = content + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`the archive has no ${name}: build it again`);
};

/** Writes the entries into a new folder. */
export const writeTree = (entries: readonly Entry[], folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const entry of completed(entries)) {
    const target = path.join(folder, entry.path);
    if (entry.kind === 'link') symlinkSync(entry.target, target);
    else if (entry.kind === 'file') writeFileSync(target, entry.content, { flag: 'wx' });
    else mkdirSync(target);
    // Whatever the umask.
    if (entry.kind !== 'link') chmodSync(target, entry.mode);
  }
};
