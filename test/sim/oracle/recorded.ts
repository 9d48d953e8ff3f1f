import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from './play.ts';

/** What the real DaemonSet controller did in each situation, as written by record.ts. */
export const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded.json'), 'utf8')) as Record<
  string,
  Recording
>;
