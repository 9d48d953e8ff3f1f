import { type Action, annotation, type Cause, explainHold } from '../../rollout/index.ts';
import { OptionError } from '../../runtime/index.ts';
import type { PlanFlags } from '../commands.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connection.ts';
import type { Overrides, Reading } from './kinds/kind.ts';
import { readName } from './kinds/names.ts';
import { managerNotes, readRolloutOf } from './read-rollout.ts';
import { firstOf, joinSentences, structured } from './text.ts';

const LONGEST_LIST = 20;

/** Flags that take the place of what the DaemonSet says. */
const flagOf: Readonly<Record<keyof Overrides, string>> = {
  maxUnavailable: '--max-unavailable',
  partition: '--partition',
  nodeSelector: '--node-selector',
  unpaused: '--unpaused',
};

const wills = {
  delete: (node: string) => `replace the pod on ${node}`,
  'in-place': (node: string) => `change the pod on ${node} in place`,
  surge: (node: string) => `create a new pod beside the one on ${node}`,
};

/** One of the decision's actions as a line. */
const toStep = (action: Action, { ledger }: Reading): string => {
  switch (action.type) {
    case 'reserve':
      return `${wills[action.kind ?? 'delete'](action.node)} (${ledger.get(action.node)?.status.phase ?? 'unknown'})`;
    case 'delete':
      return `delete the pod on ${action.node}, whose slot is reserved`;
    case 'change':
      return `change the pod on ${action.node} in place, whose slot is reserved`;
    case 'surge':
      return `create a new pod beside the one on ${action.node}, whose slot is reserved`;
    case 'retire':
      return `delete pod ${action.pod.name} on ${action.node}, beside which another has been created`;
    case 'release':
      return `give back the slot of ${action.node}, whose pod is left alone`;
    case 'halt':
      return action.halt.reason === 'RolledBack'
        ? 'halt: this revision was rolled back before'
        : `halt: the target revision failed on ${action.halt.nodes.join(', ')}`;
    case 'resume':
      return `resume, as the annotation ${annotation.resume}=${action.value} asks`;
    case 'rollback':
      return `put the template of ${action.to.name} back`;
    case 'complete':
      return 'record that the rollout is complete';
    case 'ask':
      return `have the images of the target pulled on ${action.node}`;
    case 'unask':
      return `take back that the images of the target are pulled on ${action.node}`;
    case 'announce':
      return `bring condition PodNeedUpgrade of ${action.pods} pod${action.pods === 1 ? '' : 's'} up to date`;
  }
};

/** Nothing is replaced from here: owners replace their pods themselves. */
const isForOwners = ({ policy }: Reading['ledger']): boolean => policy.strategy === 'ota' && !policy.byApproval;

/** With the strategy ota: who decides, by name. */
const ownersAsked = (ledger: Reading['ledger']): string => {
  const records = ledger.records().filter(({ status }) => status.owner.asked);
  const asked = Array.from(records, ({ name }) => name).toSorted();
  return asked.length > 0 ? `Owners asked (${asked.length}): ${firstOf(asked, LONGEST_LIST)}.` : 'No owner is asked.';
};

/** Online nodes that a term of the policy keeps at an older revision, by what it is. */
const keptBack = ({ tally }: Reading['ledger']): Partial<Record<Cause, number>> =>
  Object.fromEntries(
    (['partition', 'node-selector', 'image'] as const).flatMap((cause) => {
      const count = tally.causes.get(cause) ?? 0;
      return count > 0 ? [[cause, count]] : [];
    }),
  );

const sayKeptBack = (ledger: Reading['ledger']): string => {
  const { words } = ledger.policy;
  const by: Partial<Record<Cause, string>> = {
    partition: `by ${words.partition}`,
    'node-selector': `by ${words.nodeSelector}`,
    image: 'until the images of the target are there',
  };
  const parts = Object.entries(keptBack(ledger)).map(([cause, count]) => `${count} ${by[cause as Cause]}`);
  return parts.length > 0 ? `Online and kept back: ${parts.join(', ')}.` : '';
};

/** What comes after: nodes that wait for a slot, and nodes that come back. */
const outlook = ({ ledger, decision }: Reading): string => {
  if (isForOwners(ledger)) return ownersAsked(ledger);
  const { outdated, broken, offline } = ledger.tally.phases;
  const begun = decision.actions.filter(({ type }) => type === 'reserve').length;
  const waiting = outdated + broken - begun;
  return joinSentences(
    ledger.policy.strategy === 'ota' ? ownersAsked(ledger) : '',
    sayKeptBack(ledger),
    waiting > 0 ? `Online and waiting for their turn: ${waiting} more.` : '',
    offline > 0 ? `Offline and skipped until they return: ${offline}.` : '',
  );
};

export const renderPlan = (reading: Reading): string => {
  const { breaker, budget, usage, hold, complete } = reading.decision.summary;
  const lines = [
    'Nothing is written: this is what the manager would decide now.',
    isForOwners(reading.ledger)
      ? 'No budget: owners decide.'
      : `Budget ${budget}: ${usage.occupied} in use, ${usage.inFlight} of them by acts in flight.`,
    `Breaker: ${breaker.failures} failures and ${breaker.suspects} suspects, stops at ${breaker.threshold}.`,
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold, reading.ledger.policy.words);
    lines.push(joinSentences(`${what}.`, remedy));
  }
  lines.push(...managerNotes(reading).map((note) => `Note: ${note}`));
  const steps = reading.decision.actions.map((action) => toStep(action, reading));
  if (steps.length > 0) {
    lines.push('Would now:', ...steps.slice(0, LONGEST_LIST).map((step) => `  ${step}`));
    if (steps.length > LONGEST_LIST) lines.push(`  and ${steps.length - LONGEST_LIST} more: -o json lists them all`);
  } else lines.push(complete ? 'Nothing is left to do.' : 'Nothing would be done now.');
  const rest = outlook(reading);
  return `${[...lines, ...(rest === '' ? [] : [rest])].join('\n')}\n`;
};

const toData = ({ decision, ledger }: Reading): object => {
  const { actions, summary, wakeAt } = decision;
  return {
    ...summary,
    keptBack: keptBack(ledger),
    actions: actions.map((action) => ('pod' in action ? { ...action, pod: action.pod.name } : action)),
    ...(Number.isFinite(wakeAt) && { decidesAgainAt: new Date(wakeAt).toISOString() }),
  };
};

/** What the one decision of the product says of the live cluster, with the policy changed as the flags ask. */
export const showPlan = async (name: string, flags: PlanFlags, io: Io): Promise<void> => {
  const { output, maxUnavailable, partition, nodeSelector, unpaused } = flags;
  const overrides: Overrides = { maxUnavailable, partition, nodeSelector, unpaused };
  const named = readName(name);
  await withCluster(flags, io, async (connection) => {
    const reading = await readRolloutOf(connection, named, overrides);
    const { kind, view } = reading;
    // The flags' own values are slips of the command line; the DaemonSet's are part of what is to be told.
    for (const error of view.policy.kind === 'invalid' ? view.policy.errors : [])
      for (const key of ['maxUnavailable', 'partition', 'nodeSelector', 'unpaused'] as const)
        if (error.field === kind.fields[key] && overrides[key] !== undefined)
          throw new OptionError(flagOf[key], `"${error.value}" ${error.problem}: ${error.cure}`);
    io.stdout(output ? structured(toData(reading), output) : renderPlan(reading));
  });
};
