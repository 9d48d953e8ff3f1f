import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { percent } from './figure.ts';

/** The kernel's unit in /proc: USER_HZ is 100 on every Linux that Node runs on. */
const TICK_MS = 10;

interface CpuTime {
  busyMs: number;
  allMs: number;
}

const cpuTime = (): CpuTime =>
  cpus().reduce<CpuTime>(
    ({ busyMs, allMs }, { times }) => {
      const busy = times.user + times.nice + times.sys + times.irq;
      return { busyMs: busyMs + busy, allMs: allMs + busy + times.idle };
    },
    { busyMs: 0, allMs: 0 },
  );

/**
 * Watches how busy the whole machine is from now on. A figure of time says little when the machine was saturated, or
 * when others had their share of it.
 */
export const watchMachine = (): (() => string) => {
  const start = cpuTime();
  return () => {
    const end = cpuTime();
    const share = (end.busyMs - start.busyMs) / Math.max(1, end.allMs - start.allMs);
    return `machine ${percent(share)} busy`;
  };
};

/** CPU that a process has used so far, all its threads. */
export const cpuMsOf = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The command's name may hold blanks: fields are counted from its closing parenthesis, where field 3 begins.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/** CPU that this process has used, all its threads, ms. */
export const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** CPU that this thread has used, ms. V8 compiles in other threads, and nothing waits for them. */
export const threadCpuMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

const memoryField = (pid: number | 'self', field: 'VmRSS' | 'VmHWM'): number => {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0) * 1024;
};

/** Resident memory now, bytes. */
export const residentOf = (pid: number | 'self'): number => memoryField(pid, 'VmRSS');
/** The most resident memory that the process ever had, bytes. */
export const peakResidentOf = (pid: number | 'self'): number => memoryField(pid, 'VmHWM');

/** Bytes of live objects in this process. Requires `--expose-gc`, which run.ts sets. */
export const liveHeap = (): number => {
  const collect = globalThis.gc;
  if (!collect) throw new Error('measuring the heap requires --expose-gc: run benchmarks with bench/run.ts');
  // The second collection frees what the first one finalizes.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};
