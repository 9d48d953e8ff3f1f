import {
  awaitsProof,
  conditionsOf,
  explainHold,
  firstWaveText,
  livePod,
  type OutsideHold,
  type Policy,
  type RemedyCommand,
  withRefusal,
} from '../rollout/index.ts';
import { byName } from '../text/index.ts';
import { annotation, type Cause, type DaemonRolloutStatus, type FailedCause } from '../words/index.ts';
import type { Reading } from './kinds/kind.ts';
import { isBehind } from './named-rollout.ts';
import { stateOf } from './rollout-state.ts';
import { type RolloutState, rolloutStates } from './states.ts';
import { type VersionStep, versionStep, versionText } from './versions.ts';

/** What somebody who looks at a rollout should know first. */
export interface Headline {
  state: RolloutState;
  /** The state, with the number that matters: `Halted: 28 failed`. */
  badge: string;
  /** A sentence without its full stop; empty where nothing needs to be said. */
  title: string;
  /** What shows that, and what follows from it: sentences. */
  evidence: string;
  /** Why most of the failed nodes failed, and how many. */
  cause?: { cause: Cause; count: number };
  /** The first failed node. */
  node?: string;
  /** What to do about it, the best first. */
  commands: readonly RemedyCommand[];
}

/** What of a reading it follows from. */
type Summarized = Pick<Reading, 'ledger' | 'decision' | 'status'> & {
  kind: Pick<Reading['kind'], 'short'>;
  view: Pick<Reading['view'], 'origin' | 'namespace' | 'name' | 'generation'>;
};

type FailureCause = FailedCause | 'lost';

const plural = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** For each cause what the version does, to be followed by where. */
const failures: Readonly<Record<FailureCause, (version: string) => string>> = {
  'crash-loop': (version) => `${version} crashes on start`,
  'image-pull': (version) => `The image of ${lower(version)} can't be pulled`,
  deadline: (version) => `${version} does not become available`,
  'came-back-old': (version) => `${version} was replaced by an older revision`,
  lost: (version) => `Nodes went offline after they got ${lower(version)}`,
};

function lower(version: string): string {
  return `${version.charAt(0).toLowerCase()}${version.slice(1)}`;
}

/** What the rollout changes. The images are those of the template; what was before is in the status. */
export const versionOf = ({
  view,
  status,
  ledger,
}: Pick<Reading, 'status' | 'ledger'> & { view: Pick<Reading['view'], 'origin'> }): VersionStep => {
  const [current] = status?.history ?? [];
  const isCurrent = current !== undefined && current.to.hash === ledger.state.target?.hash;
  return versionStep(isCurrent ? current.from?.images : undefined, view.origin.images);
};

const isFailure = (cause: string | undefined): cause is FailureCause => cause !== undefined && cause in failures;

/** Why most of the failed nodes failed. */
const mainCause = (causes: readonly FailureCause[]): { cause: FailureCause; count: number } | undefined => {
  const counts = Map.groupBy(causes, (cause) => cause);
  const [first] = Array.from(counts, ([cause, all]) => ({ cause, count: all.length })).toSorted(
    (a, b) => b.count - a.count,
  );
  return first;
};

/** What the version does where it failed. */
const failureWords = (main: { cause: FailureCause; count: number }, failing: number, version: VersionStep): string =>
  main.count === failing ? failures[main.cause](versionText(version)) : `${versionText(version)} failed`;

/** Of a rollout of which only the status is known: what failed, and on how many nodes. Empty if no node failed. */
export const failureText = ({ causes = [], history = [] }: DaemonRolloutStatus): string => {
  const failed = causes.flatMap(({ cause, count }) => (isFailure(cause) ? [{ cause, count }] : []));
  const [main] = failed.toSorted((a, b) => b.count - a.count);
  const [current] = history;
  if (!main) return '';
  const all = failed.reduce((sum, { count }) => sum + count, 0);
  const version = versionStep(current?.from?.images, current?.to.images ?? []);
  return `${failureWords(main, all, version)}${main.cause === 'lost' && main.count === all ? ':' : ' on'} ${plural(all, 'node')}.`;
};

