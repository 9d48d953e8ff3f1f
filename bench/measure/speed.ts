import { availableParallelism, cpus, totalmem } from 'node:os';
import { realisticPod } from '../ingest/pod.ts';
import type { Figure } from './figure.ts';
import { mib } from './figure.ts';
import { cpuMs } from './machine.ts';
import { median } from './median.ts';

const WARM_UP = 2_000;
const PARSES = 5_000;
const ROUNDS = 7;

/** What the benchmarks run on, and how fast it is: a time from a machine that is twice as fast says nothing about this one. */
export const describeMachine = (): Figure => {
  const text = JSON.stringify(realisticPod(1, 1, true));
  const parse = (times: number): void => {
    for (let count = 0; count < times; count += 1) JSON.parse(text);
  };
  parse(WARM_UP);
  const each = Array.from({ length: ROUNDS }, () => {
    const before = cpuMs();
    parse(PARSES);
    return ((cpuMs() - before) / PARSES) * 1000;
  });
  return {
    name: 'machine',
    measured:
      `${availableParallelism()} cores of ${cpus()[0]?.model ?? 'an unknown processor'}, ${mib(totalmem())} of memory, ` +
      `Node ${process.version.slice(1)}: it parses a pod of ${(text.length / 1024).toFixed(1)} KiB of JSON in ${median(each).toFixed(1)} µs`,
    goal: '-',
    met: undefined,
  };
};
