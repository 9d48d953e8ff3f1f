import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotation } from '../../words/index.ts';
import { policyWith } from '../testing/workbench.ts';
import { count, percent } from './int-or-percent.ts';
import {
  annotationWords,
  type ParsedPolicy,
  type Policy,
  parsePolicy,
  readOtaTerms,
  validatedPolicy,
} from './policy.ts';
import { readTerms } from './terms.ts';
import { formatPolicyError, type PolicyError } from './values.ts';

const parse = (
  annotations: Record<string, string>,
  updateStrategyType = 'OnDelete',
  minReadySeconds = 0,
): ParsedPolicy => parsePolicy({ annotations, updateStrategyType, minReadySeconds });
const auto = (annotations: Record<string, string> = {}): ParsedPolicy =>
  parse({ [annotation.strategy]: 'auto', ...annotations });
const policyOf = (parsed: ParsedPolicy): Policy => {
  assert.equal(parsed.kind, 'on', JSON.stringify(parsed));
  return parsed.kind === 'on' ? parsed.policy : policyWith();
};

describe('the strategy', () => {
  it('is off without an annotation, whatever else is set', () => {
    assert.deepEqual(parse({ [annotation.maxUnavailable]: 'abc' }), { kind: 'off' });
  });
  for (const [text, strategy] of [
    ['auto', 'auto'],
    ['Auto', 'auto'],
    ['AUTO', 'auto'],
    ['AdvancedRollingUpdate', 'auto'],
    ['advancedrollingupdate', 'auto'],
    [' ota ', 'ota'],
    ['OTA', 'ota'],
  ] as const)
    for (const key of [annotation.strategy, annotation.proposedStrategy])
      it(`${key}: "${text}" is ${strategy}`, () => assert.equal(policyOf(parse({ [key]: text })).strategy, strategy));

  for (const text of ['', 'rolling', 'auto,ota', 'constructor'])
    it(`refuses "${text}"`, () => {
      const parsed = parse({ [annotation.strategy]: text });
      assert.equal(parsed.kind, 'invalid');
      assert.deepEqual(
        parsed.errors.map(({ field, value }) => [field, value]),
        [[annotation.strategy, text]],
      );
    });

  it('prefers update-strategy and warns if upgrade-strategy differs', () => {
    const both = (proposed: string) => parse({ [annotation.strategy]: 'ota', [annotation.proposedStrategy]: proposed });
    const parsed = both('auto');
    assert.equal(policyOf(parsed).strategy, 'ota');
    assert.equal(parsed.kind === 'on' && parsed.warnings[0]?.field, annotation.proposedStrategy);
    assert.equal(policyOf(both('nonsense')).strategy, 'ota');
    const same = both('OTA');
    assert.deepEqual(same.kind === 'on' && same.warnings, []);
  });

  for (const type of ['RollingUpdate', ''])
    it(`is refused with the update strategy "${type}", with the field and both fixes`, () => {
      const parsed = parse({ [annotation.proposedStrategy]: 'auto' }, type);
      assert.equal(parsed.kind, 'invalid');
      const text = parsed.errors.map(formatPolicyError).join();
      for (const part of ['spec.updateStrategy.type', type, 'OnDelete', annotation.proposedStrategy])
        assert.ok(text.includes(part), text);
    });
});

