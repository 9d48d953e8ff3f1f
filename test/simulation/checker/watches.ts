import type { Check, CheckContext } from './check.ts';

/** The longest pause between two tries, its jitter, and what an answer takes. */
const BACK_WITHIN_MS = 50_000;
/** Snapshots of one watch within a minute, beside those that something was done for. */
const STORM = 10;
const MINUTE = 60_000;

/** L8: a watch that has ended is open again within a bound, and not by a storm of lists. */
export const createWatchesCheck = ({ report, actual, now, processes }: CheckContext): Check => {
  const { check, violation } = report;
  /** When a watch ended that is not open again; while its process cannot help it, time does not count. */
  const ended = new Map<string, { process: string; at: number }>();
  const snapshots = new Map<string, number[]>();
  let disturbances: number[] = [];

  /** Each DaemonSet's pods are watched by themselves, and by a judge of their own. */
  const isOfAnother = (watch: string): boolean => {
    const [, label] = /^pods\?app=([^&]*)&/.exec(watch) ?? [];
    return label !== undefined && label !== actual.daemonSet?.spec?.selector?.matchLabels?.['app'];
  };
  /** One that is opted out, or goes, is nobody's to watch. */
  const isServed = (): boolean => {
    const { apiVersion, metadata } = actual.daemonSet ?? {};
    const isNative = apiVersion === 'apps/v1';
    const model = metadata?.annotations?.['apps.openyurt.io/update-strategy'];
    return actual.daemonSet !== undefined && metadata?.deletionTimestamp == null && (!isNative || model !== undefined);
  };

  /** What was not its own doing is not counted. */
  const look = (): void => {
    if (!isServed()) ended.clear();
    for (const { name, running, up } of processes())
      if (!running || !up) for (const each of ended.values()) if (each.process === name) each.at = now();
  };
  const judgeGap = (key: string): void => {
    const gap = ended.get(key);
    ended.delete(key);
    if (!gap) return;
    check('L8');
    const took = now() - gap.at;
    if (took > BACK_WITHIN_MS) violation('L8', `${key} was not watched for ${Math.round(took / 1000)} s`);
  };
  return {
    beforeCommit: look,
    onOperation(operation) {
      if (operation.do === 'disturb' || operation.do === 'restart-api' || operation.do === 'cut')
        disturbances.push(now());
    },
    onWatchOpened(process, watch, _plural, withSnapshot) {
      look();
      if (isOfAnother(watch)) return;
      const key = `${process} ${watch}`;
      judgeGap(key);
      if (!withSnapshot) return;
      const recent = (snapshots.get(key) ?? []).filter((at) => now() - at < MINUTE);
      recent.push(now());
      snapshots.set(key, recent);
      disturbances = disturbances.filter((at) => now() - at < MINUTE);
      check('L8');
      if (recent.length > STORM + disturbances.length)
        violation('L8', `${key} was read as a whole ${recent.length} times within a minute`);
    },
    onWatchClosed(process, watch) {
      if (!isOfAnother(watch) && isServed()) ended.set(`${process} ${watch}`, { process, at: now() });
    },
  };
};
