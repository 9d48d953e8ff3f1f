import type { DurableFile, DurableFiles } from '../files.ts';

/** One disk operation. A power cut keeps any part of the operations that were not synced. */
export type DiskOp =
  | { kind: 'create'; name: string; inode: number }
  | { kind: 'rename'; from: string; to: string }
  | { kind: 'remove'; name: string }
  | { kind: 'write'; inode: number; bytes: Buffer }
  | { kind: 'sync'; inode: number }
  /** A failed fsync: its data is lost, although it can be read until the power cut. */
  | { kind: 'lost'; inode: number }
  | { kind: 'sync-directory' };

/** What a power cut keeps of an unsynced operation: all (true), nothing, or these bytes of a write. */
export type Keep = (op: DiskOp, index: number) => boolean | ((byte: number) => boolean);

export type Failure = (op: DiskOp) => NodeJS.ErrnoException | undefined;

export const diskError = (code: string): NodeJS.ErrnoException => Object.assign(new Error(code), { code });

/** Indexes of the durable operations. */
const durableOps = (ops: readonly DiskOp[]): Set<number> => {
  const durable = new Set<number>();
  const writes = new Map<number, number[]>();
  let names: number[] = [];
  for (const [index, op] of ops.entries()) {
    if (op.kind === 'write') writes.set(op.inode, [...(writes.get(op.inode) ?? []), index]);
    else if (op.kind === 'sync-directory') {
      for (const each of names) durable.add(each);
      names = [];
    } else if (op.kind === 'sync' || op.kind === 'lost') {
      if (op.kind === 'sync') for (const each of writes.get(op.inode) ?? []) durable.add(each);
      writes.delete(op.inode);
    } else names.push(index);
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
    if (op.kind === 'write') {
      const isKept = typeof kept === 'function' ? kept : undefined;
      contents.set(
        op.inode,
        isKept ? Buffer.from(op.bytes.map((value, byte) => (isKept(byte) ? value : 0))) : op.bytes,
      );
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

export interface Disk extends DurableFiles {
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
      ops.push({ kind: 'create', name, inode: lastInode }, { kind: 'write', inode: lastInode, bytes });
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
        if (inode === undefined) continue;
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

  const fileOf = (inode: number): DurableFile => ({
    write: (text) => act({ kind: 'write', inode, bytes: Buffer.from(text) }),
    sync: () => act({ kind: 'sync', inode }),
    close: () => Promise.resolve(),
  });

  const disk: Disk = {
    ops,
    failure: undefined,
    visible: () => afterPowerCut(ops, () => true),
    prepare: () => Promise.resolve(),
    read: (file) => Promise.resolve(disk.visible().get(file)),
    async create(file) {
      lastInode += 1;
      const inode = lastInode;
      await act({ kind: 'create', name: file, inode });
      return fileOf(inode);
    },
    rename: (from, to) => (names().has(from) ? act({ kind: 'rename', from, to }) : Promise.reject(diskError('ENOENT'))),
    remove: (file) => act({ kind: 'remove', name: file }),
    syncDirectory: () => act({ kind: 'sync-directory' }),
  };
  return disk;
};
