import { createBreakerCheck } from './breaker.ts';
import type { Check, CheckContext, NodeUpdate } from './check.ts';
import type { PodState } from './cluster-state.ts';
import { createHaltCheck } from './halt.ts';
import { createLeadersCheck } from './leaders.ts';
import { createProgressCheck } from './progress.ts';
import { createProgressLossCheck } from './progress-loss.ts';
import { createReversalCheck } from './reversal.ts';
import { createStalenessCheck } from './staleness.ts';
import { createStatusCheck } from './status.ts';
import { createWatchesCheck } from './watches.ts';
import { createWriteRateCheck } from './write-rate.ts';

/** What the judge of acts knows. */
export interface UpdateFacts {
  works: (pod: PodState) => boolean;
  isInFlight: (node: string) => boolean;
}

/** The judges that hear the same things, as one. */
export const createChecks = (context: CheckContext, { works, isInFlight }: UpdateFacts) => {
  const { actual, report } = context;
  const leaders = createLeadersCheck(context);
  const breaker = createBreakerCheck(context);
  const isWorking = (uid: string): boolean => {
    const pod = actual.pods.get(uid);
    return pod !== undefined && works(pod);
  };
  const judges: readonly Check[] = [
    leaders,
    breaker,
    createHaltCheck(context, { believers: leaders.believers, against: breaker.against }),
    createStalenessCheck(context),
    createReversalCheck(context),
    createProgressLossCheck(context, isWorking),
    createStatusCheck(context),
    createWatchesCheck(context),
    createWriteRateCheck(context),
    createProgressCheck(context, { believers: leaders.believers, against: breaker.against, isInFlight }),
  ];
  const all =
    <K extends keyof Check>(what: K) =>
    (...heard: Parameters<NonNullable<Check[K]>>): void => {
      for (const judge of judges) (judge[what] as ((...args: typeof heard) => void) | undefined)?.(...heard);
    };
  const acted = all('onUpdateExecuted');

  return {
    beforeCommit: all('beforeCommit'),
    onCommit: all('onCommit'),
    onSend: all('onSend'),
    onUpdateSent: all('onUpdateSent'),
    onExecuted: all('onExecuted'),
    /** An act reaches the server; `carriedOut` judges it by its own. Returns what to do once it was. */
    begins: (act: NodeUpdate, carriedOut: () => void): (() => void)[] => [
      () => {
        const before = report.violations.length;
        carriedOut();
        leaders.judge(
          act,
          report.violations.slice(before).map(({ invariant }) => invariant),
        );
        acted(act);
      },
    ],
    hooks: {
      onResponse: all('onResponse'),
      onFailure: all('onFailure'),
      onWatchOpened: all('onWatchOpened'),
      onWatchEvent: all('onWatchEvent'),
      onWatchClosed: all('onWatchClosed'),
      onOperation: all('onOperation'),
      onConverged: all('onConverged'),
    },
  };
};
