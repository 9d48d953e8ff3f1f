import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { formatPolicyError } from '../rollout/index.ts';
import type { PlanCheck, PrometheusCheck } from '../words/index.ts';
import { checkProblems } from './problems.ts';

const prometheus: PrometheusCheck = { query: 'up{ds="${daemonSet}"}', condition: 'result.all(r, r > 0.0)' };

describe('a check without problems', () => {
  const cases: Omit<PlanCheck, 'name'>[] = [
    { prometheus },
    {
      prometheus: { ...prometheus, address: 'https://prom/a', interval: '1h30m', initialDelay: '0s', failureLimit: 3 },
    },
    { analysis: { templateName: 'errors', args: [{ name: 'ds', value: '${daemonSet}' }] } },
    { analysis: { clusterTemplateName: 'errors' } },
  ];
  for (const check of cases)
    it(JSON.stringify(check), () => assert.deepEqual(checkProblems({ name: 'c', ...check }), []));
});

describe('a check with a problem names the field and the remedy', () => {
  const changed = (change: Partial<PrometheusCheck>) => ({ prometheus: { ...prometheus, ...change } });
  const cases: [Omit<PlanCheck, 'name'>, RegExp][] = [
    [{}, /set either prometheus or analysis/],
    [{ prometheus, analysis: { templateName: 'x' } }, /set either prometheus or analysis/],
    [changed({ address: 'prom' }), /^prometheus.address .*give one such as/],
    [changed({ query: ' ' }), /^prometheus.query " " is empty: give one/],
    [changed({ query: 'up{n="${node}"}' }), /^prometheus.query .*"\$\{node\}", which is not a placeholder: use/],
    [changed({ condition: 'result <' }), /^prometheus.condition "result <" is not a CEL expression .*: write one/],
    [changed({ interval: '1 day' }), /^prometheus.interval "1 day" is not a duration.*set one/],
    [changed({ interval: '100ms' }), /^prometheus.interval "100ms" is too short: set at least 1s/],
    [changed({ initialDelay: 'soon' }), /^prometheus.initialDelay "soon" is not a duration.*set one/],
    [changed({ failureLimit: 1.5 }), /^prometheus.failureLimit "1.5" is not a whole number/],
    [{ analysis: {} }, /set either templateName or clusterTemplateName/],
    [{ analysis: { templateName: 'a', clusterTemplateName: 'b' } }, /set either templateName or clusterTemplateName/],
    [
      { analysis: { templateName: 'a', args: [{ name: 'x', value: '${y}' }] } },
      /^analysis.args\[0\].value "\$\{y\}" .*use \$\{namespace\}/,
    ],
  ];
  for (const [check, expected] of cases)
    it(JSON.stringify(check), () => {
      const problems = checkProblems({ name: 'c', ...check }).map(formatPolicyError);
      assert.equal(problems.length, 1, problems.join('\n'));
      assert.match(problems[0] ?? '', expected);
    });

  it('all of them at once', () =>
    assert.equal(checkProblems({ name: 'c', ...changed({ condition: '', interval: 'x', query: '${a' }) }).length, 3));
});