/** Of a rollout that nodes failed in: what failed, where, and the words of the first failure. */
const failureOf = (
  reading: Summarized,
  version: VersionStep,
): Pick<Headline, 'title' | 'evidence' | 'cause' | 'node'> | undefined => {
  const { tally } = reading.ledger;
  const failing = [...reading.ledger.failing()].toSorted(byName);
  const causes = failing.flatMap(({ status: { cause } }) => (isFailure(cause) ? [cause] : []));
  const main = mainCause(causes);
  const [first] = failing;
  if (!main || !first) return undefined;
  const count = (cause: Cause): number => tally.causes.get(cause) ?? 0;
  const others = (['offline-current', 'suspect', 'starting', 'not-ready', 'ready-too-short'] as const).map(count);
  const got = failing.length + tally.phases.updated + others.reduce((sum, one) => sum + one, 0);
  const where =
    failing.length === got
      ? `on ${got === 1 ? 'the only node' : `all ${got} nodes`} that got it`
      : `on ${failing.length} of ${got} nodes that got it`;
  const what = failureWords(main, failing.length, version);
  const detail = livePod(first)?.facts.detail ?? '';
  const untouched = tally.phases.outdated + tally.phases.held;
  const older = version.from === '' ? 'the older revision' : version.from;
  return {
    title:
      main.cause === 'lost' && main.count === failing.length
        ? `${what}: ${failing.length} of ${got}`
        : `${what} ${where}`,
    evidence: [
      detail === '' ? '' : `${detail.charAt(0).toUpperCase()}${detail.slice(1)}.`,
      untouched > 0 ? `${plural(untouched, 'node')} still ${untouched === 1 ? 'runs' : 'run'} ${older}.` : '',
    ]
      .filter((text) => text !== '')
      .join(' '),
    cause: main,
    node: first.name,
  };
};

const leftBy = ({ tally }: Summarized['ledger'], cause: 'partition' | 'node-selector'): number =>
  tally.causes.get(cause) ?? 0;

const badgeOf = (state: RolloutState, { ledger, decision: { summary } }: Summarized): string => {
  const { word } = rolloutStates[state];
  const { tally } = ledger;
  const failed = tally.onlineFailures + tally.lostFailures;
  if (state === 'halted' && failed > 0) return `${word}: ${failed} failed`;
  if (state === 'complete' && tally.phases.offline > 0) return `${word}, ${tally.phases.offline} offline`;
  if (state === 'running' && tally.online > 0)
    return `${word}: ${Math.floor((100 * tally.phases.updated) / tally.online)}%`;
  if (state === 'owners' && tally.ownersAsked > 0) return `Waits for ${plural(tally.ownersAsked, 'owner')}`;
  if (state === 'kept') return `${leftBy(ledger, 'partition') + leftBy(ledger, 'node-selector')} ${lower(word)}`;
  if (state === 'clock' && summary.hold?.kind === 'window')
    return summary.hold.freeze === undefined ? 'Waits for a window' : 'Frozen by the plan';
  if (state === 'clock' && summary.stage) return `Stage ${summary.stage.name} soaks`;
  return word;
};

/** Of a rollout that has updated all that its policy lets it update. */
const keptOf = ({ ledger }: Summarized, version: VersionStep): Pick<Headline, 'title' | 'evidence' | 'commands'> => {
  const { tally } = ledger;
  const [partition, selector] = [leftBy(ledger, 'partition'), leftBy(ledger, 'node-selector')];
  const left = partition + selector;
  const older = version.from === '' ? 'the older revision' : version.from;
  const because = [
    partition > 0 ? `the partition keeps back ${partition}` : '',
    selector > 0 ? `the node selector leaves out ${selector}` : '',
  ].filter((part) => part !== '');
  return {
    title: `${plural(left, 'node')} ${left === 1 ? 'stays' : 'stay'} on ${older}`,
    evidence: `${tally.phases.updated} of ${plural(tally.online, 'online node')} ${tally.phases.updated === 1 ? 'runs' : 'run'} ${lower(versionText(version))}; ${because.join(', and ')}.`,
    commands: partition > 0 ? [{ verb: 'set', flag: 'partition', value: 'VALUE' }] : [],
  };
};

