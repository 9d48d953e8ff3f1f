import type { DaemonRolloutStage, DaemonRolloutStatus, RolloutPlanSpec } from '../../../src/words/index.ts';
import {
  closedOn,
  type Finding,
  followsPromotions,
  isInOpenStage,
  isInWindow,
  NODE_ZONE_KEY,
} from '../../invariants/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext, NodeUpdate } from '../check.ts';
import { isEligible, type PodState } from '../state/cluster-state.ts';
import type { PlanState } from '../state/plan-state.ts';
import { tolerances } from '../tolerances.ts';
import { createStageAnswersCheck } from './stage-answers.ts';
import { judgeStageSteps } from './stage-steps.ts';

const statusIn = (body: unknown): DaemonRolloutStatus | undefined =>
  (body as { status?: DaemonRolloutStatus } | undefined)?.status;

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
  /** Whose status is judged. */
  let writer = '';
  const steps = judgeStageSteps({
    check,
    report: (what, found) => report.finding(found, `${writer} ${what}`),
    countNodes: () => actual.nodes.size,
    decidedBy: (_, stage, decision) => plan.decisions(stage, decision).flatMap(({ approvedBy }) => approvedBy ?? []),
  });
  let last: DaemonRolloutStatus | undefined;
  /** By stage and end: when a process first asked to write that soak, which the API server may have refused for a while. */
  const askedAt = new Map<string, number>();
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
    if (steps.soak && (!spec || !plan.isSettled() || !isWell(steps.soak.stage, spec))) steps.noteUnwell(now());
  };
  /** An edit may bring nodes into the stage that are not at the target: coverage falls then, although no node has changed. */
  const followEdit = (): void => {
    const spec = plan.plan;
    if (steps.soak && (!spec || !isWell(steps.soak.stage, spec))) steps.noteUnwell(now());
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
        const soakedSince = steps.soak?.until === soakUntil ? (steps.soak?.askedAt ?? 0) : 0;
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
      writer = call.process;
      const slackMs = slackOf(writer);
      const began = steps.soak;
      steps.onWrite({
        before,
        after,
        at: now(),
        plans: plan.plansOf(call),
        mayHaveNone: false,
        mayForget: () => false,
        offsetMs: offsetOf(writer),
        slackMs: { begin: slackMs, end: slackMs, unwell: 0 },
        askedAt: (stage, soakUntil) => askedAt.get(`${stage} ${soakUntil}`) ?? now(),
      });
      if (steps.soak !== began) followSoak();
    },
  };
};
