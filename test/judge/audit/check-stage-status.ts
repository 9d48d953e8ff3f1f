import type { DaemonRollout, DaemonRolloutStage, RolloutPlanSpec } from '../../../src/words/index.ts';
import { type Finding, followsPromotions, type InvariantId, nodesOf, sizeOfSample } from '../../invariants/index.ts';
import { type ClusterState, livePods, type NodeState, nodesToServe } from '../state/cluster-state.ts';
import { isSpec, type PlanHistory, type PlanVersion } from './plan-history.ts';
import { isAvailable } from './records.ts';

export type Status = NonNullable<DaemonRollout['status']>;

export const stagesOf = ({ stages = [] }: Status): readonly DaemonRolloutStage[] => stages;

/** One write of a status. */
export interface StatusWrite {
  before: Status | undefined;
  after: Status;
  at: number;
  lagMs: number;
}

export interface StatusCheckOptions {
  state: ClusterState;
  plan: PlanHistory;
  /** The stage of a node, by a status. */
  stageOf: (spec: RolloutPlanSpec, status: Status, node: NodeState) => string;
  check: (invariant: InvariantId) => void;
  /** `what` completes a sentence that begins with a user. */
  report: (what: string, found: Finding | undefined) => void;
}

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
/** A Go duration. */
const durationOf = (text: string): number =>
  [...text.matchAll(/([\d.]+)(h|ms|m|s)/g)].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_MS[unit] ?? 0),
    0,
  );

const stageIn = (version: PlanVersion, name: string) =>
  isSpec(version) ? version.stages?.find((stage) => stage.name === name) : undefined;

/** The statuses are of one rollout: A, B, A are three. */
const isSameRollout = (a: Status | undefined, b: Status): boolean =>
  a?.target?.hash === b.target?.hash && a?.rollout === b.rollout;

