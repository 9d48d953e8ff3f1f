import { phases } from '../../rollout/index.ts';
import type { RolloutCounts } from '../types.ts';

/** What a controller counts of a rollout before its first decision. */
export const rolloutCounts = (
  namespace: string,
  name: string,
  changes: Partial<RolloutCounts['phases']> = {},
  more: Partial<RolloutCounts> = {},
): RolloutCounts => ({
  namespace,
  name,
  halted: false,
  phases: { ...(Object.fromEntries(phases.map((phase) => [phase, 0])) as RolloutCounts['phases']), ...changes },
  causes: [],
  stages: [],
  startedAt: undefined,
  finishedAt: undefined,
  ownersAsked: undefined,
  summary: undefined,
  reconciledAt: undefined,
  ...more,
});
