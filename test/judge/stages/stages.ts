import type { DaemonRolloutStage, DaemonRolloutStatus, RolloutPlanSpec } from '../../../src/words/index.ts';
import {
  closedOn,
  type Finding,
  followsPromotions,
  isInOpenStage,
  isInWindow,
  NODE_ZONE_KEY,
  nodesOf,
  sizeOfSample,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext, NodeUpdate } from '../check.ts';
import { isEligible, type PodState } from '../state/cluster-state.ts';
import { type PlanState, promoteOf, stageIn } from '../state/plan-state.ts';
import { tolerances } from '../tolerances.ts';
import { createStageAnswersCheck } from './stage-answers.ts';

const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, m: 60_000, s: 1_000 };
/** A Go duration as the simulation writes it. */
const durationOf = (text: string): number =>
  [...text.matchAll(/(\d+)([hms])/g)].reduce(
    (sum, [, value, unit = '']) => sum + Number(value) * (UNIT_MS[unit] ?? 0),
    0,
  );

const statusIn = (body: unknown): DaemonRolloutStatus | undefined =>
  (body as { status?: DaemonRolloutStatus } | undefined)?.status;

/** What leads from one status to the next of the same rollout. */
interface Step {
  call: Call;
  before: DaemonRolloutStatus;
  after: DaemonRolloutStatus;
}

/**
 * G1 to G6, G8: stages of a rollout plan; G4 is in stage-answers.ts. Which stage a node is in, and which are open, is computed here from the
 * plan, the labels of nodes, and the promotions and samples that were written.
 */
