import {
  cut,
  daemonRolloutLimits as limits,
  planLimits,
  type StageDecision,
  type StagePromotion,
  type StageWait,
} from '../../words/index.ts';
import { toTimestamp } from '../facts/metadata.ts';
import type { Ledger } from '../fleet/ledger-types.ts';
import type { StageTally } from '../fleet/tally.ts';
import type { Approval } from '../plan/approval.ts';
import { type StageView, sampleCode, viewStages } from '../plan/membership.ts';
import { openedStage, type StageAction, type StageState } from '../plan/stage-state.ts';
import { formatIntOrPercent, scaledValue } from '../policy/int-or-percent.ts';
import type { Stage } from '../policy/plan-terms.ts';
import { surges } from '../policy/policy.ts';
import { budgetOf } from './budget.ts';
import type { Hold } from './hold.ts';

const NEVER = Number.POSITIVE_INFINITY;

/** The open stage: what it waits for. Texts do not change while nodes come and go. */
export interface StageStatus {
  name: string;
  /** Nothing is left that it could wait for: it is the last one. */
  isLast: boolean;
  wait: StageWait;
  /** `soaks until 2030-01-01T00:00:00Z`. */
  message: string;
  /** When the soak ends, epoch ms. */
  until?: number;
}

export interface StageAssessment {
  action: StageAction | undefined;
  stand: StageStatus;
  /** When to look again, epoch ms. */
  wakeAt: number;
}

interface Wait {
  wait: StageWait;
  message: string;
  until?: number;
}

/** Whether nodes of a stage, which is not open yet, match it and are in no earlier stage. */
const matchesOf = ({ stages, records }: Pick<Ledger, 'stages' | 'records'>, index: number) =>
  records().filter(
    ({ node, status }) =>
      status.phase !== undefined && node && ((node.stages ?? 0) & (1 << index)) !== 0 && stages.stageOf(node) >= index,
  );

/** The codes of the nodes that a stage with `count` takes; undefined while none of those that match is online. */
export const drawSample = (
  ledger: Pick<Ledger, 'stages' | 'records' | 'state'>,
  index: number,
  { count }: Stage,
): string | undefined => {
  const { state } = ledger;
  const revision = state.target?.hash ?? '';
  if (!count) return undefined;
  let matching = 0;
  const online: string[] = [];
  for (const { name, node, status } of matchesOf(ledger, index)) {
    matching += 1;
    if (status.online && node?.busy === undefined) online.push(sampleCode(revision, name));
  }
  const wanted = scaledValue(count, matching, 'up');
  const sampled = state.stages.reduce((sum, { sample = '' }) => sum + sample.length, 0) / sampleCode('', '').length;
  if (wanted > 0 && matching > 0 && online.length === 0) return undefined;
  return online
    .toSorted()
    .slice(0, Math.min(wanted, planLimits.sampledNodes - sampled))
    .join('');
};

/**
 * The samples that the stages would draw if all of them were opened now, by the index of the stage, and the stage that each node
 * would be in then. Samples that were drawn awaiting.
 */
export const previewSamples = (
  ledger: Ledger,
): { samples: ReadonlyMap<number, string>; stageOf: StageView['stageOf'] } => {
  const { policy, state, records } = ledger;
  const samples = new Map<number, string>();
  let { stages } = ledger;
  let states = state.stages;
  const isLifted = stages.current === undefined;
  for (const [index, stage] of policy.plan?.stages.entries() ?? []) {
    if (isLifted || !stage.count || states.some(({ name }) => name === stage.name)) continue;
    const sample = drawSample({ records, stages, state: { ...state, stages: states } }, index, stage) ?? '';
    samples.set(index, sample);
    states = [...states, openedStage(stage.name, 0, sample)];
    stages = viewStages(policy.plan, states, isLifted, state.target?.hash ?? '');
  }
  return { samples, stageOf: stages.stageOf };
};

const noNodeOnline: Wait = { wait: 'Coverage', message: 'waits for one of its nodes to come online' };

/** Why too few nodes are at the target; undefined if enough are. */
const uncovered = (
  { coverage, minNodes }: Stage,
  { eligible, online, inCoverage, updated }: StageTally,
): Wait | undefined => {
  if (online === 0) return noNodeOnline;
  // Rounded up; a number that the stage does not have means all of them.
  const needed = Math.min(inCoverage, scaledValue(coverage, inCoverage, 'up'));
  if (inCoverage === 0 || updated < needed)
    return {
      wait: 'Coverage',
      message: `waits until ${formatIntOrPercent(coverage)} of its online nodes run the target and are available`,
    };
  const least = Math.min(minNodes, eligible);
  return updated < least
    ? { wait: 'MinNodes', message: `waits until at least ${least} of its nodes run the target and are available` }
    : undefined;
};