/** Of a rollout that nothing holds. */
const progressOf = (reading: Summarized, version: VersionStep): Pick<Headline, 'title' | 'evidence'> => {
  const { ledger, decision } = reading;
  const { firstWave, budget, stage } = decision.summary;
  const { tally } = ledger;
  const reach = `${tally.phases.updated} of ${plural(tally.online, 'online node')} ${tally.phases.updated === 1 ? 'runs' : 'run'} it.`;
  const title =
    stage && !stage.isLast && stage.wait !== 'Held'
      ? `Stage ${stage.name} ${stage.message}`
      : awaitsProof(firstWave)
        ? `${versionText(version)} is being tried on its first nodes`
        : `${versionText(version)} is rolling out`;
  return {
    title,
    evidence: firstWave && firstWave.limit < budget ? `${reach} ${firstWaveText(firstWave, budget)}` : reach,
  };
};

/** What edits the policy that is not valid: the plan, if it exists, or the DaemonSet. */
const editOf = (
  { errors }: Extract<OutsideHold, { kind: 'invalid' }>,
  { plan, rolloutPlan }: Policy,
  daemonSet: string,
): RemedyCommand => {
  const isOfPlan = rolloutPlan && !plan && errors.every(({ field }) => field !== annotation.rolloutPlan);
  const object = isOfPlan
    ? `${rolloutPlan.cluster ? 'clusterrolloutplan' : 'rolloutplan'}/${rolloutPlan.name}`
    : daemonSet;
  return { verb: 'edit', object };
};

/** The one account of where a rollout stands, for the head of a page. */
export const headlineOf = (reading: Summarized): Headline => {
  const { ledger, decision, status, kind, view } = reading;
  // While the API server refuses pods, that is what the conditions say.
  const summary = withRefusal(decision.summary);
  const { hold, stage } = summary;
  const named = { short: kind.short, namespace: view.namespace, name: view.name };
  const version = versionOf(reading);
  const doubt = !status || isBehind(reading) ? 'waiting' : undefined;
  const state = stateOf(conditionsOf(ledger, summary, named), { doubt, wait: stage?.wait });
  const base = { state, badge: badgeOf(state, reading) };
  // What there is to say of a manager is a note.
  if (state === 'complete' || doubt) return { ...base, title: '', evidence: '', commands: [] };
  if (state === 'approval' && stage)
    return {
      ...base,
      title: `Stage ${stage.name} waits for approval`,
      evidence: progressOf(reading, version).evidence,
      commands: [{ verb: 'approve', stage: stage.name }],
    };
  if (state === 'kept') return { ...base, ...keptOf(reading, version) };
  if (!hold) return { ...base, ...progressOf(reading, version), commands: [] };
  const { what, remedy, ...explained } = explainHold(hold, ledger.policy.words);
  const isInvalid = hold.kind === 'invalid' && hold.what === undefined;
  const commands = isInvalid ? [editOf(hold, ledger.policy, `${kind.short}/${view.name}`)] : (explained.commands ?? []);
  const { pausedBy } = view.origin;
  const failed = hold.kind === 'halted' && hold.halt.reason === 'Failures' ? failureOf(reading, version) : undefined;
  const title = hold.kind === 'paused' && pausedBy ? `Paused by ${pausedBy.manager}` : what;
  return { ...base, title, evidence: remedy, ...failed, commands };
};