export const createStagesCheck = (
  context: CheckContext,
  { plan, works }: { plan: PlanState; works: (pod: PodState) => boolean },
): Check => {
  const { report, actual, now, viewOf, clockOf, rolloutName } = context;
  const { check, violation } = report;
  const answers = createStageAnswersCheck(context, plan);
  let last: DaemonRolloutStatus | undefined;
  /** Of the soak that lasts. */
  let soak:
    | { stage: string; until: string; askedAt: number; writtenAt: number; offsetMs: number; slackMs: number }
    | undefined;
  /** By stage and end: when a process first asked to write that soak, which the API server may have refused for a while. */
  const askedAt = new Map<string, number>();
  /** When a node of the soaking stage was last not at the target and well. */
  let unwellAt = 0;

  /** Of the time that a process goes by, and how exactly it is known. */
  const offsetOf = (process: string): number => (plan.timesOf(process)[0] ?? 0) - now();
  const slackOf = (process: string): number =>
    plan.timesOf(process).length > 1 ? 2 * tolerances.decision.ms : tolerances.sameClock.ms;
  const namesOf = (spec: RolloutPlanSpec): string[] => [...(spec.stages ?? []).map(({ name }) => name), 'rest'];

  const isWell = (stage: string, spec: RolloutPlanSpec): boolean => {
    for (const node of actual.nodes.values()) {
      if (!node.eligible || plan.stageOf(spec, node) !== stage) continue;
      const [pod, ...others] = actual.podsOn(node.name);
      if (!node.ready || !pod || others.length > 0 || pod.hash !== actual.target || !works(pod)) return false;
    }
    return true;
  };
  const followSoak = (): void => {
    const spec = plan.plan;
    if (soak && (!spec || !plan.isSettled() || !isWell(soak.stage, spec))) unwellAt = now();
  };
  /** An edit may bring nodes into the stage that are not at the target: coverage falls then, although no node has changed. */
  const followEdit = (): void => {
    const spec = plan.plan;
    if (soak && (!spec || !isWell(soak.stage, spec))) unwellAt = now();
  };

  /** Why an update breaks the plan that its sender has observed; none if an older one permits it. */
  const findingsOf = ({ call, pod, node }: NodeUpdate): Finding[] => {
    const view = viewOf(call.process);
    const known = view.nodes.get(node)?.node;
    // The second write of an update that began before.
    if (!known || pod.preparing || pod.gateClosed || !plan.isAbout(view.daemonSet) || plan.isLifted()) return [];
    const staged = { name: node, labels: known.metadata?.labels ?? {} };
    const labels = actual.nodes.get(node)?.labels;
    const zone = known.metadata?.annotations?.[NODE_ZONE_KEY];
    const judge = (spec: RolloutPlanSpec): Finding[] => {
      const stage = plan.stageOf(spec, staged);
      // The node was moved a moment ago.
      if (labels && plan.stageOf(spec, { name: node, labels }) !== stage) return [];
      const names = namesOf(spec);
      const open = plan.openIn(spec);
      const unpromoted = names
        .slice(0, names.indexOf(stage))
        .filter((name) => plan.stageNamed(name)?.promotedAt === undefined);
      const times = plan.timesOf(call.process).flatMap((at) => [at, at - tolerances.decision.ms]);
      const closings = times.map((at) => closedOn(spec, at, zone));
      const closedBy = closings.includes(undefined) ? undefined : closings.at(-1);
      const found = [isInOpenStage({ stage, open }), isInWindow({ closedBy })];
      if (!open.includes(stage)) found.push(followsPromotions({ before: unpromoted }));
      return found.flatMap((each) => each ?? []);
    };
    const plans = plan.plansOf(call);
    if (plans.length === 0)
      return [{ invariant: 'G1', why: 'although its rollout plan does not exist, or is invalid' }];
    const judged = plans.map(judge);
    return judged.some((found) => found.length === 0) ? [] : (judged.at(-1) ?? []);
  };

  const checkPromotion = ({ call, after }: Step, stage: DaemonRolloutStage, index: number): void => {
    const { name, promotion, promotedBy, promotedAt = '', soakUntil } = stage;
    check('G2');
    const before = (after.stages ?? []).slice(0, index).filter((each) => each.promotedAt === undefined);
    const what = `${call.process} passes stage ${name}`;
    report.finding(followsPromotions({ before: before.map((each) => each.name) }), what);
    if (promotion === 'Gates') {
      check('G5');
      if (soakUntil === undefined || promotedAt < soakUntil)
        violation('G5', `${what} at ${promotedAt}, before its soak was over at ${soakUntil}`);
      const length = Date.parse(soakUntil ?? '') - Date.parse(stage.coveredAt ?? '');
      const isSameClock = Math.abs((soak?.offsetMs ?? 0) - offsetOf(call.process)) < tolerances.sameClock.ms;
      const lasted = now() - (soak?.askedAt ?? 0);
      // Whoever began it may have gone by a corrected clock, and who ends it by an exact one.
      const slackMs = Math.max(soak?.slackMs ?? 0, slackOf(call.process));
      if (soak?.until === soakUntil && isSameClock && lasted < length - slackMs)
        violation('G5', `${what} ${lasted} ms after its soak of ${length} ms began`);
    }
    if (promotion === 'ByHand') {
      check('G8');
      if (!plan.decisions(name, 'Promote').some((each) => each.approvedBy === promotedBy))
        violation('G8', `${what} as by ${promotedBy}, who has not promoted it`);
    }
    const specs = plan.plansOf(call);
    const isRequired = specs.length > 0 && specs.every((spec) => promoteOf(spec, name)?.approval?.required === true);
    if (promotion === 'Empty' || !isRequired) return;
    check('G8');
    const approved = plan.decisions(name, 'Approve');
    if (approved.length === 0) violation('G8', `${what}, which nobody has approved`);
    else if (promotion !== 'ByHand' && !approved.some((each) => each.approvedBy === promotedBy))
      violation('G8', `${what} as by ${promotedBy}, who has not approved it`);
  };

  const checkSoak = (
    call: Call,
    name: string,
    before: DaemonRolloutStage | undefined,
    stage: DaemonRolloutStage,
  ): void => {
    const { soakUntil, coveredAt = '' } = stage;
    if (before?.soakUntil === soakUntil) return;
    if (before?.soakUntil !== undefined && before.promotedAt === undefined) {
      check('G5');
      if (soak?.stage === name && unwellAt < soak.writtenAt)
        violation(
          'G5',
          `${call.process} changes the end of the soak of ${name} from ${before.soakUntil} to ${soakUntil}, and all of its nodes are well`,
        );
    }
    if (soakUntil === undefined) {
      soak = undefined;
      return;
    }
    const lengths = plan.plansOf(call).map((spec) => durationOf(promoteOf(spec, name)?.soak ?? '0s'));
    const length = Date.parse(soakUntil) - Date.parse(coveredAt);
    check('G5');
    if (lengths.length > 0 && !lengths.includes(length))
      violation('G5', `${call.process} lets ${name} soak for ${length} ms instead of ${lengths.at(-1)} ms`);
    const asked = askedAt.get(`${name} ${soakUntil}`) ?? now();
    soak = {
      stage: name,
      until: soakUntil,
      askedAt: asked,
      writtenAt: now(),
      offsetMs: offsetOf(call.process),
      slackMs: slackOf(call.process),
    };
    unwellAt = 0;
    followSoak();
  };

  const checkSample = (
    call: Call,
    { name, sample }: DaemonRolloutStage,
    before: DaemonRolloutStage | undefined,
  ): void => {
    if (sample === undefined) return;
    check('G1');
    if (before?.sample !== undefined && before.sample !== sample)
      violation('G1', `the sample of stage ${name} changed`);
    const counts = plan.plansOf(call).flatMap((spec) => {
      const count = stageIn(spec, name)?.nodes?.count;
      return count === undefined ? [] : [nodesOf(count, actual.nodes.size)];
    });
    if (before === undefined && counts.length > 0 && sizeOfSample(sample) > Math.max(...counts))
      violation(
        'G1',
        `the sample of stage ${name} has ${sizeOfSample(sample)} nodes instead of ${Math.max(...counts)}`,
      );
  };

  const checkStep = (step: Step): void => {
    const { call, before, after } = step;
    const stages = after.stages ?? [];
    for (const old of before.stages ?? []) {
      if (old.promotedAt === undefined) continue;
      check('G2');
      const kept = stages.find(({ name }) => name === old.name);
      if (kept?.promotedAt !== old.promotedAt)
        violation('G2', `${call.process} takes the promotion of stage ${old.name} back`);
    }
    for (const [index, stage] of stages.entries()) {
      const old = before.stages?.find(({ name }) => name === stage.name);
      checkSample(call, stage, old);
      checkSoak(call, stage.name, old, stage);
      if (stage.openedAt !== undefined && old?.openedAt === undefined) {
        check('G2');
        const left = stages.slice(0, index).filter((each) => each.promotedAt === undefined);
        report.finding(
          followsPromotions({ before: left.map(({ name }) => name) }),
          `${call.process} opens stage ${stage.name}`,
        );
      }
      if (stage.promotedAt !== undefined && old?.promotedAt === undefined) checkPromotion(step, stage, index);
    }
  };

  /** G3, by what the sender has observed: the plan, which nodes there are, and which of them are online. */
  const checkOnline = (call: Call, { name }: DaemonRolloutStage): void => {
    const { nodes, daemonSet } = viewOf(call.process);
    if (!plan.plan || !plan.isSettled()) return;
    check('G3');
    const online = [...nodes].filter(
      ([, { ready, since, node }]) =>
        isEligible(node, daemonSet) &&
        (ready || (since !== undefined && clockOf(call.process) - since < tolerances.decision.ms)),
    );
    const hasOnline = (spec: RolloutPlanSpec): boolean =>
      online.some(
        ([node, { node: object }]) =>
          plan.stageOf(spec, { name: node, labels: object.metadata?.labels ?? {} }) === name,
      );
    if (!plan.plansOf(call).some(hasOnline))
      violation('G3', `${call.process} passes stage ${name}, of which no node is online`);
  };

  return {
    onAnswer: (process, query, answer) => answers.onAnswer(process, query, answer),
    onCommit({ type, resource, object }) {
      // Also where its DaemonSet, which names the plan, was deleted first.
      if (type === 'DELETED' && resource.plural === 'daemonrollouts' && object.metadata.name === rolloutName)
        last = undefined;
      if (!plan.isStaged()) return;
      if (resource.plural === 'rolloutplans') followEdit();
      if (resource.plural === 'nodes' || resource.plural === 'pods' || resource.plural === 'daemonsets') followSoak();
    },
    onSend(call) {
      if (call.verb !== 'update' || call.resource?.plural !== 'daemonrollouts' || call.ref?.name !== rolloutName)
        return;
      const { stages = [], target } = statusIn(call.body) ?? {};
      for (const stage of stages) {
        const { name, soakUntil, promotion } = stage;
        const asked = `${name} ${soakUntil}`;
        if (soakUntil !== undefined && !askedAt.has(asked)) askedAt.set(asked, now());
        if (plan.stageNamed(name)?.promotedAt !== undefined) continue;
        if (promotion === 'Gates') checkOnline(call, stage);
        const soakedSince = soak !== undefined && soak.until === soakUntil ? soak.askedAt : 0;
        if (promotion !== undefined) answers.onPromotion(call, target?.hash ?? '', stage, soakedSince);
      }
    },
    /** Every stage was reached. */
    onConverged() {
      if (plan.isStaged()) check('L9');
    },
    onUpdateSent(update) {
      if (!plan.isStaged()) return;
      check('G1');
      for (const found of findingsOf(update)) report.finding(found, update.what);
    },
    onExecuted(call) {
      if (call.resource?.plural !== 'daemonrollouts' || call.ref?.name !== rolloutName) return;
      const after = statusIn(call.body);
      if (!after || !plan.isStaged()) return;
      const before = last;
      last = after;
      answers.onStatus(call, before, after);
      if (before && after.target && before.target?.hash !== after.target.hash) {
        soak = undefined;
        const isRollback = before.lastComplete?.hash === after.target.hash;
        if (isRollback) check('G6');
        if (isRollback && !after.rollback)
          violation('G6', `${call.process} stages the way back to ${after.target.hash}`);
      }
      const isSame = before?.target?.hash === after.target?.hash && before?.rollout === after.rollout;
      checkStep({ call, before: isSame && before ? before : { ...after, stages: [] }, after });
    },
  };
};
