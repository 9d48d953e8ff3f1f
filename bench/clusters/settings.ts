import { HOUR, MINUTE, SECOND, type Setting } from './scenario.ts';

/** As in deploy/multicluster/ocm. */
const strategy = { soakMs: 10 * MINUTE, deadlineMs: HOUR, maxFailures: 0 } as const;
const noDeadline = { ...strategy, deadlineMs: Number.POSITIVE_INFINITY };
const settleMs = 10 * SECOND;

/** From what Open Cluster Management does by itself to what we ship. */
export const settings = {
  'no-tolerations': { strategy: noDeadline, tolerates: false },
  tolerations: { strategy: noDeadline, tolerates: true },
  // What one sets to get past clusters that are offline.
  'failures-10': { strategy: { ...strategy, maxFailures: '10%' }, tolerates: true },
  'failures-50': { strategy: { ...strategy, maxFailures: '50%' }, tolerates: true },
  'reach-no-deadline': { strategy: noDeadline, tolerates: true, reach: { settleMs, suspectWindowMs: 15 * MINUTE } },
  'reach-5m': { strategy, tolerates: true, reach: { settleMs, suspectWindowMs: 5 * MINUTE } },
  reach: { strategy, tolerates: true, reach: { settleMs, suspectWindowMs: 15 * MINUTE } },
} as const satisfies Record<string, Setting>;

export type SettingName = keyof typeof settings;
