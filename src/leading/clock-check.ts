import type { ClockSkew, RequestReport } from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';

/**
 * Tells the operator when the clock of this process is wrong, by the Date of the API server's responses: conditions and Events then
 * carry wrong times, and pods seem to be ready for too long or too short a time. Plans go by the API server's clock.
 */
export const createClockCheck = (
  program: string,
  skew: ClockSkew,
  log: Env['log'],
  show: (aheadSeconds: number) => void,
) => {
  let isWrong = false;
  return (report: Pick<RequestReport, 'serverTime' | 'receivedAt' | 'seconds'>): void => {
    skew.observe(report);
    const aheadSeconds = Math.round(skew.aheadMs() / 1000);
    show(aheadSeconds);
    if (isWrong === (aheadSeconds !== 0)) return;
    isWrong = !isWrong;
    if (isWrong)
      log.error(`the clock differs from the API server's: set the clock of this machine, then restart the ${program}`, {
        aheadSeconds,
      });
    else log.info("the clock agrees with the API server's again");
  };
};
