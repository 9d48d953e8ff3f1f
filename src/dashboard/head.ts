import { priorRevision } from '../commands/index.ts';
import {
  formatIntOrPercent,
  formatPlanName,
  type OwnerStep,
  ownerStepOf,
  ownerSteps,
  policyWarnings,
  surges,
} from '../rollout/index.ts';
import {
  bySeverity,
  type Connection,
  countsOf,
  haltsAt,
  headlineOf,
  notesOf,
  type Reading,
  rateOf,
  revisionImages,
  typedCommand,
  versionOf,
  versionStep,
} from '../view/index.ts';
import { type Cause, causesOf } from '../words/index.ts';
import { marksOf } from './marks.ts';
import type { RolloutHead, RolloutHeadline, RolloutSettings } from './messages.ts';
import { stagesOf } from './stage-steps.ts';

const settingsOf = ({ view, ledger }: Reading): RolloutSettings => {
  const { policy } = view.policy;
  return {
    maxUnavailable: formatIntOrPercent(policy.maxUnavailable),
    ...(surges(policy) && { maxSurge: formatIntOrPercent(policy.maxSurge) }),
    partition: formatIntOrPercent(policy.partition),
    failureThreshold: formatIntOrPercent(ledger.policy.failureThreshold),
    ...(policy.rolloutPlan && { plan: formatPlanName(policy.rolloutPlan) }),
    warnings: policyWarnings(policy),
  };
};

/** The version that `undo` returns to; undefined where it must be told, or does not know yet what is present. */
const undoTo = (
  { revisions, status, ledger }: Reading,
  images: ReadonlyMap<string, readonly string[]>,
): string | undefined => {
  const { target } = ledger.state;
  const kept = revisions.toSorted((a, b) => a.number - b.number);
  const present = kept.find(({ hash }) => hash === target?.hash);
  if (!present) return undefined;
  const { policy } = ledger;
  const prior = priorRevision({
    revisions: kept,
    present,
    status,
    rolledBackHash: policy.rolledBackFrom,
  });
  if (prior.why !== undefined) return undefined;
  const { hash, number } = prior.revision;
  const { to } = versionStep(images.get(present.hash), images.get(hash) ?? []);
  return to === '' ? `revision ${number}` : to;
};

const headlineFor = (reading: Reading, edgeset: Connection['edgeset']): RolloutHeadline => {
  const { commands, ...headline } = headlineOf(reading);
  return {
    ...headline,
    commands: commands.map((command) => ({
      command: command.verb,
      ...(command.verb === 'approve' && { stage: command.stage }),
      typed: typedCommand(command, reading, edgeset),
    })),
  };
};

/** As the phases of a legend are listed. */
const byCauseSeverity = bySeverity.flatMap((phase): readonly Cause[] => causesOf[phase]);

/** How far the owners' updates are; undefined unless owners decide. */
const ownersOf = ({ ledger }: Reading): RolloutHead['owners'] => {
  if (ledger.policy.strategy !== 'ota') return undefined;
  const counts = Object.fromEntries(ownerSteps.map((step) => [step, 0])) as Record<OwnerStep, number>;
  for (const { status } of ledger.records()) {
    const step = ownerStepOf(status);
    if (step) counts[step] += 1;
  }
  return counts;
};

/** What the page says of the whole rollout. `cluster`: as the session names it, where it has several. */
export const headOf = (
  reading: Reading,
  { edgeset, env }: Pick<Connection, 'edgeset' | 'env'>,
  cluster?: string,
): RolloutHead => {
  const { kind, view, ledger, decision, status } = reading;
  const { tally, state } = ledger;
  const owners = ownersOf(reading);
  const { breaker } = decision.summary;
  const images = revisionImages(reading);
  const undo = undoTo(reading, images);
  const [current] = status?.history ?? [];
  const target = reading.revisions.find(({ hash }) => hash === state.target?.hash);
  const stopped = status?.conditions?.find(
    ({ type, status: is }) => (type === 'Halted' || type === 'Paused') && is === 'True',
  );
  const rate = status && rateOf(status, env.clock.now());
  return {
    ...(cluster !== undefined && { cluster }),
    namespace: view.namespace,
    name: view.name,
    kind: kind.short,
    title: kind.title,
    headline: headlineFor(reading, edgeset),
    target: state.target?.hash ?? '',
    revision: state.target?.number ?? 0,
    version: versionOf(reading),
    changedBy: current?.to.hash === state.target?.hash ? current?.changedBy?.manager : undefined,
    changeCause: target?.changeCause,
    strategy: view.policy.policy.strategy,
    settings: settingsOf(reading),
    budget: countsOf(reading).budget,
    breaker: { failures: breaker.failures, suspects: breaker.suspects, haltsAt: haltsAt(decision.summary) },
    // The last digits change with every update.
    perMinute: rate ? Number(rate.toPrecision(2)) : undefined,
    eligible: tally.eligible,
    online: tally.online,
    phases: { ...tally.phases },
    ...(owners && { owners }),
    causes: byCauseSeverity
      .map((cause) => ({ cause, count: tally.causes.get(cause) ?? 0 }))
      .filter(({ count }) => count > 0),
    notes: notesOf(reading),
    stages: stagesOf(status, view, ledger),
    ...(undo !== undefined && { undoTo: undo }),
    revisions: reading.revisions
      .map(({ hash, number }) => ({ hash, number, images: images.get(hash) ?? [] }))
      .toSorted((a, b) => b.number - a.number),
    history: status?.history ?? [],
    marks: marksOf(status),
    startedAt: status?.startedAt,
    finishedAt: status?.finishedAt,
    stoppedAt: stopped?.lastTransitionTime,
    estimatedFinishAt: status?.estimatedFinishAt,
  };
};
