import type { RolloutReading } from '../../controller/index.ts';
import { type Action, annotation, explainHold } from '../../rollout/index.ts';
import { OptionError } from '../../runtime/index.ts';
import type { Io } from '../io.ts';
import { withCluster } from './connect.ts';
import type { PlanFlags } from './plan-command.ts';
import { notesOnManager, readFor } from './reading.ts';
import { readDaemonSetName, sentences, someOf, structured } from './text.ts';

const LONGEST_LIST = 20;

/** Flags that take the place of an annotation. */
const overrides = [
  ['--max-unavailable', annotation.maxUnavailable, ({ maxUnavailable }: PlanFlags) => maxUnavailable],
  ['--partition', annotation.partition, ({ partition }: PlanFlags) => partition],
  ['--node-selector', annotation.nodeSelector, ({ nodeSelector }: PlanFlags) => nodeSelector],
  ['--unpaused', annotation.paused, ({ unpaused }: PlanFlags) => (unpaused ? 'false' : undefined)],
] as const;

const wills = {
  delete: (node: string) => `replace the pod on ${node}`,
  'in-place': (node: string) => `change the pod on ${node} in place`,
  surge: (node: string) => `create a new pod beside the one on ${node}`,
};

/** One of the decision's actions as a line. */
const toStep = (action: Action, { ledger }: RolloutReading): string => {
  switch (action.type) {
    case 'reserve':
      return `${wills[action.kind ?? 'delete'](action.node)} (${ledger.get(action.node)?.view.phase ?? 'unknown'})`;
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
    case 'announce':
      return `bring condition PodNeedUpgrade of ${action.pods} pod${action.pods === 1 ? '' : 's'} up to date`;
  }
};

/** With the strategy ota: who decides, by name. */
const ownersAsked = (ledger: RolloutReading['ledger']): string => {
  const records = ledger.records().filter(({ view }) => view.asked);
  const asked = Array.from(records, ({ name }) => name).toSorted();
  return asked.length > 0 ? `Owners asked (${asked.length}): ${someOf(asked, LONGEST_LIST)}.` : 'No owner is asked.';
};

/** What comes after: nodes that wait for a slot, and nodes that come back. */
const outlook = ({ ledger, decision }: RolloutReading): string => {
  if (ledger.policy.strategy === 'ota') return ownersAsked(ledger);
  const { outdated, broken, offline } = ledger.tally.phases;
  const begun = decision.actions.filter(({ type }) => type === 'reserve').length;
  const waiting = outdated + broken - begun;
  return sentences(
    waiting > 0 ? `Online and waiting for their turn: ${waiting} more.` : '',
    offline > 0 ? `Offline and skipped until they return: ${offline}.` : '',
  );
};

export const renderPlan = (reading: RolloutReading): string => {
  const { breaker, budget, usage, hold, complete } = reading.decision.summary;
  const lines = [
    'Nothing is written: this is what the manager would decide now.',
    reading.ledger.policy.strategy === 'ota'
      ? 'No budget: owners decide.'
      : `Budget ${budget}: ${usage.occupied} in use, ${usage.inFlight} of them by acts in flight.`,
    `Breaker: ${breaker.failures} failures and ${breaker.suspects} suspects, stops at ${breaker.threshold}.`,
  ];
  if (hold) {
    const { what, remedy } = explainHold(hold, reading.ledger.policy.words);
    lines.push(sentences(`${what}.`, remedy));
  }
  lines.push(...notesOnManager(reading).map((note) => `Note: ${note}`));
  const steps = reading.decision.actions.map((action) => toStep(action, reading));
  if (steps.length > 0) {
    lines.push('Would now:', ...steps.slice(0, LONGEST_LIST).map((step) => `  ${step}`));
    if (steps.length > LONGEST_LIST) lines.push(`  and ${steps.length - LONGEST_LIST} more: -o json lists them all`);
  } else lines.push(complete ? 'Nothing is left to do.' : 'Nothing would be done now.');
  const rest = outlook(reading);
  return `${[...lines, ...(rest === '' ? [] : [rest])].join('\n')}\n`;
};

const toData = (reading: RolloutReading): object => {
  const { actions, summary, wakeAt } = reading.decision;
  return {
    ...summary,
    actions: actions.map((action) => ('pod' in action ? { ...action, pod: action.pod.name } : action)),
    ...(Number.isFinite(wakeAt) && { decidesAgainAt: new Date(wakeAt).toISOString() }),
  };
};

/** What the one decision of the product says of the live cluster, with the policy changed as the flags ask. */
export const showPlan = async (name: string, flags: PlanFlags, io: Io): Promise<void> => {
  const { output } = flags;
  const daemonSet = readDaemonSetName(name);
  const changed = overrides.flatMap(([, key, of]) => {
    const value = of(flags);
    return value === undefined ? [] : [[key, value] as const];
  });
  await withCluster(flags, io, async (connection) => {
    const reading = await readFor(connection, daemonSet, Object.fromEntries(changed));
    const { policy } = reading.view;
    // The flags' own values are slips of the command line; the DaemonSet's are part of what is to be told.
    for (const error of policy.kind === 'invalid' ? policy.errors : []) {
      const [flag] = overrides.find(([, key, of]) => key === error.field && of(flags) !== undefined) ?? [];
      if (flag) throw new OptionError(flag, `"${error.value}" ${error.problem}: ${error.cure}`);
    }
    io.stdout(output ? structured(toData(reading), output) : renderPlan(reading));
  });
};
