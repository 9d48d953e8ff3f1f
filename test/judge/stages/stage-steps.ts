import type { DaemonRolloutStage, DaemonRolloutStatus, RolloutPlanSpec } from '../../../src/words/index.ts';
import { type Finding, followsPromotions, type InvariantId, nodesOf, sizeOfSample } from '../../invariants/index.ts';
import { promoteOf, stageIn } from '../state/plan-state.ts';
import { tolerances } from '../tolerances.ts';

export type Status = DaemonRolloutStatus;

export const stagesOf = ({ stages = [] }: Status): readonly DaemonRolloutStage[] => stages;

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** A Go duration. */
const durationOf = (text: string): number =>
  [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_MS[unit] ?? 0),
    0,
  );

/** One write of a status, and what its writer could know. */
export interface StatusWrite {
  before: Status | undefined;
  after: Status;
  at: number;
  /** The plans that the writer may go by. */
  plans: readonly RolloutPlanSpec[];
  /** It may also go by no plan: the DaemonSet named none, or one that did not exist. */
  mayHaveNone: boolean;
  /** It may not know that the plan has the stage. */
  mayForget: (stage: string) => boolean;
  /** By how much its clock differs from the judge's. */
  offsetMs: number;
  /** How exactly it is known when a soak began, and when it ended; and how long before its start a node may have been unwell. */
  slackMs: { begin: number; end: number; unwell: number };
  /** When a process first asked for this soak. */
  askedAt: (stage: string, soakUntil: string) => number;
}

