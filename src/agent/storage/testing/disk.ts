import assert from 'node:assert/strict';
import path from 'node:path';
import type { JournalFile, JournalFiles } from '../files.ts';

/** One disk operation. A power cut keeps any part of the operations that were not synced. */
export type DiskOp =
  | { kind: 'create'; name: string; inode: number }
  | { kind: 'rename'; from: string; to: string }
  | { kind: 'remove'; name: string }
  | { kind: 'write'; inode: number; position: number; bytes: Buffer }
  | { kind: 'truncate'; inode: number; length: number }
  | { kind: 'sync'; inode: number }
  /** A failed fsync: its data is lost, although it can be read until the power cut. */
  | { kind: 'lost'; inode: number }
  | { kind: 'sync-directory' };

/** What a power cut keeps of an unsynced operation: all (true), nothing, or these bytes of a write. */
export type Keep = (op: DiskOp, index: number) => boolean | ((byte: number) => boolean);

export type Failure = (op: DiskOp) => NodeJS.ErrnoException | undefined;

export const diskError = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

const patch = (content: Buffer, op: DiskOp, keepByte: (byte: number) => boolean): Buffer => {
  if (op.kind === 'truncate') {
    const cut = Buffer.alloc(op.length);
    content.copy(cut, 0, 0, op.length);
    return cut;
  }
  if (op.kind !== 'write') return content;
  const grown = Buffer.alloc(Math.max(content.length, op.position + op.bytes.length));
  content.copy(grown);
  for (let byte = 0; byte < op.bytes.length; byte += 1)
    if (keepByte(byte)) grown[op.position + byte] = op.bytes[byte] ?? 0;
  return grown;
};

/** Indexes of the durable operations. */
const durableOps = (ops: readonly DiskOp[]): Set<number> => {
  const durable = new Set<number>();
  const gone = new Set<number>();
  for (const [at, barrier] of ops.entries()) {
    for (const [index, op] of ops.slice(0, at).entries()) {
      const data = op.kind === 'write' || op.kind === 'truncate';
      if (barrier.kind === 'lost' && data && op.inode === barrier.inode && !durable.has(index)) gone.add(index);
      if (barrier.kind === 'sync' && data && op.inode === barrier.inode && !gone.has(index)) durable.add(index);
      if (barrier.kind === 'sync-directory' && ['create', 'rename', 'remove'].includes(op.kind)) durable.add(index);
    }
  }
  return durable;
};

/** The files by name after a power cut that follows `ops`. */
export const afterPowerCut = (ops: readonly DiskOp[], keep: Keep): Map<string, Buffer> => {
  const durable = durableOps(ops);
  const contents = new Map<number, Buffer>();
  const names = new Map<string, number>();
  for (const [index, op] of ops.entries()) {
    const kept = durable.has(index) || keep(op, index);
    if (kept === false) continue;
    if (op.kind === 'write' || op.kind === 'truncate') {
      const keepByte = typeof kept === 'function' ? kept : () => true;
      contents.set(op.inode, patch(contents.get(op.inode) ?? Buffer.alloc(0), op, keepByte));
    } else if (op.kind === 'create') names.set(op.name, op.inode);
    else if (op.kind === 'remove') names.delete(op.name);
    else if (op.kind === 'rename') {
      const inode = names.get(op.from);
      if (inode === undefined) continue;
      names.delete(op.from);
      names.set(op.to, inode);
    }
  }
  return new Map([...names].map(([name, inode]) => [name, contents.get(inode) ?? Buffer.alloc(0)]));
};

export interface Disk extends JournalFiles {
  readonly ops: readonly DiskOp[];
  /** Called before each operation; if it returns an error, the operation fails with it. */
  failure: Failure | undefined;
  /** The files as a program sees them, including unsynced changes. */
  visible(): Map<string, Buffer>;
}

/** A disk in memory that records all operations. It starts with durable files, or after the given operations. */
export const createDisk = (start: Map<string, Buffer> | DiskOp[] = []): Disk => {
  const ops: DiskOp[] = [];
  let lastInode = 0;
  if (start instanceof Map) {
    for (const [name, bytes] of start) {
      lastInode += 1;
      ops.push({ kind: 'create', name, inode: lastInode }, { kind: 'write', inode: lastInode, position: 0, bytes });
      ops.push({ kind: 'sync', inode: lastInode });
    }
    ops.push({ kind: 'sync-directory' });
  } else ops.push(...start);
  for (const op of ops) if (op.kind === 'create') lastInode = Math.max(lastInode, op.inode);

  const names = (): Map<string, number> => {
    const found = new Map<string, number>();
    for (const op of ops) {
      if (op.kind === 'create') found.set(op.name, op.inode);
      else if (op.kind === 'remove') found.delete(op.name);
      else if (op.kind === 'rename') {
        const inode = found.get(op.from);
        assert.ok(inode !== undefined, `rename of ${op.from}, which is not there`);
        found.delete(op.from);
        found.set(op.to, inode);
      }
    }
    return found;
  };

  const act = async (op: DiskOp): Promise<void> => {
    await Promise.resolve();
    const error = disk.failure?.(op);
    if (!error) {
      ops.push(op);
      return;
    }
    // Like a file system: a part of a failed write stays, and a failed fsync drops its data.
    if (op.kind === 'write') ops.push({ ...op, bytes: op.bytes.subarray(0, Math.floor(op.bytes.length / 2)) });
    if (op.kind === 'sync') ops.push({ kind: 'lost', inode: op.inode });
    throw error;
  };

  const fileOf = (inode: number): JournalFile => ({
    write: (bytes, position) => act({ kind: 'write', inode, position, bytes: Buffer.from(bytes) }),
    truncate: (length) => act({ kind: 'truncate', inode, length }),
    sync: () => act({ kind: 'sync', inode }),
    close: () => Promise.resolve(),
  });

  const disk: Disk = {
    ops,
    failure: undefined,
    visible: () => afterPowerCut(ops, () => true),
    prepare: () => Promise.resolve(),
    read: (file) => Promise.resolve(disk.visible().get(file)),
    list: (dir) =>
      Promise.resolve(
        [...names().keys()].filter((name) => path.dirname(name) === dir).map((name) => path.basename(name)),
      ),
    async create(file) {
      lastInode += 1;
      const inode = lastInode;
      await act({ kind: 'create', name: file, inode });
      return fileOf(inode);
    },
    open(file) {
      const inode = names().get(file);
      return inode === undefined ? Promise.reject(diskError('ENOENT')) : Promise.resolve(fileOf(inode));
    },
    rename: (from, to) => act({ kind: 'rename', from, to }),
    remove: (file) => act({ kind: 'remove', name: file }),
    syncDirectory: () => act({ kind: 'sync-directory' }),
  };
  return disk;
};
