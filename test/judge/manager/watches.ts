import { isNative } from '../../invariants/index.ts';
import type { Poisons } from '../../simulation/network/poisons.ts';
import type { Check, CheckContext } from '../check.ts';
import { withinMs } from '../tolerances.ts';

/** Snapshots of one watch within a minute, besides those that a fault caused. */
const MAX_SNAPSHOTS = 10;
/**
 * Each try of a reconcile that cannot compute something lists pods again: this many within a minute, since they back off, and begin again
 * from the shortest back-off when something changes.
 */
const TRIES = 9;
const MINUTE = 60_000;

/** L8: a watch that has ended is open again within a bound, and without a storm of list requests. */
export const createWatchesCheck = (
  { report, actual, now, processes }: CheckContext,
  poisons: Pick<Poisons, 'unwell'>,
): Check => {
  const { check, violation } = report;
  /** Watches that have ended and are not open again. While a process is stopped or cut off, time does not count. */
  const ended = new Map<string, { process: string; at: number }>();
  const snapshots = new Map<string, number[]>();
  let disturbances: number[] = [];

  /** The pods of each DaemonSet have their own watch, and their own check. */
  const isOfAnother = (watch: string): boolean => {
    const [, label] = /^pods\?app=([^&]*)&/.exec(watch) ?? [];
    return label !== undefined && label !== actual.daemonSet?.spec?.selector?.matchLabels?.['app'];
  };
  /** Nobody has to watch the pods of a DaemonSet that is opted out or deleted. */
  const isServed = (): boolean => {
    const { daemonSet } = actual;
    if (!daemonSet || daemonSet.metadata?.deletionTimestamp != null) return false;
    const isOptedIn = daemonSet.metadata?.annotations?.['apps.openyurt.io/update-strategy'] !== undefined;
    return !isNative(daemonSet) || isOptedIn;
  };

  /** Excludes the time in which the process could not do anything. */
  const excludeOutages = (): void => {
    if (!isServed()) ended.clear();
    for (const { name, running, up } of processes())
      if (!running || !up) for (const each of ended.values()) if (each.process === name) each.at = now();
  };
  const checkGap = (key: string): void => {
    const gap = ended.get(key);
    ended.delete(key);
    if (!gap) return;
    check('L8');
    const took = now() - gap.at;
    if (took > withinMs.reopened) violation('L8', `${key} was not watched for ${Math.round(took / 1000)} s`);
  };
  return {
    beforeCommit: excludeOutages,
    // While nothing is committed, processes that are refused still call.
    onSend: excludeOutages,
    onOperation(operation) {
      if (
        operation.do === 'disturb' ||
        operation.do === 'restart-api' ||
        operation.do === 'cut' ||
        operation.do === 'rotate'
      )
        disturbances.push(now());
    },
    onWatchOpened(process, watch, _plural, withSnapshot) {
      excludeOutages();
      if (isOfAnother(watch)) return;
      const key = `${process} ${watch}`;
      checkGap(key);
      if (!withSnapshot) return;
      const recent = (snapshots.get(key) ?? []).filter((at) => now() - at < MINUTE);
      recent.push(now());
      snapshots.set(key, recent);
      disturbances = disturbances.filter((at) => now() - at < MINUTE);
      check('L8');
      const tries = TRIES * poisons.unwell(process, MINUTE).length;
      if (recent.length > MAX_SNAPSHOTS + disturbances.length + tries)
        violation('L8', `${key} was listed ${recent.length} times within a minute`);
    },
    onWatchClosed(process, watch) {
      if (!isOfAnother(watch) && isServed()) ended.set(`${process} ${watch}`, { process, at: now() });
    },
  };
};