/**
 * Nodes that an earlier revision broke hold every slot of the budget, or of the groups of those that wait, and their stages are
 * closed again: the open stage can't be covered until somebody acts (decision 40).
 */
const stuckBy = (ledger: Ledger): { slots: string; limit: string } | undefined => {
  const { policy, tally } = ledger;
  if (tally.stranded === 0 || tally.active > 0) return undefined;
  // A new pod beside the old one needs no room where another one is down.
  const used = surges(policy) ? tally.inFlight : tally.occupied;
  if (used >= budgetOf(policy, tally)) return { slots: 'the budget', limit: policy.words.maxUnavailable };
  return ledger.waitsForStranded()
    ? { slots: 'their groups', limit: 'maxUnavailablePer of the rollout plan' }
    : undefined;
};

const withoutSlots = (gap: Wait, ledger: Ledger): Wait => {
  const stuck = stuckBy(ledger);
  if (!stuck) return gap;
  return {
    wait: gap.wait,
    message:
      `${gap.message}; nodes of closed stages that an earlier revision broke hold every slot of ${stuck.slots}: roll ` +
      `back to repair them, raise ${stuck.limit}, or promote the stage`,
  };
};

const uncheckedBy = ({ checks }: Stage, state: StageState): Wait | undefined => {
  for (const { name } of checks) {
    const stand = state.checks[name];
    if (stand?.state === 'Passing') continue;
    const why = stand?.state === 'NoResult' ? `, which has no result: ${stand.message}` : '';
    return { wait: 'Checks', message: `waits for its check ${name}${why}` };
  }
  return undefined;
};

/** The first check of the open stage that has failed for good; one that a resume forgave is evaluated again. */
export const failedCheckOf = ({ stages }: Ledger): { stage: string; check: string } | undefined => {
  const { current } = stages;
  const failed = current?.stage.checks.find(({ name }) => current.state?.checks[name]?.state === 'Failed');
  return current && failed && { stage: current.stage.name, check: failed.name };
};

/** When the checks of the open stage begin, epoch ms; undefined before its soak does. */
export const checksFrom = (stage: Stage, { coveredAt, openedAt }: StageState, now: number): number | undefined => {
  if (coveredAt !== undefined || stage.timeoutMs === undefined || !stage.promotesOnTimeout) return coveredAt;
  const timedOutAt = openedAt + stage.timeoutMs;
  return now >= timedOutAt ? timedOutAt : undefined;
};

/** Whether stages are promoted while this holds the rollout. */
const promotes: Readonly<Record<Hold['kind'], boolean>> = {
  unsynced: false,
  unobserved: false,
  invalid: false,
  error: false,
  refused: false,
  deleted: false,
  owner: true,
  manual: false,
  paused: false,
  frozen: false,
  halted: false,
  window: true,
  waiting: false,
};

const toDecision = ({ decision, by, at, comment }: Approval): StageDecision => ({
  decision,
  by,
  ...(at !== undefined && { at }),
  ...(comment !== undefined && { comment: cut(comment, limits.comment) }),
});

/** What is known of the open stage. Times are epoch ms, by the time of the plan. */
interface Look {
  ledger: Ledger;
  hold: Hold | undefined;
  now: number;
  index: number;
  stage: Stage;
  /** Undefined before the stage is opened. */
  state: StageState | undefined;
  counts: StageTally;
  isLast: boolean;
  /** Why too few nodes are at the target; undefined if enough are. */
  gap: Wait | undefined;
  approval: Approval | undefined;
  promotion: Approval | undefined;
  timedOutAt: number;
  soaking: Wait | undefined;
}

interface Outcome extends Wait {
  action?: StageAction | undefined;
  /** It waits for time, too: for its timeout, and for the end of its soak. */
  timed?: true;
}

const open = ({ ledger, index, stage, isLast, counts }: Look): StageAction | undefined => {
  // The last stage is on record only with nodes, and what is not on record is not opened.
  if (isLast && counts.eligible === 0) return undefined;
  if (!stage.count) return { type: 'open-stage', stage: stage.name };
  const sample = drawSample(ledger, index, stage);
  return sample === undefined ? undefined : { type: 'open-stage', stage: stage.name, sample };
};

const promote = ({ stage, approval, promotion }: Look, how: StagePromotion, by = approval?.by): StageAction => {
  const decisions = [promotion, approval].flatMap((each) => (each ? [toDecision(each)] : []));
  return {
    type: 'promote',
    stage: stage.name,
    how,
    ...(by !== undefined && { by }),
    ...(decisions.length > 0 && { decisions }),
  };
};

