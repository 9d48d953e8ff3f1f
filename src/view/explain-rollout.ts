import {
  driftText,
  type Explanation,
  explain,
  explainHold,
  firstWaveText,
  policyWarnings,
  REMEDY_OF_DRIFT,
  refusedSurges,
  seconds,
  slotsOf,
  stalledHolds,
  surges,
} from '../rollout/index.ts';
import { byName, compareNames } from '../text/index.ts';
import type { Cause, Phase } from '../words/index.ts';
import type { Connection } from './connection.ts';
import type { Reading } from './kinds/kind.ts';
import { managerNotes } from './named-rollout.ts';
import { bySeverity } from './phase-style.ts';
import { remedyText } from './remedy.ts';
import { firstOf, joinSentences } from './tables.ts';
import { headed, noteLine, type Tone, type TonedLine, toneOfPhase } from './tones.ts';

/** A node of the ledger. */
type Subject = Parameters<typeof explain>[0];

/** Without `all`: how many nodes of a cause are named, and how many of its explanations are shown. */
const MOST = 5;

/** What explains a node besides its own record. */
const contextOf = ({ ledger, decision }: Pick<Reading, 'ledger' | 'decision'>): Parameters<typeof explain>[2] => ({
  ...decision.summary,
  refusedSurges: refusedSurges(ledger),
});

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

/** Which nodes of closed stages have the target: their phases don't tell. */
const exposureNotes = ({ ledger: { tally, records } }: Reading): string[] => {
  const count = tally.stages.reduce((sum, { exposed }) => sum + exposed, 0);
  if (count === 0) return [];
  const names = records().flatMap(({ name, status }) => (status.exposed ? [name] : []));
  const which = plural(count, 'node of a closed stage has', 'nodes of closed stages have');
  return [
    `${which} the target, because pods were recreated or nodes joined: ${firstOf([...names].toSorted(compareNames), MOST)}.`,
  ];
};

/** Images that differ between nodes, whether or not that holds the rollout. */
export const driftNotes = ({ decision: { summary } }: Pick<Reading, 'decision'>): string[] =>
  summary.drift.length === 0 ? [] : [`${driftText(summary.drift)} ${REMEDY_OF_DRIFT}`];

export const notesOf = (reading: Reading): string[] => [
  ...managerNotes(reading),
  ...exposureNotes(reading),
  ...driftNotes(reading),
];

/** Hazards of the policy, for where people see it. */
export const policyNotes = ({ decision, view }: Pick<Reading, 'decision' | 'view'>): string[] =>
  // Once all is updated, and while nobody changes the template, no node is at risk.
  decision.summary.complete ? [] : policyWarnings(view.policy.policy);

/** That nothing is left to do, and on which nodes; undefined while something is, or would be if nodes were online. */
export const doneText = ({ ledger: { tally }, decision: { summary } }: Reading): string | undefined => {
  // What is held so waits for people, whatever the nodes run.
  if (!summary.complete || summary.hold?.kind === 'halted' || summary.hold?.kind === 'invalid') return undefined;
  const left = tally.phases.offline - (tally.causes.get('offline-current') ?? 0);
  if (left === 0) return 'Nothing is left to do.';
  const { online } = tally;
  const away = plural(left, 'offline node has yet to get the target', 'offline nodes have yet to get the target');
  return online === 0 ? `No node is online: ${away}.` : `Nothing is left to do on online nodes; ${away}.`;
};

/** How many failed nodes halt the rollout, if they don't hold every slot before. */
export const haltsAt = ({
  breaker,
  firstWave,
}: Pick<Reading['decision']['summary'], 'breaker' | 'firstWave'>): number =>
  Math.min(breaker.threshold, firstWave?.limit ?? breaker.threshold);

/**
 * When the breaker halts the rollout. Without a budget there is no slot that a failed node could hold; a first wave that is
 * smaller than the threshold halts it once all of it has failed.
 */
export const whenHalted = ({
  breaker,
  budget,
  firstWave,
}: Pick<Reading['decision']['summary'], 'breaker' | 'budget' | 'firstWave'>): string =>
  `halts the rollout at ${haltsAt({ breaker, firstWave })}${budget > 0 ? ', or once failed nodes hold every slot' : ''}`;

/** What holds the rollout, and what to do about it. */
export const holdText = (
  hold: Parameters<typeof explainHold>[0],
  reading: Reading,
  edgeset: Connection['edgeset'],
): string => {
  const { what, ...remedy } = explainHold(hold, reading.ledger.policy.words);
  return joinSentences(`${what}.`, remedyText(remedy, reading, edgeset));
};

/** Why a node is in its phase, with the commands that the remedy needs. */
export const explainRecord = (
  reading: Reading,
  record: Subject,
  now: number,
  edgeset: Connection['edgeset'],
  isHoldSaid = false,
): Explanation => {
  const context = { ...contextOf(reading), isHoldSaid };
  const { commands, ...explanation } = explain(record, reading.view.policy.policy, context, now);
  return { ...explanation, remedy: remedyText({ remedy: explanation.remedy, commands }, reading, edgeset) };
};

/** What a hold means: red where the rollout is stuck, amber where a person may end it. */
const toneOfHold = ({ kind }: Parameters<typeof explainHold>[0]): Tone | undefined => {
  if (stalledHolds.has(kind)) return 'bad';
  return kind === 'paused' || kind === 'frozen' || kind === 'waiting' ? 'warning' : undefined;
};

/** `holdText` as a line. */
export const holdLine = (
  hold: Parameters<typeof explainHold>[0],
  reading: Reading,
  edgeset: Connection['edgeset'],
): TonedLine => {
  const text = holdText(hold, reading, edgeset);
  const { what } = explainHold(hold, reading.ledger.policy.words);
  return headed(`${what}.`, toneOfHold(hold), text.slice(what.length + 1));
};

