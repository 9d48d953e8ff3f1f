// Asks a manager all the time whether it lives.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Manager } from '../conformance/index.ts';

/** What the kubelet waits for an answer: timeoutSeconds of the liveness probe in deploy/manager.yaml. */
const PROBE_MS = 5_000;
/** Linux counts CPU time in hundredths of a second. */
const TICK_MS = 10;
const EVERY_MS = 20;

/** The CPU time of the process' main thread, which answers. */
const computedMs = (pid: number): number => {
  const stat = readFileSync(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};

/**
 * From now on. The function that it returns ends it, and throws unless each probe was answered in time. `mostComputedMs`: as long as the
 * manager may compute while a probe waits, however busy the machine is.
 */
export const watchProbes = (t: TestContext, { pid, probes }: Manager, mostComputedMs = PROBE_MS) => {
  const over = new AbortController();
  const late: string[] = [];
  const watching = (async () => {
    while (!over.signal.aborted) {
      const [askedAt, before] = [performance.now(), computedMs(pid)];
      const request = fetch(`${probes}/healthz`, { headers: { connection: 'close' } });
      const answer = await request.then(({ status }) => String(status), String);
      const [waited, computed] = [performance.now() - askedAt, computedMs(pid) - before];
      if (answer !== '200' || waited > PROBE_MS || computed > mostComputedMs)
        late.push(`${answer} after ${waited.toFixed()} ms, of which it computed ${computed} ms`);
      await sleep(EVERY_MS);
    }
  })();
  t.after(() => over.abort());
  return async (): Promise<void> => {
    over.abort();
    await watching;
    assert.deepEqual(late, []);
  };
};