describe('every other annotation', () => {
  it('has the documented default', () => {
    assert.deepEqual(policyOf(auto()), {
      strategy: 'auto',
      byApproval: false,
      maxUnavailable: percent(10),
      partition: count(0),
      nodeSelector: undefined,
      paused: false,
      recreate: undefined,
      settleMs: 10_000,
      progressDeadlineMs: 600_000,
      suspectWindowMs: 300_000,
      failureThreshold: percent(10),
      onFailure: 'halt',
      onImageDrift: 'warn',
      topologyKey: undefined,
      rolloutPlan: undefined,
      plan: undefined,
      predownloadTimeoutMs: 300_000,
      minReadyMs: 0,
      resume: undefined,
      firstWave: undefined,
      rolledBackFrom: undefined,
      otaDeadline: undefined,
      otaDeadlineSpreadMs: 3_600_000,
      maxSurge: count(0),
      percentOf: 'online',
      inPlace: false,
      predownload: undefined,
      predownloadParallelism: undefined,
      predownloadMinUpdated: undefined,
      words: annotationWords,
    } satisfies Policy);
    assert.equal(policyOf(parse({ [annotation.strategy]: 'auto' }, 'OnDelete', 7)).minReadyMs, 7_000);
  });

  const good: [string, string, Partial<Policy>][] = [
    [annotation.maxUnavailable, '0', { maxUnavailable: count(0) }],
    [annotation.maxUnavailable, '1', { maxUnavailable: count(1) }],
    [annotation.firstWave, '5', { firstWave: count(5) }],
    [annotation.firstWave, '100%', { firstWave: percent(100) }],
    [annotation.maxUnavailable, '10%', { maxUnavailable: percent(10) }],
    [annotation.maxUnavailable, '100%', { maxUnavailable: percent(100) }],
    [annotation.maxUnavailable, '0%', { maxUnavailable: percent(0) }],
    [annotation.partition, '5', { partition: count(5) }],
    [annotation.partition, '100%', { partition: percent(100) }],
    [annotation.paused, 'true', { paused: true }],
    [annotation.paused, 'False', { paused: false }],
    [annotation.settleSeconds, '0', { settleMs: 0 }],
    [annotation.settleSeconds, '60', { settleMs: 60_000 }],
    [annotation.progressDeadlineSeconds, '1', { progressDeadlineMs: 1_000 }],
    [annotation.suspectWindowSeconds, '0', { suspectWindowMs: 0 }],
    [annotation.failureThreshold, '1', { failureThreshold: count(1) }],
    [annotation.failureThreshold, '25%', { failureThreshold: percent(25) }],
    [annotation.onFailure, 'halt', { onFailure: 'halt' }],
    [annotation.onFailure, 'Rollback', { onFailure: 'rollback' }],
    [annotation.onImageDrift, 'Halt', { onImageDrift: 'halt' }],
    [annotation.topologyKey, 'topology.kubernetes.io/zone', { topologyKey: 'topology.kubernetes.io/zone' }],
    [annotation.resume, 'abc123', { resume: { hash: 'abc123', value: 'abc123' } }],
    [annotation.resume, 'abc123/2', { resume: { hash: 'abc123', value: 'abc123/2' } }],
    [annotation.rolledBackFrom, 'abc123', { rolledBackFrom: 'abc123' }],
    [annotation.predownloadTimeoutSeconds, '60', { predownloadTimeoutMs: 60_000 }],
    [annotation.predownload, 'off', { predownload: 'off' }],
    [annotation.predownload, 'Preferred', { predownload: 'preferred' }],
    [annotation.predownload, 'required', { predownload: 'required' }],
    [annotation.predownloadParallelism, '10', { predownloadParallelism: count(10) }],
    [annotation.predownloadParallelism, '25%', { predownloadParallelism: percent(25) }],
    [annotation.predownloadMinUpdatedReadyPods, '0', { predownloadMinUpdated: count(0) }],
    [annotation.predownloadMinUpdatedReadyPods, '5%', { predownloadMinUpdated: percent(5) }],
  ];
  for (const [field, value, change] of good)
    it(`${field}: accepts "${value}"`, () => assert.deepEqual(policyOf(auto({ [field]: value })), policyWith(change)));

  it('reads a node selector and includes it in the hash', () => {
    const [east, west] = [
      auto({ [annotation.nodeSelector]: 'site=east' }),
      auto({ [annotation.nodeSelector]: 'site=west' }),
    ];
    assert.equal(policyOf(east).nodeSelector?.[0]?.key, 'site');
    assert.notEqual(east.kind === 'on' && east.hash, west.kind === 'on' && west.hash);
  });

  const shares = ['', ' ', 'abc', '-1', '-10%', '101%', '1.5', '10.5%', '1e3', '٣'];
  const bad: [string, readonly string[]][] = [
    [annotation.maxUnavailable, shares],
    [annotation.partition, shares],
    [annotation.failureThreshold, [...shares, '0', '0%']],
    [annotation.paused, ['', 'yes', '1', 'truely']],
    [annotation.settleSeconds, ['', '-1', '1.5', '10s', 'NaN', '31536001', '99999999999']],
    [annotation.progressDeadlineSeconds, ['', '0', '-5', '10m', '31536001']],
    [annotation.suspectWindowSeconds, ['', '-1', '5m']],
    [annotation.onFailure, ['', 'undo', 'halt rollback']],
    [annotation.onImageDrift, ['', 'off', 'rollback']],
    [
      annotation.nodeSelector,
      ['a=b=c', 'a in b', '=', Array.from('abcdefghijklmnopqrstuvwxyzABCDEFG', (key) => `!${key}`).join()],
    ],
    [annotation.topologyKey, ['', 'a b', 'a=b', '!zone', '/', 'a,b']],
    [annotation.resume, ['', '/', 'Abc', 'a b', 'revision-1']],
    [annotation.predownload, ['', 'always', 'true']],
    [annotation.predownloadParallelism, ['', '0', '0%', '-1', '1.5', '101%', 'all']],
    [annotation.predownloadMinUpdatedReadyPods, ['', '-1', '101%', 'half']],
    [annotation.predownloadTimeoutSeconds, ['', '0', '5m']],
  ];
  for (const [field, values] of bad)
    for (const value of values)
      it(`${field}: refuses "${value}" with field, value and fix`, () => {
        const parsed = auto({ [field]: value });
        assert.equal(parsed.kind, 'invalid');
        assert.deepEqual(
          parsed.errors.map((error) => [error.field, error.value]),
          [[field, value]],
        );
        const [error] = parsed.errors;
        assert.ok(error && error.problem.length > 5 && error.remedy.length > 5);
        const text = formatPolicyError(error);
        assert.ok(text.startsWith(`${field} "${value}" ${error.problem}: `) && text.endsWith('.'), text);
      });

  it('is reported with all other invalid ones, and none is guessed', () => {
    const parsed = auto({ [annotation.maxUnavailable]: 'x', [annotation.partition]: 'y', [annotation.paused]: 'z' });
    assert.deepEqual(parsed.kind === 'invalid' && parsed.errors.map(({ value }) => value).toSorted(), ['x', 'y', 'z']);
  });

  it('is truncated to a readable length in the message', () => {
    const parsed = auto({ [annotation.maxUnavailable]: 'x'.repeat(5_000) });
    assert.ok(parsed.kind === 'invalid' && parsed.errors[0] && formatPolicyError(parsed.errors[0]).length < 400);
  });
});

