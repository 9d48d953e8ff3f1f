import type { Plan } from './plan/plan.ts';
import type { Outcome } from './run-plan.ts';

const RENEWALS = / (get|update) leases /;

/** What happened, for a person: time in seconds, who, what, and what came of it. */
export const formatHistory = (plan: Plan, { lines, violations }: Outcome): string => {
  const { steps, ...rest } = plan;
  return [
    `a plan of ${steps.length} steps: ${JSON.stringify(rest)}`,
    ...lines
      .filter((line) => !RENEWALS.test(line))
      .map((line) => {
        const [, ms = '0', what = ''] = /^ *([\d.]+) (.*)$/.exec(line) ?? [];
        return `${(Number(ms) / 1000).toFixed(3).padStart(10)} ${what}`;
      }),
    ...violations.map(({ invariant, text }) => `${invariant} is broken: ${text}`),
  ].join('\n');
};
