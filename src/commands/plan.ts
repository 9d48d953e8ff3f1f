import {
  type Action,
  awaitedStage,
  awaitsProof,
  countsOf,
  firstWaveText,
  type Policy,
  reasonTexts,
  slotsOf,
  surges,
} from '../rollout/index.ts';
import { compareNames } from '../text/index.ts';
import {
  type Connection,
  doneText,
  firstOf,
  headed,
  holdLine,
  joinSentences,
  managerNotes,
  type Named,
  noteLine,
  type Overrides,
  policyNotes,
  type Reading,
  readRolloutOf,
  requirePlan,
  type TonedLine,
  whenHalted,
  withManager,
} from '../view/index.ts';
import { annotation, type Cause, type HeldCause } from '../words/index.ts';
import { refuseInvalidFlags } from './override-flags.ts';
import { plannedStages, renderStages } from './plan-stages.ts';

/** What the manager would do at this time. */
export interface PlannedRollout {
  reading: Reading;
  now: number;
  edgeset: Connection['edgeset'];
}

const LONGEST_LIST = 20;

const updateSteps = {
  delete: (node: string) => `replace the pod on ${node}`,
  'in-place': (node: string) => `update the pod on ${node} in place`,
  surge: (node: string) => `create a new pod on ${node} next to the old one`,
};

const stepOf = (action: Action): string => {
  switch (action.type) {
    case 'reserve':
      return updateSteps[action.kind ?? 'delete'](action.node);
    case 'delete':
      return `delete the pod on ${action.node} (slot reserved)`;
    case 'update-in-place':
      return `update the pod on ${action.node} in place (slot reserved)`;
    case 'surge':
      return `create a new pod on ${action.node} next to the old one (slot reserved)`;
    case 'delete-old':
      return `delete pod ${action.pod.name} on ${action.node}`;
    case 'release':
      return `release the slot of ${action.node} without replacing its pod`;
    case 'open-stage':
      return `open stage ${action.stage} of the rollout plan`;
    case 'start-soak':
      return `let stage ${action.stage} soak until ${new Date(action.until).toISOString()}`;
    case 'end-soak':
      return `end the soak of stage ${action.stage}`;
    case 'promote':
      return `pass stage ${action.stage}`;
    case 'halt':
      if (action.halt.reason === 'ImageDrift') return 'halt because images differ between nodes';
      return action.halt.check === undefined
        ? `halt after failures on ${action.halt.nodes.join(', ')}`
        : `halt at check ${action.halt.check}`;
    case 'resume':
      return `resume by annotation ${annotation.resume}=${action.value}`;
    case 'end-halt':
      return 'end the halt';
    case 'rollback':
      return `roll back to the template of ${action.to.name}`;
    case 'complete':
      return 'record that the rollout is complete';
    case 'request-images':
      return `request the images of the target on ${action.node}`;
    case 'cancel-images':
      return `cancel the request for the images of the target on ${action.node}`;
    case 'announce':
      return `update the condition PodNeedUpgrade of ${action.pods} pod${action.pods === 1 ? '' : 's'}`;
  }
};

/** One of the decision's actions as a line. */
const toStep = (action: Action): string => `${stepOf(action)}: ${reasonTexts[action.because]}`;

/** Whether owners alone replace the pods. */
const isForOwners = ({ policy }: Reading['ledger']): boolean => policy.strategy === 'ota' && !policy.byApproval;

/** With the strategy `ota`: the nodes whose owners have been asked. */
const ownersAsked = (ledger: Reading['ledger']): string => {
  const records = ledger.records().filter(({ status }) => status.owner.asked);
  const asked = Array.from(records, ({ name }) => name).toSorted(compareNames);
  return asked.length > 0 ? `Owners asked (${asked.length}): ${firstOf(asked, LONGEST_LIST)}.` : 'No owners are asked.';
};

/** Until when, or by what, the policy keeps nodes on an older revision; undefined for what is no choice of the policy. */
const keptBackBy: Readonly<Record<HeldCause, ((words: Policy['words']) => string) | undefined>> = {
  partition: (words) => `by ${words.partition}`,
  'node-selector': (words) => `by ${words.nodeSelector}`,
  stage: () => 'until their stages open',
  after: () => 'until another DaemonSet is updated there',
  busy: () => 'while they are busy (skipNodes of the plan)',
  window: () => 'until a window opens or a freeze ends',
  group: () => 'until fewer nodes of their group or stage are down',
  image: () => 'until they have the images of the target',
  'duplicate-pods': undefined,
  refused: undefined,
};

/** How many online nodes the policy keeps on an older revision, by cause. */
const keptBack = ({ ledger, decision }: Reading): [cause: HeldCause, count: number][] => {
  const counts = new Map<Cause, number>(
    countsOf(ledger, decision.summary).causes.map(({ cause, count }) => [cause, count]),
  );
  return (Object.keys(keptBackBy) as HeldCause[])
    .filter((cause) => keptBackBy[cause])
    .map((cause): [HeldCause, number] => [cause, counts.get(cause) ?? 0])
    .filter(([, count]) => count > 0);
};