/** A person, or the timeout, passes the stage although something is missing. */
const isOverridden = ({ promotion, stage, now, timedOutAt }: Look): boolean =>
  promotion !== undefined || (stage.promotesOnTimeout && now >= timedOutAt);

/** What the open stage waits for, and what to do about it: the first row that applies. */
const rows: Readonly<Record<string, (look: Look) => Outcome | false | undefined>> = {
  held: ({ hold, gap }) =>
    hold && !promotes[hold.kind] && (gap ?? { wait: 'Held', message: 'waits for the rollout to continue' }),
  closed: (look) => !look.state && { ...(look.gap ?? noNodeOnline), action: open(look) },
  last: ({ isLast, gap }) => isLast && (gap ?? { wait: 'Coverage', message: 'has no stage after it' }),
  empty: (look) => look.counts.eligible === 0 && { ...noNodeOnline, action: promote(look, 'Empty') },
  // The soak begins, and begins again, whether or not something else would let the stage pass.
  covered: ({ gap, state, stage, now }) =>
    !gap &&
    state?.soakUntil === undefined && {
      wait: 'Soak',
      message: 'is about to soak',
      action: { type: 'start-soak', stage: stage.name, at: now, until: now + stage.soakMs },
    },
  'no longer covered': ({ gap, state, stage }) =>
    gap && state?.soakUntil !== undefined && { ...gap, action: { type: 'end-soak', stage: stage.name } },
  coverage: (look) => look.gap && !isOverridden(look) && { ...look.gap, timed: true },
  soak: (look) => look.soaking && !isOverridden(look) && { ...look.soaking, timed: true },
  checks({ promotion, stage, state }) {
    const unchecked = !promotion && state ? uncheckedBy(stage, state) : undefined;
    return unchecked && { ...unchecked, timed: true };
  },
  approval: ({ stage, approval }) =>
    stage.needsApproval &&
    !approval && {
      wait: 'Approval',
      message: 'waits for an approval',
      timed: true,
    },
  promote(look) {
    const { promotion, approval, gap, soaking } = look;
    const how = promotion ? 'ByHand' : gap || soaking ? 'Timeout' : 'Gates';
    return { wait: 'Held', message: 'is passed', action: promote(look, how, (promotion ?? approval)?.by) };
  },
};

const lookAt = (ledger: Ledger, hold: Hold | undefined, now: number): Look | undefined => {
  const { policy, tally, state, stages, approvals } = ledger;
  const { current } = stages;
  const counts = current && tally.stages[current.index];
  if (!current || !counts) return undefined;
  const { stage, index } = current;
  const { name } = stage;
  const { openedAt = NEVER, soakUntil } = current.state ?? {};
  const missing = uncovered(stage, counts);
  const decided = approvals.filter((each) => each.revision === state.target?.hash && each.stage === name);
  return {
    ledger,
    hold,
    now,
    index,
    stage,
    state: current.state,
    counts,
    isLast: policy.plan?.stages.length === index + 1,
    gap: missing && withoutSlots(missing, ledger),
    approval: decided.find(({ decision }) => decision === 'Approve'),
    promotion: decided.find(({ decision }) => decision === 'Promote'),
    timedOutAt: openedAt + (stage.timeoutMs ?? NEVER),
    soaking:
      soakUntil !== undefined && now < soakUntil
        ? { wait: 'Soak', message: `soaks until ${toTimestamp(soakUntil)}`, until: soakUntil }
        : undefined,
  };
};

/**
 * Looks at the open stage: what it waits for, and what to do about it now, by the time of the plan. Undefined without stages.
 */
export const assessStage = (ledger: Ledger, hold: Hold | undefined, now: number): StageAssessment | undefined => {
  const look = lookAt(ledger, hold, now);
  if (!look) return undefined;
  const { stage, isLast, timedOutAt, soaking } = look;
  for (const row of Object.values(rows)) {
    const outcome = row(look);
    if (!outcome) continue;
    const { wait, message, until, action, timed } = outcome;
    const isLate = timed && now >= timedOutAt;
    const stand: StageStatus = {
      name: stage.name,
      isLast,
      wait: isLate ? 'Timeout' : wait,
      message: isLate ? `${message}; its timeout was over at ${toTimestamp(timedOutAt)}` : message,
      ...(until !== undefined && { until }),
    };
    const wakeAt = Math.min(isLate ? NEVER : timedOutAt, soaking?.until ?? NEVER);
    return { action, stand, wakeAt: timed ? wakeAt : NEVER };
  }
  throw new Error('no row for the open stage applies: the last one must always apply');
};
