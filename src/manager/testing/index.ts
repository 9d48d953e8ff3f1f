import { phases } from '../../words/index.ts';
import type { ComputedCounts } from '../types.ts';

/** What a controller counts of a rollout before its first decision. */
export const rolloutCounts = (
  namespace: string,
  name: string,
  changes: Partial<ComputedCounts['phases']> = {},
  more: Partial<ComputedCounts> = {},
): ComputedCounts => ({
  namespace,
  name,
  halted: false,
  hasError: false,
  phases: { ...(Object.fromEntries(phases.map((phase) => [phase, 0])) as ComputedCounts['phases']), ...changes },
  causes: [],
  stages: [],
  startedAt: undefined,
  finishedAt: undefined,
  ownersAsked: undefined,
  summary: undefined,
  reconciledAt: undefined,
  ...more,
});
