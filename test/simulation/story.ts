import { type InvariantId, invariants } from '../invariants/index.ts';
import type { Violation } from '../judge/report.ts';
import { nodesIn, processIn } from '../judge/witness.ts';
import { type Plan, START } from './plan/plan.ts';
import type { Outcome } from './run-plan.ts';

const RENEWALS = / (get|update) leases /;
/** Of the last lines about the nodes of a violation, this many are repeated with it. */
const MOST_LINES = 40;

interface Line {
  /** Since the start of the plan. */
  ms: number;
  what: string;
}

const toLine = (line: string): Line => {
  const [, ms = '0', what = ''] = /^ *([\d.]+) (.*)$/.exec(line) ?? [];
  return { ms: Number(ms), what };
};
const format = ({ ms, what }: Line): string => `${(ms / 1000).toFixed(3).padStart(10)} ${what}`;

/** The last calls and events about the nodes, their pods and the DaemonSet, and what was done to them. */
const storyOf = (lines: readonly Line[], { text, at }: Violation): Line[] => {
  const nodes = nodesIn(text);
  const process = processIn(text);
  const before = lines.filter(({ ms }) => ms <= at - START);
  const pods = new Set(
    before.flatMap(({ what }) => {
      const [, pod = '', node = ''] = /^ADDED pods (\S+) \S+ on (\S+)$/.exec(what) ?? [];
      return nodes.includes(node) ? [pod] : [];
    }),
  );
  const isAbout = (what: string): boolean => {
    const words = what.split(' ');
    if (words.some((word) => nodes.includes(word) || pods.has(word))) return true;
    if (/ (daemonsets|controllerrevisions|rolloutplans|rolloutapprovals) /.test(what)) return true;
    // A call of a manager that is not about its pods says little, unless it is the one that is judged.
    if (/ daemonrollouts /.test(what)) return process === undefined || words[0] === process || words[0] === 'MODIFIED';
    return words[0] === '-' && (!what.includes('"node":') || nodes.some((node) => what.includes(`"${node}"`)));
  };
  return before.filter(({ what }) => isAbout(what)).slice(-MOST_LINES);
};

/** Why a plan is red: the rule, the story of the nodes that it is about, what was known then, and who is rather at fault. */
const explain = (lines: readonly Line[], violation: Violation): string[] => {
  const { invariant, at, text, testimony = [] } = violation;
  const rule: string | undefined = invariants[invariant as InvariantId];
  return [
    `${invariant} is broken at ${((at - START) / 1000).toFixed(3)}: ${text}`,
    ...(rule === undefined ? [] : [`  the rule: ${rule}`]),
    '  what happened before, as far as it is about this:',
    ...storyOf(lines, violation).map((line) => `  ${format(line)}`),
    ...(testimony.length === 0 ? [] : ['  what was so then, and what was known of it:']),
    ...testimony.map((each) => `    ${each}`),
  ];
};

/** What happened, for a person: time in seconds, who, what, and what came of it; and each invariant that was broken, explained. */
export const formatHistory = (plan: Plan, { lines, violations }: Pick<Outcome, 'lines' | 'violations'>): string => {
  const { steps, ...rest } = plan;
  const parsed = lines.map(toLine);
  // What follows from the first violation of an invariant seldom tells more.
  const firsts = violations.filter(
    ({ invariant }, index) => violations.findIndex((each) => each.invariant === invariant) === index,
  );
  return [
    `a plan of ${steps.length} steps: ${JSON.stringify(rest)}`,
    ...parsed.filter(({ what }) => !RENEWALS.test(` ${what}`)).map(format),
    ...violations.map(({ invariant, text }) => `${invariant} is broken: ${text}`),
    ...firsts.flatMap((violation) => ['', ...explain(parsed, violation)]),
  ].join('\n');
};
