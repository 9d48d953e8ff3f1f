import { existsSync, mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface MemoryLimit {
  /** Runs the command line within the limit. */
  within: (command: string[]) => string[];
  /** Whether the kernel enforces it. */
  isEnforced: boolean;
  /** The most memory that was in use, with that of sockets where the kernel counts it. */
  peak: (pid: number) => number;
  remove(): void;
}

const ROOT = '/sys/fs/cgroup';
const isUnified = existsSync(join(ROOT, 'cgroup.controllers'));

/** A control group as a kubelet makes one. Where this process may make none, the peak of the process is only measured. */
export const limitMemory = (name: string, bytes: number): MemoryLimit => {
  const group = join(ROOT, isUnified ? '' : 'memory', name);
  const read = (file: string): number => Number(readFileSync(join(group, file), 'utf8'));
  try {
    mkdirSync(group);
    writeFileSync(join(group, isUnified ? 'memory.max' : 'memory.limit_in_bytes'), String(bytes));
    // Version 1 counts sockets apart, and only when they have a limit.
    if (!isUnified) writeFileSync(join(group, 'memory.kmem.tcp.limit_in_bytes'), String(bytes));
  } catch {
    const peak = (pid: number): number =>
      Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
    return { within: (command) => command, isEnforced: false, peak, remove: () => undefined };
  }
  return {
    isEnforced: true,
    within: (command) => ['/bin/sh', '-c', `echo $$ > ${group}/cgroup.procs && exec "$@"`, 'sh', ...command],
    peak: () =>
      isUnified ? read('memory.peak') : read('memory.max_usage_in_bytes') + read('memory.kmem.tcp.max_usage_in_bytes'),
    remove: () => rmdirSync(group),
  };
};
