import type { Condition } from 'kubernetes-types/meta/v1.d.ts';
import { byName, compareNames } from '../../text/index.ts';
import {
  type Cause,
  cut,
  type DaemonRolloutStatus,
  type FailedCause,
  daemonRolloutLimits as limits,
} from '../../words/index.ts';
import type { Decision } from '../decision/decide.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import { save } from '../fleet/persist.ts';
import { livePod } from '../node/pods.ts';
import type { NodeRecord } from '../node/record.ts';
import { formatIntOrPercent } from '../policy/int-or-percent.ts';
import { surges } from '../policy/policy.ts';
import { formatPlanName } from '../policy/values.ts';
import {
  type ConditionState,
  conditionsOf,
  conditionsOnError,
  ERROR_SUMMARY,
  INTERNAL_ERROR,
  summaryText,
} from './conditions.ts';
import { countsOf } from './counts.ts';
import { stragglersOf } from './coverage.ts';
import { finishOf } from './pace.ts';
import type { DaemonSetName } from './remedy-command.ts';
import { stagesOf } from './stages.ts';

/** What a revision has proved matters as long as it allows less than the budget. */
const firstWaveStatus = ({ firstWave, budget, complete }: Decision['summary']) => {
  if (!firstWave) return {};
  const { setting, limit, onTrial, proven } = firstWave;
  return {
    ...(setting && { firstWave: formatIntOrPercent(setting) }),
    ...(!complete && limit < budget && { trial: { limit, nodes: onTrial, proven } }),
  };
};

/** These texts must not change with time; `explain` has the details. */
const failureText: Partial<Record<Cause, string>> & Record<FailedCause, string> = {
  'crash-loop': 'The new pod keeps crashing.',
  'image-pull': 'The image of the new pod cannot be pulled.',
  deadline: 'The new pod was not available within the progress deadline.',
  'came-back-old': 'After the update the pod was recreated at an older revision.',
  lost: 'The node went offline soon after its update and did not return in time.',
};

const toFailing = (record: NodeRecord) => {
  const { cause } = record.status;
  return {
    node: record.name,
    cause: cause ?? '',
    message: (cause && failureText[cause]) ?? '',
    since: toTimestamp(record.status.online ? record.downSince || record.since : record.since),
  };
};

/** The first `most` names in their order. */
const firstNames = (records: Iterable<NodeRecord>, most: number): string[] => {
  let first: string[] = [];
  for (const { name } of records) {
    first.push(name);
    // Sorting now and then costs less than sorting a whole fleet once.
    if (first.length >= 100 * most) first = first.toSorted(compareNames).slice(0, most);
  }
  return first.toSorted(compareNames).slice(0, most);
};

const ownersOf = ({ policy, tally, records }: Ledger): Required<DaemonRolloutStatus>['owners'] => ({
  asked: tally.ownersAsked,
  nodes: firstNames(
    records().filter(({ status }) => status.owner.asked),
    limits.asked,
  ),
  ...(policy.otaDeadline !== undefined && {
    deadline: toTimestamp(policy.otaDeadline),
    deadlineSpreadSeconds: Math.ceil(policy.otaDeadlineSpreadMs / 1000),
  }),
});

/** The progress of images that are pulled ahead; undefined without any. */
const imagesOf = (ledger: Ledger): DaemonRolloutStatus['images'] => {
  const { wanted, requested, present, failed } = ledger.tally.images;
  if (wanted + requested + present + failed === 0) return undefined;
  const failures = [...ledger.images.failing()].toSorted(byName).slice(0, limits.failing);
  return {
    pulled: present,
    pulling: requested,
    waiting: wanted,
    failed,
    failing: failures.map((record) => ({
      node: record.name,
      message: cut(livePod(record)?.facts.images?.cause ?? ''),
    })),
  };
};

/** A status as we write it: every field about the present is set. */
export type WrittenStatus = DaemonRolloutStatus &
  Required<Pick<DaemonRolloutStatus, 'nodes' | 'budget' | 'breaker' | 'conditions' | 'rollout' | 'summary'>>;

