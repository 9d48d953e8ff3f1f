import type { DaemonRolloutStage, RolloutPlanSpec } from '../../../src/words/index.ts';
import {
  type Finding,
  followsPromotions,
  type InvariantId,
  isInSample,
  nodesOf,
  sizeOfSample,
} from '../../invariants/index.ts';
import { isSpec, type PlanState, type PlanVersion, promoteOf, type Status, stageIn } from '../state/follow-plan.ts';
import { tolerances } from '../tolerances.ts';
import type { Knowledge } from './knowledge.ts';
import type { StagedCluster } from './staged-cluster.ts';

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** A Go duration. */
const durationOf = (text: string): number =>
  [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_MS[unit] ?? 0),
    0,
  );

/** A status is sent, or was written. */
export interface StatusWrite {
  at: number;
  /** What its writer could know. */
  known: Knowledge;
}

/** One step from a status to the next. */
interface Step extends StatusWrite {
  before: Status | undefined;
  after: Status;
  /** The plans that the writer may go by. */
  plans: readonly RolloutPlanSpec[];
}

export interface StageStepsOptions {
  plan: PlanState;
  cluster: StagedCluster;
  check: (invariant: InvariantId) => void;
  /** `what` completes a sentence that begins with the writer. */
  report: (what: string, found: Finding | undefined) => void;
  /** A status halts the rollout for a check. */
  onHalt?: (after: Status) => void;
}

interface Soak {
  stage: string;
  until: string;
  askedAt: number;
  writtenAt: number;
  offsetMs: number;
  slackMs: number;
}

/** The statuses are of one rollout: A, B, A are three. */
const isSameRollout = (a: Status | undefined, b: Status): boolean =>
  a?.target?.hash === b.target?.hash && a?.rollout === b.rollout;

