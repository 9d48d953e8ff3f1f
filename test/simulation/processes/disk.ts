import type { DurableFile, DurableFiles, StateFiles } from '../../../src/agent/storage/index.ts';
import { afterPowerCut, createDisk, type Disk, type DiskOp } from '../../../src/agent/storage/testing/index.ts';
import type { Clock } from '../../../src/runtime/index.ts';
import type { CallFault } from '../network/call.ts';
import type { Machine } from './machine.ts';

/** The latency of a request to the disk, one way. Ms. */
const LATENCY_MS = 1;

export interface MountOptions {
  time: Clock;
  machine: Machine;
  /** Called once for each value that becomes durable. */
  faultOf: () => CallFault | undefined;
}

/** The disk as one process accesses it. */
export interface Mount {
  decisions: DurableFiles;
  state: StateFiles;
}

/** The disk of one device, which outlives the processes that write to it. */
export interface DeviceDisk {
  /** For one process: requests take time, and responses arrive as the machine permits. */
  mount(options: MountOptions): Mount;
  /** Keeps the unsynced operations for which `keep` returns true. */
  cutPower(keep: (op: DiskOp) => boolean): void;
}

export const createDeviceDisk = (): DeviceDisk => {
  let disk: Disk = createDisk();
  const texts = new Map<string, string>();

  return {
    mount({ time, machine, faultOf }) {
      const travel = (): Promise<void> =>
        new Promise((resolve) => void time.timer(LATENCY_MS, () => machine.deliver(resolve)));
      const slowly = async <T>(work: () => Promise<T>): Promise<T> => {
        await travel();
        const result = await work();
        await travel();
        return result;
      };
      const stop = (ms: number): void => {
        machine.pause();
        time.timer(ms, () => machine.resume());
      };
      /** The process may die, or be stopped, before or after the value is durable. */
      const sync = async (work: () => Promise<void>): Promise<void> => {
        const fault = faultOf();
        if (fault?.kind === 'crash' && fault.when === 'before') machine.kill();
        if (fault?.kind === 'stop' && fault.when === 'before') stop(fault.ms);
        await travel();
        await work();
        if (fault?.kind === 'crash' && fault.when === 'after') machine.kill();
        if (fault?.kind === 'stop' && fault.when === 'after') stop(fault.ms);
        await travel();
      };
      const through = (file: DurableFile): DurableFile => ({
        write: (text) => slowly(() => file.write(text)),
        sync: () => slowly(() => file.sync()),
        close: () => file.close(),
      });
      const now = disk;
      return {
        decisions: {
          prepare: (dir) => slowly(() => now.prepare(dir)),
          read: (file) => slowly(() => now.read(file)),
          create: (file) => slowly(async () => through(await now.create(file))),
          rename: (from, to) => slowly(() => now.rename(from, to)),
          remove: (file) => slowly(() => now.remove(file)),
          syncDirectory: (dir) => sync(() => now.syncDirectory(dir)),
        },
        state: {
          read: (file) => texts.get(file),
          replace: (file, text) =>
            slowly(() => {
              texts.set(file, text);
              return Promise.resolve();
            }),
        },
      };
    },
    cutPower(keep) {
      disk = createDisk(afterPowerCut(disk.ops, keep));
    },
  };
};