describe('terms', () => {
  it('are the same for every kind of DaemonSet', () => {
    const annotations = { [annotation.predownload]: 'required', [annotation.settleSeconds]: 'x' };
    const errors: PolicyError[] = [];
    const terms = readTerms(annotations, errors);
    assert.deepEqual([terms.predownload, terms.settleMs], ['required', 10_000]);
    assert.deepEqual(
      errors.map(({ field }) => field),
      [annotation.settleSeconds],
    );
  });
});

describe('the hash of a policy', () => {
  it('does not depend on the names of the settings', () => {
    const policy = policyWith();
    const hashed = (words: Policy['words']) => {
      const judged = validatedPolicy({ ...policy, words }, [], []);
      return judged.kind === 'on' && judged.hash;
    };
    assert.equal(hashed({ ...annotationWords, partition: 'spec.partition' }), hashed(annotationWords));
  });

  const hash = (annotations: Record<string, string>): string => {
    const parsed = auto(annotations);
    return parsed.kind === 'on' ? parsed.hash : '';
  };
  it('is ten hex digits, and equal for equal policies', () => {
    assert.match(hash({}), /^[0-9a-f]{10}$/);
    assert.equal(hash({ [annotation.maxUnavailable]: ' 10% ' }), hash({}));
    assert.equal(hash({ [annotation.nodeSelector]: 'a=b,c' }), hash({ [annotation.nodeSelector]: 'c, a == b' }));
    assert.equal(hash({ unrelated: 'x' }), hash({}));
  });
  it('differs with every setting', () => {
    const all = [
      hash({}),
      hash({ [annotation.maxUnavailable]: '10' }),
      hash({ [annotation.partition]: '1' }),
      hash({ [annotation.paused]: 'true' }),
      hash({ [annotation.settleSeconds]: '11' }),
      hash({ [annotation.failureThreshold]: '3' }),
      hash({ [annotation.onFailure]: 'rollback' }),
      hash({ [annotation.topologyKey]: 'zone' }),
      hash({ [annotation.resume]: 'a' }),
    ];
    assert.equal(new Set(all).size, all.length);
  });
});