/** G1 to G6, G8: what may lead from one status to the next, by the statuses and what their writers could know. */
export const judgeStageSteps = ({ plan, cluster, check, report, onHalt }: StageStepsOptions) => {
  let last: Status | undefined;
  /** Samples that a process has asked to write, which the API server may have refused for a while. */
  const askedSamples = new Set<string>();
  /** By stage and end: when a process first asked for that soak, which the API server may have refused for a while. */
  const askedAt = new Map<string, number>();
  /** Of the stage that soaks. */
  let soak: Soak | undefined;
  /** When a node of that stage was last not at the target and available. */
  let unwellAt = 0;

  const violation = (invariant: InvariantId, what: string, why: string): void => report(what, { invariant, why });
  const unpromoted = (stages: readonly DaemonRolloutStage[]): string[] =>
    stages.filter(({ promotedAt }) => promotedAt === undefined).map(({ name }) => name);
  const earlierStages = (before: Status | undefined, after: Status): readonly DaemonRolloutStage[] =>
    (isSameRollout(before, after) && before?.stages) || [];

  /** A node was online, and each check held, as the status says. */
  const checkPassed = ({ known }: StatusWrite, after: Status, stage: DaemonRolloutStage): void => {
    const { name, promotion, checks = [] } = stage;
    const what = `promoted stage ${name}`;
    const specs = known.plans.filter(isSpec);
    if (!known.isSettled() || specs.length === 0 || (promotion !== 'Gates' && promotion !== 'Timeout')) return;
    if (promotion === 'Gates') {
      check('G3');
      const online = known.mayBeOnline();
      if (!specs.some((spec) => online.some((node) => plan.stageOf(spec, node, after) === name)))
        violation('G3', what, 'of which no node was online');
    }
    const resultOf = (each: string): string => checks.find((one) => one.name === each)?.state ?? 'never evaluated';
    const required = specs.map((spec) => promoteOf(spec, name)?.checks ?? []);
    if (required.every(({ length }) => length === 0)) return;
    check('G4');
    const failed = required.map((names) => names.filter((each) => resultOf(each) !== 'Passing'));
    if (failed.some(({ length }) => length === 0)) return;
    for (const each of failed.at(-1) ?? []) violation('G4', what, `whose check ${each} was ${resultOf(each)}`);
  };

  /** A sample is asked for: of its nodes, none was busy. */
  const checkDrawn = ({ known }: StatusWrite, { target }: Status, { name, sample }: DaemonRolloutStage): void => {
    const hash = target?.hash ?? '';
    const asked = `${hash} ${name} ${sample}`;
    const specs = known.plans.filter(isSpec);
    if (sample === undefined || askedSamples.has(asked) || specs.length === 0) return;
    askedSamples.add(asked);
    for (const { name: node } of cluster.nodes())
      if (isInSample(sample, hash, node) && specs.every((spec) => known.knowsBusy(node, spec)))
        violation(
          'G1',
          `drew the sample of stage ${name}`,
          `which has ${node}, although the plan skips it while it is busy`,
        );
  };

  const checkSoaked = ({ at, known }: Step, stage: DaemonRolloutStage, what: string): void => {
    const { promotedAt = '', soakUntil, coveredAt = '' } = stage;
    check('G5');
    if (soakUntil === undefined || Date.parse(promotedAt) < Date.parse(soakUntil))
      violation('G5', what, `at ${promotedAt}, before its soak was over at ${soakUntil}`);
    if (soak === undefined || soak.stage !== stage.name || soak.until !== soakUntil) return;
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    const lasted = at - soak.askedAt;
    const isSameClock = Math.abs(soak.offsetMs - known.offsetMs) < tolerances.sameClock.ms;
    // Whoever began it may have gone by a corrected clock, and who ends it by an exact one.
    if (isSameClock && lasted < length - Math.max(soak.slackMs, known.slackMs.end))
      violation('G5', what, `${lasted} ms after its soak of ${length} ms began`);
  };

  const checkPeople = ({ after, plans }: Step, stage: DaemonRolloutStage, what: string): void => {
    const { name, promotion, promotedBy = 'nobody' } = stage;
    const hash = after.target?.hash ?? '';
    if (promotion === 'ByHand') {
      check('G8');
      if (!plan.decidedBy(hash, name, 'Promote').includes(promotedBy))
        violation('G8', what, `as by ${promotedBy}, who had not promoted it`);
    }
    const requires = (spec: RolloutPlanSpec): boolean => promoteOf(spec, name)?.approval?.required === true;
    if (promotion === 'Empty' || plans.length === 0 || !plans.every(requires)) return;
    check('G8');
    const approved = plan.decidedBy(hash, name, 'Approve');
    if (approved.length === 0) violation('G8', what, 'which nobody had approved');
    else if (promotion !== 'ByHand' && !approved.includes(promotedBy))
      violation('G8', what, `as by ${promotedBy}, who had not approved it`);
  };

  const checkSoak = (
    { at, known, plans }: Step,
    { name, soakUntil, coveredAt = '' }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (before?.soakUntil === soakUntil) return;
    if (before?.soakUntil !== undefined && before.promotedAt === undefined) {
      check('G5');
      if (soak?.stage === name && unwellAt < soak.writtenAt - known.slackMs.unwell)
        violation(
          'G5',
          `changed the end of the soak of ${name} from ${before.soakUntil} to ${soakUntil}`,
          'although all of its nodes had been well',
        );
    }
    soak = undefined;
    if (soakUntil === undefined) return;
    const lengths = plans.map((spec) => durationOf(promoteOf(spec, name)?.soak ?? '0s'));
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    check('G5');
    if (lengths.length > 0 && !lengths.includes(length))
      violation('G5', `let stage ${name} soak`, `for ${length} ms instead of ${lengths.at(-1)} ms`);
    soak = {
      stage: name,
      until: soakUntil,
      askedAt: askedAt.get(`${name} ${soakUntil}`) ?? at,
      writtenAt: at,
      offsetMs: known.offsetMs,
      slackMs: known.slackMs.begin,
    };
    unwellAt = 0;
  };

  const checkSample = (
    { plans }: Step,
    { name, sample }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (sample === undefined) return;
    check('G1');
    if (before?.sample !== undefined && before.sample !== sample)
      violation('G1', `changed the sample of stage ${name}`, 'which must stay the same');
    const counts = plans.flatMap((spec) => {
      const count = stageIn(spec, name)?.nodes?.count;
      return count === undefined ? [] : [nodesOf(count, cluster.state.nodes.size)];
    });
    const size = sizeOfSample(sample);
    if (before?.sample === undefined && counts.length > 0 && size > Math.max(...counts))
      violation('G1', `drew the sample of stage ${name}`, `which has ${size} nodes instead of ${Math.max(...counts)}`);
  };

  const checkTarget = ({ before, after }: Step): void => {
    if (!before || !after.target || before.target?.hash === after.target.hash) return;
    soak = undefined;
    if (before.lastComplete?.hash !== after.target.hash) return;
    check('G6');
    if (!after.rollback)
      violation('G6', `staged the way back to ${after.target.hash}`, 'the revision that was last complete');
  };

  const checkHalt = ({ before, after }: Step): void => {
    if (after.halted?.reason !== 'CheckFailed' || before?.halted?.reason === 'CheckFailed') return;
    check('G4');
    if (!after.stages?.some(({ checks = [] }) => checks.some(({ state }) => state === 'Failed')))
      violation('G4', 'halted the rollout for a check', 'of which none had failed');
    onHalt?.(after);
  };

  const checkStep = (step: Step): void => {
    const { before, after } = step;
    checkHalt(step);
    checkTarget(step);
    const { stages = [] } = after;
    const earlier = earlierStages(before, after);
    for (const { name, promotedAt } of earlier) {
      if (promotedAt === undefined) continue;
      check('G2');
      if (stages.find((each) => each.name === name)?.promotedAt !== promotedAt)
        violation('G2', `took the promotion of stage ${name} back`, 'which was written');
    }
    for (const [index, stage] of stages.entries()) {
      const old = earlier.find(({ name }) => name === stage.name);
      checkSample(step, stage, old);
      checkSoak(step, stage, old);
      if (stage.openedAt !== undefined && old?.openedAt === undefined) {
        check('G2');
        report(`opened stage ${stage.name}`, followsPromotions({ before: unpromoted(stages.slice(0, index)) }));
      }
      if (stage.promotedAt === undefined || old?.promotedAt !== undefined) continue;
      const what = `promoted stage ${stage.name}`;
      check('G2');
      report(what, followsPromotions({ before: unpromoted(stages.slice(0, index)) }));
      if (stage.promotion === 'Gates') checkSoaked(step, stage, what);
      checkPeople(step, stage, what);
    }
  };

  return {
    /** A status is sent. Returns the stages that it promotes, and for each when its soak was first asked for. */
    onSent(after: Status, write: StatusWrite): readonly { stage: DaemonRolloutStage; soakedSince: number }[] {
      const earlier = earlierStages(plan.status, after);
      return (after.stages ?? []).flatMap((stage) => {
        const { name, soakUntil, promotedAt } = stage;
        if (earlier.find((each) => each.name === name)?.sample === undefined) checkDrawn(write, after, stage);
        const asked = `${name} ${soakUntil}`;
        if (soakUntil !== undefined && !askedAt.has(asked)) askedAt.set(asked, write.at);
        if (promotedAt === undefined || earlier.find((each) => each.name === name)?.promotedAt !== undefined) return [];
        checkPassed(write, after, stage);
        return [{ stage, soakedSince: soak?.until === soakUntil ? (soak?.askedAt ?? 0) : 0 }];
      });
    },
    /** A status was written; undefined: it was deleted. Not judged without `write`. Returns whether another soak has begun. */
    onStatus(after: Status | undefined, write?: StatusWrite): boolean {
      const [before, soakBefore] = [last, soak];
      last = after;
      if (after && write) checkStep({ ...write, before, after, plans: write.known.plans.filter(isSpec) });
      return soak !== soakBefore;
    },
    /**
     * Nodes, pods, the plan or the status have changed. A stage that soaks begins again only if one of its nodes was not at the target
     * and available, or if it was not certain then where nodes belong.
     */
    onChange(at: number, isSettled = true): void {
      if (!soak || !plan.status) return;
      const { stage } = soak;
      const isWell = (version: PlanVersion): boolean =>
        isSpec(version) &&
        cluster.nodes().every((node) => plan.stageOf(version, node) !== stage || cluster.isWell(node));
      if (!isSettled || !plan.versionsSince(at).every(isWell)) unwellAt = at;
    },
  };
};
