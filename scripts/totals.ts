// A reporter for node:test that writes nothing but the runner's own totals, as JSON: see scripts/test.ts.

import type { TestEvent } from 'node:test/reporters';

/** What node:test counts. `failed` includes cancelled tests. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
}

export default async function* totals(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    // With one process a file, each file has a summary too; the run's own names no file.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue;
    const { tests, passed, skipped, todo } = event.data.counts;
    yield JSON.stringify({ passed, failed: tests - passed - skipped - todo, skipped } satisfies Totals);
  }
}