export interface StageStepsOptions {
  check: (invariant: InvariantId) => void;
  /** `what` completes a sentence that begins with the writer. */
  report: (what: string, found: Finding | undefined) => void;
  countNodes: () => number;
  /** People who decided this about a stage. */
  decidedBy: (revision: string, stage: string, decision: 'Approve' | 'Promote') => readonly string[];
  /** Judges what else the promotion of a stage needs. */
  onPromotion?: (write: StatusWrite, stage: DaemonRolloutStage, what: string) => void;
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

/** G1, G2, G5, G6, G8: what may lead from one status to the next. */
export const judgeStageSteps = ({ check, report, countNodes, decidedBy, onPromotion }: StageStepsOptions) => {
  /** Of the stage that soaks. */
  let soak: Soak | undefined;
  /** When a node of that stage was last not at the target and available. */
  let unwellAt = 0;

  const violation = (invariant: InvariantId, what: string, why: string): void => report(what, { invariant, why });
  const unpromoted = (stages: readonly DaemonRolloutStage[]): string[] =>
    stages.filter(({ promotedAt }) => promotedAt === undefined).map(({ name }) => name);

  const checkSoaked = (write: StatusWrite, stage: DaemonRolloutStage, what: string): void => {
    const { promotedAt = '', soakUntil, coveredAt = '' } = stage;
    check('G5');
    if (soakUntil === undefined || Date.parse(promotedAt) < Date.parse(soakUntil))
      violation('G5', what, `at ${promotedAt}, before its soak was over at ${soakUntil}`);
    if (soak === undefined || soak.stage !== stage.name || soak.until !== soakUntil) return;
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    const lasted = write.at - soak.askedAt;
    const isSameClock = Math.abs(soak.offsetMs - write.offsetMs) < tolerances.sameClock.ms;
    // Whoever began it may have gone by a corrected clock, and who ends it by an exact one.
    if (isSameClock && lasted < length - Math.max(soak.slackMs, write.slackMs.end))
      violation('G5', what, `${lasted} ms after its soak of ${length} ms began`);
  };

  const checkPeople = (write: StatusWrite, stage: DaemonRolloutStage, what: string): void => {
    const { name, promotion, promotedBy = 'nobody' } = stage;
    const hash = write.after.target?.hash ?? '';
    if (promotion === 'ByHand') {
      check('G8');
      if (!decidedBy(hash, name, 'Promote').includes(promotedBy))
        violation('G8', what, `as by ${promotedBy}, who had not promoted it`);
    }
    const { plans, mayHaveNone } = write;
    const requires = (spec: RolloutPlanSpec): boolean => promoteOf(spec, name)?.approval?.required === true;
    if (promotion === 'Empty' || mayHaveNone || plans.length === 0 || !plans.every(requires)) return;
    check('G8');
    const approved = decidedBy(hash, name, 'Approve');
    if (approved.length === 0) violation('G8', what, 'which nobody had approved');
    else if (promotion !== 'ByHand' && !approved.includes(promotedBy))
      violation('G8', what, `as by ${promotedBy}, who had not approved it`);
  };

  const checkSoak = (
    write: StatusWrite,
    { name, soakUntil, coveredAt = '' }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (before?.soakUntil === soakUntil) return;
    if (before?.soakUntil !== undefined && before.promotedAt === undefined) {
      check('G5');
      if (soak?.stage === name && unwellAt < soak.writtenAt - write.slackMs.unwell)
        violation(
          'G5',
          `changed the end of the soak of ${name} from ${before.soakUntil} to ${soakUntil}`,
          'although all of its nodes had been well',
        );
    }
    soak = undefined;
    if (soakUntil === undefined) return;
    const lengths = write.plans.map((spec) => durationOf(promoteOf(spec, name)?.soak ?? '0s'));
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    check('G5');
    if (lengths.length > 0 && !lengths.includes(length))
      violation('G5', `let stage ${name} soak`, `for ${length} ms instead of ${lengths.at(-1)} ms`);
    const { at: writtenAt, offsetMs } = write;
    const askedAt = write.askedAt(name, soakUntil);
    soak = { stage: name, until: soakUntil, askedAt, writtenAt, offsetMs, slackMs: write.slackMs.begin };
    unwellAt = 0;
  };

  const checkSample = (
    { plans }: StatusWrite,
    { name, sample }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (sample === undefined) return;
    check('G1');
    if (before?.sample !== undefined && before.sample !== sample)
      violation('G1', `changed the sample of stage ${name}`, 'which must stay the same');
    const counts = plans.flatMap((spec) => {
      const count = stageIn(spec, name)?.nodes?.count;
      return count === undefined ? [] : [nodesOf(count, countNodes())];
    });
    const size = sizeOfSample(sample);
    if (before?.sample === undefined && counts.length > 0 && size > Math.max(...counts))
      violation('G1', `drew the sample of stage ${name}`, `which has ${size} nodes instead of ${Math.max(...counts)}`);
  };

  const checkTarget = ({ before, after, mayHaveNone }: StatusWrite): void => {
    if (!before || !after.target || before.target?.hash === after.target.hash) return;
    soak = undefined;
    if (before.lastComplete?.hash !== after.target.hash || mayHaveNone) return;
    check('G6');
    if (!after.rollback)
      violation('G6', `staged the way back to ${after.target.hash}`, 'the revision that was last complete');
  };

  return {
    get soak(): Readonly<Soak> | undefined {
      return soak;
    },
    /** A node of the stage that soaks is not at the target, or not available, or it is not known whether one is. */
    noteUnwell(at: number): void {
      unwellAt = at;
    },
    onWrite(write: StatusWrite): void {
      const { before, after, mayForget } = write;
      checkTarget(write);
      const stages = stagesOf(after);
      const earlier = before && isSameRollout(before, after) ? stagesOf(before) : [];
      for (const { name, promotedAt } of earlier) {
        if (promotedAt === undefined || mayForget(name)) continue;
        check('G2');
        if (stages.find((each) => each.name === name)?.promotedAt !== promotedAt)
          violation('G2', `took the promotion of stage ${name} back`, 'which was written');
      }
      for (const [index, stage] of stages.entries()) {
        const old = earlier.find(({ name }) => name === stage.name);
        checkSample(write, stage, old);
        checkSoak(write, stage, old);
        if (stage.openedAt !== undefined && old?.openedAt === undefined) {
          check('G2');
          report(`opened stage ${stage.name}`, followsPromotions({ before: unpromoted(stages.slice(0, index)) }));
        }
        if (stage.promotedAt === undefined || old?.promotedAt !== undefined) continue;
        const what = `promoted stage ${stage.name}`;
        check('G2');
        report(what, followsPromotions({ before: unpromoted(stages.slice(0, index)) }));
        if (stage.promotion === 'Gates') checkSoaked(write, stage, what);
        checkPeople(write, stage, what);
        onPromotion?.(write, stage, what);
      }
    },
  };
};
