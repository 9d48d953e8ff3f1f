/** Bytes of live objects in this process. Needs `--expose-gc`, which run.ts gives. */
export const liveHeap = (): number => {
  const collect = globalThis.gc;
  if (!collect) throw new Error('the heap can only be measured with --expose-gc: start benchmarks by bench/run.ts');
  // What a first collection finalizes, a second one frees.
  collect();
  collect();
  return process.memoryUsage().heapUsed;
};
