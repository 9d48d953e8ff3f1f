// A reporter for node:test that writes nothing but the runner's own totals and what failed, as JSON: see scripts/test.ts.

import path from 'node:path';
import type { TestEvent } from 'node:test/reporters';

/** What node:test counts. `failed` includes cancelled tests. */
export interface Totals {
  passed: number;
  failed: number;
  skipped: number;
  /** A line for each test that failed by itself, not by those in it: its file, its name, and why. */
  failures: readonly string[];
}

/** Characters of a message; the rest is in the report. */
const MOST = 800;

type Failed = Extract<TestEvent, { type: 'test:fail' }>;

const isOfOthers = ({ data: { details } }: Failed): boolean => {
  const { error } = details;
  return 'failureType' in error && error.failureType === 'subtestsFailed';
};

const tell = ({ data: { name, file, details } }: Failed): string => {
  const { error } = details;
  const why = error.cause instanceof Error ? error.cause.message : error.message;
  const where = file ? `${path.relative(process.cwd(), file)}: ` : '';
  return `${where}${name}: ${why.replaceAll(/\s+/g, ' ').trim().slice(0, MOST)}`;
};

export default async function* totals(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures: string[] = [];
  for await (const event of source) {
    if (event.type === 'test:fail' && !isOfOthers(event)) failures.push(tell(event));
    // With one process a file, each file has a summary too; the run's own names no file.
    if (event.type !== 'test:summary' || event.data.file !== undefined) continue;
    const { tests, passed, skipped, todo } = event.data.counts;
    yield JSON.stringify({ passed, failed: tests - passed - skipped - todo, skipped, failures } satisfies Totals);
  }
}
