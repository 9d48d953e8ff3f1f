// A rule for the linter: every regular expression takes linear time on every text. One that backtracks, or that is tried
// again from each character of a long run, lets whoever sends a megabyte stop the process for minutes.
// It does not see alternatives that match the same text, as in (a|a)*: test/hostile-text does.

import { analyse } from 'scslre';

/** What oxlint passes to a plugin, as far as it is used here: it publishes no types of it. */
interface Context {
  report(problem: { node: unknown; message: string }): void;
}
interface Literal {
  regex?: { pattern: string; flags: string };
}

/** Undefined: it takes linear time. */
export const whyNotLinear = (source: string, flags: string): string | undefined => {
  const [report] = analyse({ source, flags }, { maxReports: 1 }).reports;
  if (!report) return undefined;
  const run = `a long run of ${JSON.stringify(report.character.pick)}`;
  return report.type === 'Move'
    ? `This is tried again from each character of ${run}: anchor it, as by a lookbehind, or search without it.`
    : `This can divide ${run} in many ways: let only one part of it match them.`;
};

const patterns = {
  create: (context: Context) => {
    const atRunTime = (node: unknown): void =>
      context.report({
        node,
        message: 'Nobody can tell how long a pattern made at run time takes: write a literal, or search without it.',
      });
    return {
      Literal(node: Literal) {
        const message = node.regex && whyNotLinear(node.regex.pattern, node.regex.flags);
        if (message !== undefined) context.report({ node, message });
      },
      'NewExpression[callee.name="RegExp"]': atRunTime,
      'CallExpression[callee.name="RegExp"]': atRunTime,
    };
  },
};

// oxlint-disable-next-line import/no-default-export -- oxlint takes a plugin from there.
export default { meta: { name: 'linear' }, rules: { patterns } };