describe('readOtaTerms', () => {
  const AT = Date.parse('2026-11-21T17:00:00Z');
  const ota = { [annotation.strategy]: 'OTA' };
  const deadline = { [annotation.otaDeadline]: '2026-11-21T17:00:00Z' };

  it('is false without annotations, and without the strategy ota', () => {
    const none = { ota: false, deadline: undefined, spreadMs: 3_600_000, errors: [] };
    assert.deepEqual(readOtaTerms(undefined), none);
    assert.deepEqual(readOtaTerms({ [annotation.strategy]: 'auto', ...deadline }), none);
    assert.deepEqual(readOtaTerms({ [annotation.strategy]: 'what', ...deadline }), none);
  });

  it('reads either key of the strategy, the usual one first', () => {
    assert.equal(readOtaTerms(ota).ota, true);
    assert.equal(readOtaTerms({ [annotation.proposedStrategy]: 'ota' }).ota, true);
    assert.equal(readOtaTerms({ [annotation.strategy]: 'auto', [annotation.proposedStrategy]: 'ota' }).ota, false);
  });

  it('reads the deadline and the spread, which is an hour by default', () => {
    assert.deepEqual(readOtaTerms({ ...ota, ...deadline }), {
      ota: true,
      deadline: AT,
      spreadMs: 3_600_000,
      errors: [],
    });
    assert.equal(readOtaTerms({ ...ota, ...deadline, [annotation.otaDeadlineSpread]: '10m' }).spreadMs, 600_000);
  });

  it('has no deadline if a term is invalid, and reports it; errors elsewhere do not matter', () => {
    for (const bad of [{ ...deadline, [annotation.otaDeadlineSpread]: 'soon' }, { [annotation.otaDeadline]: 'soon' }]) {
      const terms = readOtaTerms({ ...ota, ...bad });
      assert.equal(terms.ota, true);
      assert.equal(terms.deadline, undefined);
      assert.equal(terms.errors.length, 1);
    }
    const elsewhere = readOtaTerms({ ...ota, ...deadline, [annotation.maxUnavailable]: 'many' });
    assert.deepEqual([elsewhere.deadline, elsewhere.errors], [AT, []]);
  });

  it('invalid terms make the policy invalid, with field, value and fix', () => {
    const parsed = parsePolicy({
      annotations: { ...ota, [annotation.otaDeadline]: 'tomorrow', [annotation.otaDeadlineSpread]: '1d' },
      updateStrategyType: 'OnDelete',
      minReadySeconds: 0,
    });
    assert.equal(parsed.kind, 'invalid');
    assert.deepEqual(
      parsed.errors.map(({ field, value }) => [field, value]),
      [
        [annotation.otaDeadline, 'tomorrow'],
        [annotation.otaDeadlineSpread, '1d'],
      ],
    );
    for (const { remedy } of parsed.errors) assert.match(remedy, /^set a (time|duration)/);
  });
});
