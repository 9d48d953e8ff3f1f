import { createBreakerJudge } from './breaker.ts';
import { createHaltingJudge } from './halting.ts';
import { createHonestyJudge } from './honesty.ts';
import type { Court, Judge, ManagersAct } from './judge.ts';
import { createLeadersJudge } from './leaders.ts';
import { createPaceJudge } from './pace.ts';
import { createStaleJudge } from './stale.ts';
import { createTidesJudge } from './tides.ts';
import type { TruePod } from './truth.ts';
import { createTurningBackJudge } from './turning-back.ts';
import { createWatchesJudge } from './watches.ts';
import { createWritesJudge } from './writes.ts';

/** What the judge of acts knows. */
export interface ActsKnown {
  works: (pod: TruePod) => boolean;
  isInFlight: (node: string) => boolean;
}

/** The judges that hear the same things, as one. */
export const createBench = (court: Court, { works, isInFlight }: ActsKnown) => {
  const { truth, report } = court;
  const leaders = createLeadersJudge(court);
  const breaker = createBreakerJudge(court);
  const isWorking = (uid: string): boolean => {
    const pod = truth.pods.get(uid);
    return pod !== undefined && works(pod);
  };
  const judges: readonly Judge[] = [
    leaders,
    breaker,
    createHaltingJudge(court, { believers: leaders.believers, against: breaker.against }),
    createStaleJudge(court),
    createTurningBackJudge(court),
    createTidesJudge(court, isWorking),
    createHonestyJudge(court),
    createWatchesJudge(court),
    createWritesJudge(court),
    createPaceJudge(court, { believers: leaders.believers, against: breaker.against, isInFlight }),
  ];
  const all =
    <K extends keyof Judge>(what: K) =>
    (...heard: Parameters<NonNullable<Judge[K]>>): void => {
      for (const judge of judges) (judge[what] as ((...args: typeof heard) => void) | undefined)?.(...heard);
    };
  const acted = all('acted');

  return {
    beforeCommit: all('beforeCommit'),
    commit: all('commit'),
    leaves: all('leaves'),
    sends: all('sends'),
    carriedOut: all('carriedOut'),
    /** An act reaches the server; `carriedOut` judges it by its own. Returns what to do once it was. */
    begins: (act: ManagersAct, carriedOut: () => void): (() => void)[] => [
      () => {
        const before = report.breaches.length;
        carriedOut();
        leaders.judge(
          act,
          report.breaches.slice(before).map(({ rule }) => rule),
        );
        acted(act);
      },
    ],
    hooks: {
      learns: all('learns'),
      fails: all('fails'),
      opens: all('opens'),
      hears: all('hears'),
      closes: all('closes'),
      deed: all('deed'),
      over: all('over'),
    },
  };
};
