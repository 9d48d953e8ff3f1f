import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { history } from './history.ts';
import { placement } from './placement.ts';
import { pods } from './pods.ts';
import type { Recording, Scenario } from './scenario.ts';
import { updates } from './updates.ts';

export const scenarios: readonly Scenario[] = [...placement, ...pods, ...updates, ...history];

assert.equal(new Set(scenarios.map(({ name }) => name)).size, scenarios.length, 'every scenario has its own name');

/** The results of the real DaemonSet controller, recorded by record.ts. */
export const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'recorded.json'), 'utf8')) as Record<
  string,
  Recording
>;
