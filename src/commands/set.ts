import { formatIntOrPercent, type Policy } from '../rollout/index.ts';
import { OptionError } from '../runtime/index.ts';
import type { Connection, Named } from '../view/index.ts';
import { type ChangeOptions, changeDaemonSet, type Target, type Verdict, type Written } from './change.ts';
import { refuseInvalidFlags } from './override-flags.ts';

export interface SetOptions extends ChangeOptions {
  maxUnavailable?: string | undefined;
  partition?: string | undefined;
}

/** A setting under the name that the kind of DaemonSet has for it. */
interface Setting {
  name: string;
  value: string;
}

/** What limits how many nodes are updated at a time. */
const budgetOf = ({ maxUnavailable, maxSurge, words }: Policy): Setting => ({
  name: words.maxUnavailable,
  value: formatIntOrPercent(maxSurge.value > 0 ? maxSurge : maxUnavailable),
});

const partitionOf = ({ partition, words }: Policy): Setting => ({
  name: words.partition,
  value: formatIntOrPercent(partition),
});

const isSame = (a: Setting, b: Setting): boolean => a.name === b.name && a.value === b.value;

/** `maxUnavailable 1 -> 2`, or `maxSurge 1 -> maxUnavailable 2`. */
const describeChange = (was: Setting, will: Setting): string =>
  `${was.name} ${was.value} -> ${was.name === will.name ? '' : `${will.name} `}${will.value}`;

/** What the user should know about the settings as they will be. */
const notesOn = ({ kind, name }: Target, before: Policy, after: Policy, { edgeset }: Connection): string[] => {
  const notes: string[] = [];
  if (before.maxSurge.value > 0 && after.maxSurge.value === 0)
    notes.push('The surge ends: the old pod of a node is deleted before the new one is created.');
  if (after.strategy === 'ota' && !after.byApproval)
    notes.push('The owner of each device decides when it is updated: the budget limits nothing.');
  if (after.strategy === 'manual')
    notes.push('The update strategy is OnDelete: a node is updated when you delete its pod.');
  if (after.paused)
    notes.push(`The rollout stays paused: run "${edgeset(`resume ${kind.short}/${name}`)}" to continue it.`);
  return notes;
};

/** Sets how many nodes may be down, or how many stay on the old revision. */
export const setPolicy = async (connection: Connection, named: Named, options: SetOptions): Promise<Written> => {
  const { maxUnavailable, partition } = options;
  if (maxUnavailable === undefined && partition === undefined)
    throw new OptionError('--max-unavailable', 'is missing, and so is --partition: give at least one of them');
  const settings = { maxUnavailable, partition };
  return changeDaemonSet(connection, named, options, (daemonSet): Verdict => {
    const { kind, object, policy } = daemonSet;
    const next = kind.policyWith(object, settings);
    refuseInvalidFlags(kind, next, settings);
    // An opted-in DaemonSet stays so, whatever these settings are.
    if (policy.kind === 'off' || next.kind === 'off') return { message: 'is not managed' };
    const [before, after] = [policy.policy, next.policy];
    const changes = [
      ...(maxUnavailable === undefined ? [] : [[budgetOf(before), budgetOf(after)] as const]),
      ...(partition === undefined ? [] : [[partitionOf(before), partitionOf(after)] as const]),
    ];
    const others = changes.filter(([was, will]) => !isSame(was, will));
    // An invalid value counts as the default, so writing the default must still replace it.
    if (policy.kind === 'on' && others.length === 0)
      return { message: `already has ${changes.map(([{ name, value }]) => `${name} ${value}`).join(' and ')}` };
    const shown = policy.kind === 'on' ? others : changes;
    return {
      changes: shown.map(([was, will]) => ({
        what: was.name === will.name ? was.name : `${was.name}, ${will.name}`,
        from: was.value,
        to: will.value,
      })),
      change: kind.settingsPatch(object, settings),
      message: `set: ${shown.map(([was, will]) => describeChange(was, will)).join('; ')}`,
      notes: notesOn(daemonSet, before, after, connection),
    };
  });
};