const describeKeptBack = (reading: Reading): string => {
  const { words } = reading.ledger.policy;
  const parts = keptBack(reading).map(([cause, count]) => `${count} ${keptBackBy[cause]?.(words)}`);
  return parts.length > 0 ? `Online but held back: ${parts.join(', ')}.` : '';
};

/** What remains: nodes that wait for a slot or for proof of the revision, and offline nodes. */
const outlook = (reading: Reading): string => {
  const { ledger, decision } = reading;
  if (isForOwners(ledger)) return ownersAsked(ledger);
  const { outdated, broken, offline } = countsOf(ledger, decision.summary).phases;
  const begun = decision.actions.filter(({ type }) => type === 'reserve').length;
  const waiting = outdated + broken - begun;
  const { firstWave, budget, hold } = decision.summary;
  const isUnproven = !hold && firstWave && firstWave.limit < budget && awaitsProof(firstWave, begun);
  const awaited = isUnproven ? 'until the revision is available on more nodes' : 'for a slot';
  return joinSentences(
    ledger.policy.strategy === 'ota' ? ownersAsked(ledger) : '',
    describeKeptBack(reading),
    waiting > 0 ? `Online and waiting ${awaited}: ${waiting} more.` : '',
    offline > 0 ? `Offline and skipped until they return: ${offline}.` : '',
  );
};

const budgetText = ({ decision, ledger }: Reading): string => {
  const { budget, usage } = decision.summary;
  const { inUse, beyond } = slotsOf(budget, usage, surges(ledger.policy));
  return beyond
    ? `Budget ${budget}, all in use: ${beyond}.`
    : `Budget ${budget}: ${inUse} in use, ${usage.inFlight} of them by updates in flight.`;
};

/** What the manager would do, for people. */
export const planLines = ({ reading, now, edgeset }: PlannedRollout): TonedLine[] => {
  const { breaker, hold, complete, budget, firstWave } = reading.decision.summary;
  const { policy, state } = reading.ledger;
  const failing = breaker.failures + breaker.suspects > 0 ? 'warning' : 'bold';
  const lines: TonedLine[] = [
    { text: 'Nothing is written: this is what the manager would do now.', tone: 'dim' },
    { text: isForOwners(reading.ledger) ? 'No budget: owners decide.' : budgetText(reading) },
    ...(policy.strategy === 'auto' && !state.rollback && !complete ? [{ text: firstWaveText(firstWave, budget) }] : []),
    headed(
      'Breaker:',
      failing,
      ` ${breaker.failures} failures and ${breaker.suspects} suspects; ${whenHalted(reading.decision.summary)}.`,
    ),
  ];
  if (hold) lines.push(holdLine(hold, reading, edgeset));
  lines.push(...[...managerNotes(reading), ...policyNotes(reading)].map(noteLine));
  const steps = reading.decision.actions.map(toStep);
  if (steps.length > 0) {
    lines.push({ text: 'The manager would now:', tone: 'accent' });
    lines.push(...steps.slice(0, LONGEST_LIST).map((text) => ({ text, depth: 1 })));
    if (steps.length > LONGEST_LIST)
      lines.push({ text: `and ${steps.length - LONGEST_LIST} more: -o json lists all of them`, depth: 1 });
  } else {
    const done = doneText(reading);
    lines.push(done === undefined ? { text: 'The manager would do nothing now.' } : { text: done, tone: 'good' });
  }
  const rest = outlook(reading);
  if (rest !== '') lines.push({ text: rest });
  const stages = plannedStages(reading, now);
  if (stages.length > 0) {
    const { summary } = reading.decision;
    const awaited = awaitedStage(reading.ledger, summary);
    lines.push({ text: 'Stages of the rollout plan:', tone: 'bold' }, ...renderStages(stages));
    if (!summary.stage && !complete)
      lines.push({ text: 'They do not hold back a rollback to the revision that was last complete.' });
    if (awaited) lines.push({ text: `Stage ${awaited.name} ${awaited.message}.` });
  }
  return lines;
};

/** For programs. */
export const planData = ({ reading, now }: Pick<PlannedRollout, 'reading' | 'now'>): object => {
  const { decision } = reading;
  const stages = plannedStages(reading, now);
  const { actions, summary, wakeAt } = decision;
  return {
    ...summary,
    keptBack: Object.fromEntries(keptBack(reading)),
    ...(stages.length > 0 && { stages }),
    actions: actions.map((action) => ('pod' in action ? { ...action, pod: action.pod.name } : action)),
    ...(Number.isFinite(wakeAt) && { decidesAgainAt: new Date(wakeAt).toISOString() }),
  };
};

/** Runs the manager's own decision function on the live cluster, with the policy that the overrides ask for. */
export const planRollout = async (
  connection: Connection,
  named: Named,
  overrides: Overrides,
): Promise<PlannedRollout> => {
  const reading = await withManager(connection, await readRolloutOf(connection, named, overrides));
  requirePlan(reading);
  // An invalid value in the DaemonSet is part of the output.
  refuseInvalidFlags(reading.kind, reading.view.policy, overrides);
  return { reading, now: connection.env.clock.now(), edgeset: connection.edgeset };
};
