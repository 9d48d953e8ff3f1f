import type { DaemonRolloutStage, DaemonRolloutStatus, RolloutPlanSpec } from '../../../src/words/index.ts';
import type { Call } from '../../simulation/network/call.ts';
import type { MetricAnswer } from '../../simulation/plan/plan.ts';
import type { CheckContext } from '../check.ts';
import { promoteOf } from '../state/follow-plan.ts';
import { tolerances } from '../tolerances.ts';
import type { ProcessKnowledge } from './process-knowledge.ts';

/** Of each stage, this many answers are kept. */
const MOST_ANSWERS = 50;

/** What a process was told about a check. */
interface Told {
  process: string;
  answer: MetricAnswer;
  at: number;
}

/** G4: what the checks of stages were answered decides about their promotion. */
export const createStageAnswersCheck = ({ report, now }: CheckContext, knowledge: ProcessKnowledge) => {
  const { check, violation } = report;
  /** By revision and stage, the latest first. */
  const told = new Map<string, Told[]>();
  /** Promotions that were judged when a process first asked to write them. */
  const seenPromotions = new Set<string>();

  return {
    onAnswer(process: string, query: string, answer: MetricAnswer): void {
      const [, hash, stage] = /revision="(.*)",stage="(.*)"/.exec(query) ?? [];
      const key = `${hash} ${stage}`;
      told.set(key, [{ process, answer, at: now() }, ...(told.get(key) ?? [])].slice(0, MOST_ANSWERS));
    },
    /**
     * A process asks to write a promotion: a stage with a check is passed by an answer of this soak that holds, whoever
     * received it. `soakedSince`: when its soak was first asked for.
     */
    onPromotion(
      call: Call,
      hash: string,
      { name, promotedAt, promotion }: DaemonRolloutStage,
      soakedSince: number,
    ): void {
      const key = `${hash} ${name} ${promotedAt}`;
      const isByChecks = promotion === 'Gates' || promotion === 'Timeout';
      if (!isByChecks || seenPromotions.has(key)) return;
      seenPromotions.add(key);
      const specs = knowledge.plansOf(call);
      const hasCheck = (spec: RolloutPlanSpec): boolean => (promoteOf(spec, name)?.checks ?? []).length > 0;
      if (specs.length === 0 || !specs.every(hasCheck)) return;
      check('G4');
      const all = told.get(`${hash} ${name}`) ?? [];
      const own = all.filter(({ process }) => process === call.process);
      // What was answered a moment ago may not be part of the decision.
      const [latest, ...older] = own.length > 0 ? own : all;
      const counted = latest && now() - latest.at < tolerances.decision.ms ? [latest, ...older.slice(0, 1)] : [latest];
      if (!counted.some((each) => each?.answer === 'good' && each.at >= soakedSince - tolerances.decision.ms))
        violation(
          'G4',
          `${call.process} passes stage ${name}, whose check was last answered ${latest?.answer ?? 'never'}`,
        );
    },
    /** A status halts the rollout for a check: what has no result is no failure. */
    onHalt(process: string, { target }: DaemonRolloutStatus): void {
      const all = [...told].filter(([key]) => key.startsWith(`${target?.hash} `)).flatMap(([, each]) => each);
      if (!all.some(({ answer }) => answer === 'bad'))
        violation('G4', `${process} halts the rollout for a check, of which none has failed`);
    },
  };
};
