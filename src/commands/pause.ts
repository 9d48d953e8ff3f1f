import type { Connection, Named } from '../view/index.ts';
import { annotation } from '../words/index.ts';
import { type ChangeOptions, changeDaemonSet, statusOf, type Target, type Verdict, type Written } from './change.ts';

/** A pause does not affect pods that a user deletes. */
const noteOnPause = ({ policy }: Target): Pick<Verdict, 'notes'> =>
  policy.kind !== 'off' && policy.policy.strategy === 'manual'
    ? { notes: ['The update strategy is OnDelete: a pod that you delete is still recreated at the target revision.'] }
    : {};

export const pause = (connection: Connection, named: Named, options: ChangeOptions): Promise<Written> =>
  changeDaemonSet(connection, named, options, (daemonSet) =>
    daemonSet.pause === 'on'
      ? { message: 'is already paused', ...noteOnPause(daemonSet) }
      : { change: daemonSet.kind.pausePatch(true), message: 'paused', ...noteOnPause(daemonSet) },
  );

/** A value of the resume annotation that differs from the last one: the hash, or the hash with a counter. */
export const resumeValue = (hash: string, last: string | undefined): string => {
  const [lastHash, counter = '1'] = (last ?? '').split('/');
  return lastHash === hash ? `${hash}/${Number(counter) + 1 || 2}` : hash;
};

export const resume = (connection: Connection, named: Named, options: ChangeOptions): Promise<Written> =>
  changeDaemonSet(connection, named, options, async (daemonSet) => {
    const { kind, policy } = daemonSet;
    const paused = daemonSet.pause !== 'off';
    const status = await statusOf(connection, daemonSet);
    const halted = status?.halted ? status.target?.hash : undefined;
    if (!paused && halted === undefined) {
      const zeroBudget = status?.conditions?.some(({ reason, status: is }) => reason === 'ZeroBudget' && is === 'True');
      const budget = policy.kind === 'off' ? '' : policy.policy.words.maxUnavailable;
      return { message: `is neither paused nor halted${zeroBudget ? `; its ${budget} is zero` : ''}` };
    }
    const unpause = paused ? kind.pausePatch(false) : {};
    const consent = halted === undefined ? {} : { [annotation.resume]: resumeValue(halted, status?.resumed) };
    return {
      change: { ...unpause, metadata: { annotations: { ...unpause.metadata?.annotations, ...consent } } },
      message: halted === undefined ? 'unpaused' : `resumed at revision ${halted}`,
    };
  });