/** G1 to G6 and G8, as far as the statuses that the manager writes show them. */
export const createStatusCheck = ({ state, plan, stageOf, check, report }: StatusCheckOptions) => {
  /** Of the stage that soaks. */
  let soak: { stage: string; until: string; writtenAt: number } | undefined;
  /** When a node of that stage was last not at the target and available. */
  let unwellAt = 0;

  const violation = (invariant: InvariantId, what: string, why: string): void => report(what, { invariant, why });
  const membersOf = (spec: RolloutPlanSpec, status: Status, name: string): NodeState[] =>
    nodesToServe(state).filter((node) => stageOf(spec, status, node) === name);

  const checkPromotion = ({ after, at, lagMs }: StatusWrite, stage: DaemonRolloutStage, index: number): void => {
    const { name, promotion, promotedBy = 'nobody', promotedAt = '', soakUntil, coveredAt = '' } = stage;
    const what = `promoted stage ${name}`;
    const hash = after.target?.hash ?? '';
    const known = plan.knownAt(at, lagMs);
    check('G2');
    const before = stagesOf(after)
      .slice(0, index)
      .filter((each) => each.promotedAt === undefined);
    report(what, followsPromotions({ before: before.map((each) => each.name) }));
    if (promotion === 'Gates') {
      check('G5');
      if (soakUntil === undefined || Date.parse(promotedAt) < Date.parse(soakUntil))
        violation('G5', what, `at ${promotedAt}, before its soak was over at ${soakUntil}`);
      const length = Date.parse(soakUntil ?? '') - Date.parse(coveredAt);
      const lasted = at - (soak?.writtenAt ?? 0);
      if (soak?.stage === name && soak.until === soakUntil && lasted < length - lagMs)
        violation('G5', what, `${lasted} ms after its soak of ${length} ms was written`);
      const [only, ...others] = known;
      if (only !== undefined && others.length === 0 && isSpec(only)) {
        check('G3');
        const isOnline = ({ ready, since }: NodeState): boolean => ready || at - since <= lagMs;
        if (!membersOf(only, after, name).some(isOnline)) violation('G3', what, 'of which no node was online');
      }
    }
    if (promotion === 'ByHand') {
      check('G8');
      if (!plan.decidedBy(hash, name, 'Promote').includes(promotedBy))
        violation('G8', what, `as by ${promotedBy}, who had not promoted it`);
    }
    if (promotion === 'Empty' || known.length === 0) return;
    const isByChecks = promotion === 'Gates' || promotion === 'Timeout';
    const [required = []] = known.map((version) => stageIn(version, name)?.promote?.checks ?? []);
    if (isByChecks && known.length === 1 && required.length > 0) {
      check('G4');
      for (const each of required) {
        const found = stage.checks?.find((one) => one.name === each)?.state ?? 'never evaluated';
        if (found !== 'Passing') violation('G4', what, `whose check ${each} was ${found}`);
      }
    }
    if (!known.every((version) => stageIn(version, name)?.promote?.approval?.required === true)) return;
    check('G8');
    const approved = plan.decidedBy(hash, name, 'Approve');
    if (approved.length === 0) violation('G8', what, 'which nobody had approved');
    else if (promotion !== 'ByHand' && !approved.includes(promotedBy))
      violation('G8', what, `as by ${promotedBy}, who had not approved it`);
  };

  const checkSoak = (
    { at, lagMs }: StatusWrite,
    { name, soakUntil, coveredAt = '' }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (before?.soakUntil === soakUntil) return;
    const known = plan.knownAt(at, lagMs);
    if (before?.soakUntil !== undefined && before.promotedAt === undefined && soak?.stage === name) {
      check('G5');
      if (known.length === 1 && unwellAt < soak.writtenAt - lagMs)
        violation(
          'G5',
          `changed the end of the soak of ${name} from ${before.soakUntil} to ${soakUntil}`,
          'although all of its nodes had been well',
        );
    }
    soak = undefined;
    if (soakUntil === undefined) return;
    const lengths = known.filter(isSpec).map((spec) => durationOf(stageIn(spec, name)?.promote?.soak ?? '0s'));
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    check('G5');
    if (lengths.length > 0 && !lengths.includes(length))
      violation('G5', `let stage ${name} soak`, `for ${length} ms instead of ${lengths.at(-1)} ms`);
    soak = { stage: name, until: soakUntil, writtenAt: at };
    unwellAt = 0;
  };

  const checkSample = (
    { at, lagMs }: StatusWrite,
    { name, sample }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (sample === undefined) return;
    check('G1');
    if (before?.sample !== undefined && before.sample !== sample)
      violation('G1', `changed the sample of stage ${name}`, 'which must stay the same');
    const counts = plan.knownAt(at, lagMs).flatMap((version) => {
      const count = stageIn(version, name)?.nodes?.count;
      return count === undefined ? [] : [nodesOf(count, state.nodes.size)];
    });
    const size = sizeOfSample(sample);
    if (before?.sample === undefined && counts.length > 0 && size > Math.max(...counts))
      violation('G1', `drew the sample of stage ${name}`, `which has ${size} nodes instead of ${Math.max(...counts)}`);
  };

  const checkTarget = ({ before, after, at, lagMs }: StatusWrite): void => {
    if (!before || !after.target || before.target?.hash === after.target.hash) return;
    soak = undefined;
    if (before.lastComplete?.hash !== after.target.hash || !plan.knownAt(at, lagMs).every(isSpec)) return;
    check('G6');
    if (!after.rollback)
      violation('G6', `staged the way back to ${after.target.hash}`, 'the revision that was last complete');
  };

  const checkHalt = ({ before, after }: StatusWrite): void => {
    if (after.halted?.reason !== 'CheckFailed' || before?.halted?.reason === 'CheckFailed') return;
    check('G4');
    if (!stagesOf(after).some(({ checks = [] }) => checks.some(({ state: found }) => found === 'Failed')))
      violation('G4', 'halted the rollout for a check', 'of which none had failed');
  };

  return {
    /** The manager writes a status. */
    onWrite(write: StatusWrite): void {
      const { before, after, at, lagMs } = write;
      checkTarget(write);
      checkHalt(write);
      const earlier = new Map(
        (before && isSameRollout(before, after) ? stagesOf(before) : []).map((stage) => [stage.name, stage]),
      );
      const stages = stagesOf(after);
      /** An edit has not removed the stage, nor the annotation of the DaemonSet. */
      const isPlanned = (name: string): boolean =>
        plan
          .knownAt(at, lagMs)
          .every((version) => version === 'missing' || name === 'rest' || stageIn(version, name) !== undefined);
      for (const [name, { promotedAt }] of earlier) {
        if (promotedAt === undefined || !isPlanned(name)) continue;
        check('G2');
        if (stages.find((each) => each.name === name)?.promotedAt !== promotedAt)
          violation('G2', `took the promotion of stage ${name} back`, 'which it had written');
      }
      for (const [index, stage] of stages.entries()) {
        const old = earlier.get(stage.name);
        checkSample(write, stage, old);
        if (stage.openedAt !== undefined && old?.openedAt === undefined) {
          check('G2');
          const left = stages.slice(0, index).filter(({ promotedAt }) => promotedAt === undefined);
          report(`opened stage ${stage.name}`, followsPromotions({ before: left.map(({ name }) => name) }));
        }
        if (stage.promotedAt !== undefined && old?.promotedAt === undefined) checkPromotion(write, stage, index);
        else checkSoak(write, stage, old);
      }
    },
    /** Something happened in the cluster: `status` is the last one. */
    onChange(status: Status | undefined, at: number): void {
      if (!soak || !status) return;
      const { stage } = soak;
      const isWell = (node: NodeState): boolean => {
        const [pod, ...others] = livePods(state, node.name);
        return (
          node.ready &&
          pod !== undefined &&
          others.length === 0 &&
          pod.hash === state.target &&
          isAvailable(state, pod, at)
        );
      };
      const known = plan.knownAt(at, 0);
      if (!known.every((each) => isSpec(each) && membersOf(each, status, stage).every(isWell))) unwellAt = at;
    },
  };
};
