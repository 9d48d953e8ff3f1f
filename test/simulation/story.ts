import type { Plan } from './plan.ts';
import type { Outcome } from './play.ts';

const RENEWALS = / (get|update) leases /;

/** What happened, for a person: time in seconds, who, what, and what came of it. */
export const story = (plan: Plan, { lines, breaches }: Outcome): string => {
  const { happenings, ...rest } = plan;
  return [
    `a plan of ${happenings.length} happenings: ${JSON.stringify(rest)}`,
    ...lines
      .filter((line) => !RENEWALS.test(line))
      .map((line) => {
        const [, ms = '0', what = ''] = /^ *([\d.]+) (.*)$/.exec(line) ?? [];
        return `${(Number(ms) / 1000).toFixed(3).padStart(10)} ${what}`;
      }),
    ...breaches.map(({ rule, text }) => `${rule} is broken: ${text}`),
  ].join('\n');
};
