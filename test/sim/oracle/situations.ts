import assert from 'node:assert/strict';
import { history } from './history.ts';
import { placement } from './placement.ts';
import { pods } from './pods.ts';
import type { Situation } from './situation.ts';
import { updates } from './updates.ts';

export const situations: readonly Situation[] = [...placement, ...pods, ...updates, ...history];

assert.equal(
  new Set(situations.map(({ name }) => name)).size,
  situations.length,
  'every situation has a name of its own',
);
