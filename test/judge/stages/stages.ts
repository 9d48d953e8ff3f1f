import type { DaemonRolloutStatus } from '../../../src/words/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { Check, CheckContext } from '../check.ts';
import type { PodState } from '../state/cluster-state.ts';
import type { PlanState } from '../state/follow-plan.ts';
import { gateFindings } from './gates.ts';
import { createGroupRule } from './groups.ts';
import type { ProcessKnowledge } from './process-knowledge.ts';
import { createStageAnswersCheck } from './stage-answers.ts';
import { judgeStageSteps } from './stage-steps.ts';
import type { StagedCluster } from './staged-cluster.ts';

const statusIn = (body: unknown): DaemonRolloutStatus | undefined =>
  (body as { status?: DaemonRolloutStatus } | undefined)?.status;

export interface StagesOptions {
  plan: PlanState;
  knowledge: ProcessKnowledge;
  works: (pod: PodState) => boolean;
  inFlight: () => Iterable<string>;
}

/** G1 to G8: stages of a rollout plan in the simulation, by what each process knew, and by what it was answered. */
export const createStagesCheck = (
  context: CheckContext,
  { plan, knowledge, works, inFlight }: StagesOptions,
): { check: Check; begin: (call: Call, pod: PodState, what: string) => () => void } => {
  const { report, actual, now, rolloutName } = context;
  const { check } = report;
  const answers = createStageAnswersCheck(context, knowledge);
  const cluster: StagedCluster = {
    state: actual,
    nodes: () => [...actual.nodes.values()].filter(({ eligible }) => eligible),
    isWell({ name, ready }) {
      const [pod, ...others] = actual.podsOn(name);
      return ready && pod !== undefined && others.length === 0 && pod.hash === actual.target && works(pod);
    },
    inFlight,
  };
  const groupFindings = createGroupRule({ plan, cluster, check });
  /** Whose status is judged. */
  let writer = '';
  const steps = judgeStageSteps({
    plan,
    cluster,
    check,
    report: (what, found) => report.finding(found, `${writer} ${what}`),
    onHalt: (after) => answers.onHalt(writer, after),
  });
  const isRollout = ({ resource, ref }: Call): boolean =>
    resource?.plural === 'daemonrollouts' && ref?.name === rolloutName;

  return {
    check: {
      onAnswer: (process, query, answer) => answers.onAnswer(process, query, answer),
      onCommit({ type, resource, object: { metadata } }) {
        const { plural } = resource;
        // Also where its DaemonSet, which names the plan, was deleted first.
        if (type === 'DELETED' && plural === 'daemonrollouts' && metadata.name === rolloutName)
          steps.onStatus(undefined);
        if (!plan.isStaged()) return;
        // An edit may bring nodes into a stage that are not at the target: coverage falls then, although no node has changed.
        if (plural === 'rolloutplans') steps.onChange(now());
        if (plural === 'nodes' || plural === 'pods' || plural === 'daemonsets')
          steps.onChange(now(), knowledge.isSettled());
      },
      onSend(call) {
        const status = statusIn(call.body);
        if (call.verb !== 'update' || !isRollout(call) || !status) return;
        writer = call.process;
        for (const { stage, soakedSince } of steps.onSent(status, { at: now(), known: knowledge.of(call) }))
          answers.onPromotion(call, status.target?.hash ?? '', stage, soakedSince);
      },
      /** Every stage was reached. */
      onConverged() {
        if (plan.isStaged()) check('L9');
      },
      onUpdateSent({ call, pod, node, what }) {
        if (!plan.isStaged()) return;
        check('G1');
        // The second write of an update that began before.
        if (pod.preparing || pod.gateClosed) return;
        for (const found of gateFindings(plan, node, knowledge.of(call))) report.finding(found, what);
      },
      onExecuted(call) {
        const status = statusIn(call.body);
        if (!isRollout(call) || !status || !plan.isStaged()) return;
        writer = call.process;
        if (steps.onStatus(status, { at: now(), known: knowledge.of(call) }))
          steps.onChange(now(), knowledge.isSettled());
      },
    },
    /** An update reaches the server. Returns what to run once it was executed. */
    begin(call, pod, what) {
      const node = actual.nodes.get(pod.node);
      const found = node && plan.isStaged() ? groupFindings(node, knowledge.of(call)) : [];
      return () => {
        for (const each of found) report.finding(each, what);
      };
    },
  };
};