export interface StatusInput {
  ledger: Ledger;
  decision: Decision;
  /** The DaemonRollout's own. */
  generation: number;
  daemonSetGeneration: number;
  /** Empty while the policy is not valid. */
  policyHash: string;
  previous: DaemonRolloutStatus | undefined;
  /** Of which commands are told. */
  daemonSet: DaemonSetName;
  now: number;
}

const toCondition = (
  { type, status, reason, message }: ConditionState,
  { generation: observedGeneration, previous, now }: Pick<StatusInput, 'generation' | 'previous' | 'now'>,
): Condition => {
  const text = status ? 'True' : 'False';
  const before = previous?.conditions?.find((condition) => condition.type === type);
  const lastTransitionTime = before?.status === text ? before.lastTransitionTime : toTimestamp(now);
  return { type, status: text, reason, message: cut(message), observedGeneration, lastTransitionTime };
};

/** What these conditions say of nodes may no longer hold. */
const presentTypes: ReadonlySet<string> = new Set<ConditionState['type']>([
  'Complete',
  'AllNodesUpdated',
  'ImageDrift',
]);

/**
 * The status while something about the DaemonSet cannot be computed: what was last written, with conditions that say so. It stays
 * about the generation that it was about: agents must not take its target for that of a newer one.
 */
export const statusOnError = (
  what: string,
  input: Pick<StatusInput, 'generation' | 'previous' | 'now'>,
): DaemonRolloutStatus => {
  const { generation: observedGeneration, previous } = input;
  const changed = conditionsOnError(what).map((state) => toCondition(state, input));
  const others = (previous?.conditions ?? [])
    .filter(({ type }) => !changed.some((condition) => condition.type === type))
    .map((before): Condition => {
      if (!presentTypes.has(before.type)) return before;
      const lastTransitionTime = before.status === 'Unknown' ? before.lastTransitionTime : toTimestamp(input.now);
      const message = cut(`${what}.`);
      return { ...before, status: 'Unknown', reason: INTERNAL_ERROR, message, observedGeneration, lastTransitionTime };
    });
  return {
    ...previous,
    observedGeneration,
    summary: ERROR_SUMMARY,
    conditions: [...changed, ...others],
  };
};

/** The whole status of a DaemonRollout. Equal inputs give equal results, so nothing is written while nothing changes. */
export const statusOf = (input: StatusInput): WrittenStatus => {
  const { ledger, decision, generation: observedGeneration, policyHash, previous, now } = input;
  const { tally, policy } = ledger;
  const { budget, usage, breaker } = decision.summary;
  const daemonSetGeneration = Math.max(input.daemonSetGeneration, previous?.daemonSetGeneration ?? 0);
  const counts = countsOf(ledger, decision.summary);
  const images = imagesOf(ledger);
  const stages = policy.rolloutPlan ? stagesOf(ledger, decision.summary, previous) : [];
  const finishAt = finishOf(ledger, decision, now);
  const conditions = conditionsOf(ledger, decision.summary, input.daemonSet).map((state) => toCondition(state, input));
  return {
    observedGeneration,
    daemonSetGeneration,
    policyHash,
    strategy: policy.strategy,
    summary: summaryText(ledger, decision.summary),
    nodes: {
      eligible: tally.eligible,
      online: tally.online,
      ...counts.phases,
      offlineOutdated: tally.causes.get('offline-outdated') ?? 0,
    },
    causes: counts.causes,
    budget: {
      maxUnavailable: formatIntOrPercent(policy.maxUnavailable),
      ...(surges(policy) && { maxSurge: formatIntOrPercent(policy.maxSurge) }),
      nodes: budget,
      inUse: usage.occupied,
      inFlight: usage.inFlight,
      ...firstWaveStatus(decision.summary),
    },
    breaker: { failures: breaker.failures, suspects: breaker.suspects, threshold: breaker.threshold },
    ...(policy.strategy === 'ota' && { owners: ownersOf(ledger) }),
    ...(images && { images }),
    failing: [...ledger.failing()].toSorted(byName).slice(0, limits.failing).map(toFailing),
    stragglers: stragglersOf(ledger),
    conditions,
    ...(policy.rolloutPlan && { plan: formatPlanName(policy.rolloutPlan) }),
    ...(stages.length > 0 && { stages }),
    ...(finishAt !== undefined && { estimatedFinishAt: toTimestamp(finishAt) }),
    ...save(ledger),
  };
};