/** How far the rollout is, what holds it, and notes. */
const overviewLines = (reading: Reading, edgeset: Connection['edgeset']): TonedLine[] => {
  const { ledger, decision, view } = reading;
  const { hold, budget, usage, firstWave } = decision.summary;
  const { tally, state } = ledger;
  const { inUse, beyond } = slotsOf(budget, usage, surges(ledger.policy));
  const { strategy, byApproval } = view.policy.policy;
  const owned = strategy === 'ota';
  const target = state.target?.name ?? 'the target revision (not known yet)';
  const done = doneText(reading);
  const lines: TonedLine[] = [
    headed(
      `${view.namespace}/${view.name}:`,
      'bold',
      ` ${tally.phases.updated} of ${tally.online} online nodes run ${target}; ${tally.phases.offline} offline.`,
    ),
    done === undefined
      ? {
          text: joinSentences(
            owned ? `${tally.ownersAsked} ${tally.ownersAsked === 1 ? 'owner has' : 'owners have'} been asked.` : '',
            !owned || byApproval
              ? `${inUse} of ${budget} slots of the budget are in use${beyond && `: ${beyond}`}.`
              : '',
          ),
        }
      : { text: done, tone: 'good' },
  ];
  if (!hold && firstWave && firstWave.limit < budget) lines.push({ text: firstWaveText(firstWave, budget) });
  if (hold) lines.push(holdLine(hold, reading, edgeset));
  return [...lines, ...notesOf(reading).map(noteLine)];
};

/** Nodes whose explanations are the same but for their names, and for how long they have been offline. */
interface Group {
  names: string[];
  first: Explanation;
  /** Since when they have been offline, epoch ms. */
  since: number[];
}

const grouped = (explanations: readonly Explanation[]): Group[] => {
  const groups = new Map<string, Group>();
  for (const one of explanations) {
    const key = JSON.stringify([withoutTime(one), one.remedy]);
    const group = groups.get(key);
    const since = one.away ? [one.away.since] : [];
    if (group) {
      group.names.push(one.node);
      group.since.push(...since);
    } else groups.set(key, { names: [one.node], first: one, since });
  }
  return [...groups.values()];
};

/** Each explanation begins with the name of its node. */
const withoutName = ({ node, what }: Explanation): string => what.slice(node.length + 1);

/** It says of each node something else for how long it has been offline. */
const withoutTime = (one: Explanation): string => withoutName(one).replace(one.away?.text ?? '', '');

/** What is said of all nodes of a group: `was last seen 2 h to 3 d ago; it is skipped`. */
const sharedText = ({ first, since }: Group, now: number): string => {
  const text = withoutName(first);
  const times = [Math.max(...since), Math.min(...since)].map((at) => seconds(now - at));
  const [least = '', longest = ''] = times;
  if (!first.away || least === longest) return text;
  return text.replace(first.away.text, () => `was last seen ${least} to ${longest} ago`);
};

/** The explanations of the nodes that have one cause; equal ones as one sentence, and an equal remedy once. */
const explainCause = (explanations: readonly Explanation[], most: number, now: number): string[] => {
  const groups = grouped(explanations);
  const remedies = new Set(groups.map(({ first }) => first.remedy));
  const lines = groups.slice(0, most).map((group) => {
    const { names, first } = group;
    const { what, remedy } = first;
    const whole =
      names.length === 1
        ? what
        : `${groups.length === 1 ? 'Each' : `Each of ${firstOf(names, most)}`} ${sharedText(group, now)}`;
    return remedies.size === 1 && groups.length > 1 ? whole : joinSentences(whole, remedy);
  });
  const more = groups.slice(most).reduce((sum, { names }) => sum + names.length, 0);
  const [remedy = ''] = remedies.size === 1 && groups.length > 1 ? remedies : [];
  const rest = joinSentences(more > 0 ? `${more} more: add --all to explain them.` : '', remedy);
  return rest === '' ? lines : [...lines, rest];
};

export interface RolloutExplanationOptions {
  now: number;
  all: boolean;
  edgeset: Connection['edgeset'];
  /** The phases that the user asked for, if any. */
  phases: readonly Phase[] | undefined;
}

/** What holds the rollout, then notes, then each cause with its nodes, the most urgent phase first. */
export const explainRollout = (
  reading: Reading,
  records: readonly Subject[],
  { now, all, phases, edgeset }: RolloutExplanationOptions,
): TonedLine[] => {
  const most = all ? Number.POSITIVE_INFINITY : MOST;
  const byCause = Map.groupBy(records, ({ status }) => status.cause);
  const sections = bySeverity.flatMap((phase) =>
    Array.from(byCause, ([cause, group]) => section(phase, cause, group)).flat(),
  );
  const none = phases && sections.length === 0 ? [{ text: '' }, { text: `No node is ${phases.join(' or ')}.` }] : [];
  return [...overviewLines(reading, edgeset), ...sections, ...none];

  function section(phase: Phase, cause: Cause | undefined, group: readonly Subject[]): TonedLine[] {
    if (group[0]?.status.phase !== phase || cause === undefined) return [];
    const sorted = group.toSorted(byName);
    const names = firstOf(
      sorted.map(({ name }) => name),
      most,
    );
    const explanations =
      phase === 'updated' ? [] : sorted.map((record) => explainRecord(reading, record, now, edgeset, true));
    const lines = explainCause(explanations, most, now).map((text): TonedLine => ({ text, depth: 1 }));
    return [{ text: '' }, headed(`${phase} (${cause}):`, toneOfPhase(phase), ` ${names}`), ...lines];
  }
};
