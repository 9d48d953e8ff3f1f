import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { alias, annotation } from '../../words/index.ts';
import { count } from './int-or-percent.ts';
import { type ParsedPolicy, type Policy, parsePolicy, readOtaTerms } from './policy.ts';
import { formatPolicyError } from './values.ts';

const parse = (annotations: Record<string, string>): ParsedPolicy =>
  parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
const policyOf = (parsed: ParsedPolicy): Policy => {
  assert.equal(parsed.kind, 'on', JSON.stringify(parsed));
  if (parsed.kind !== 'on') throw new Error('unreachable');
  return parsed.policy;
};

describe('an alias', () => {
  it('opts in and sets the budget like the key of OpenYurt', () => {
    const parsed = parse({ [alias.strategy]: 'ota', [alias.maxUnavailable]: '2' });
    const { strategy, maxUnavailable, words } = policyOf(parsed);
    assert.deepEqual([strategy, maxUnavailable, words.maxUnavailable], ['ota', count(2), alias.maxUnavailable]);
    assert.equal(readOtaTerms({ [alias.strategy]: 'ota' }).ota, true);
  });

  it('is named when its value is invalid', () => {
    const parsed = parse({ [alias.strategy]: 'sometimes', [alias.maxUnavailable]: 'x' });
    assert.deepEqual(parsed.kind === 'invalid' && parsed.errors.map(({ field }) => field), Object.values(alias));
  });

  it('may repeat what the other key says, in other words', () => {
    const parsed = parse({
      [annotation.strategy]: 'AdvancedRollingUpdate',
      [alias.strategy]: 'auto',
      [annotation.maxUnavailable]: '5',
      [alias.maxUnavailable]: ' 5 ',
    });
    assert.deepEqual(policyOf(parsed).maxUnavailable, count(5));
  });

  for (const [setting, second, one, other] of [
    [annotation.maxUnavailable, alias.maxUnavailable, '1', '50%'],
    [annotation.strategy, alias.strategy, 'auto', 'ota'],
    [annotation.strategy, alias.strategy, 'ota', 'auto'],
    [annotation.strategy, alias.strategy, 'ota', 'nonsense'],
  ] as const)
    it(`holds the rollout when ${setting}=${one} and ${second}=${other}`, () => {
      const parsed = parse({ [annotation.strategy]: 'auto', [setting]: one, [second]: other });
      assert.deepEqual(parsed.kind === 'invalid' && parsed.errors.map(formatPolicyError), [
        `${second} "${other}" differs from ${setting} "${one}", which is the same setting: remove one of the two.`,
      ]);
      assert.equal(readOtaTerms({ [setting]: one, [second]: other }).ota, false);
    });

  it("wins over the proposal's key, with a warning", () => {
    const parsed = parse({ [alias.strategy]: 'ota', [annotation.proposedStrategy]: 'auto' });
    assert.equal(policyOf(parsed).strategy, 'ota');
    assert.equal(parsed.kind === 'on' && parsed.warnings[0]?.problem, `differs from ${alias.strategy}, which wins`);
  });
});
