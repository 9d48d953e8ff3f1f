import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PrometheusCheck, RolloutPlanSpec } from '../words/index.ts';
import { checkNeeds, planErrors } from './judge.ts';

const rules = { prometheusAddress: undefined, allowedAddresses: ['https://allowed'] };

/** A stage asks `asked`, and nobody `spare`. */
const specOf = (asked: Partial<PrometheusCheck>, spare: Partial<PrometheusCheck> = {}): RolloutPlanSpec => {
  const check = (name: string, change: Partial<PrometheusCheck>) => ({
    name,
    prometheus: { query: 'up', condition: 'result.all(r, r > 0.0)', ...change },
  });
  return {
    stages: [{ name: 'lab', promote: { checks: ['asked'] } }],
    checks: [check('spare', spare), check('asked', asked)],
  };
};
const fieldsOf = (spec: RolloutPlanSpec, cluster = false, by?: typeof rules): string[] =>
  planErrors(spec, cluster, by).map(({ field }) => field);

describe('the checks of a plan', () => {
  it('are judged by what they say, also those that no stage names', () => {
    const spec = specOf({ query: '${typo}' }, { condition: 'result' });
    assert.deepEqual(fieldsOf(spec), ['spec.checks[0].prometheus.condition', 'spec.checks[1].prometheus.query']);
  });

  it('may ask the servers that the rules permit; without the rules, and where no stage asks, that does not matter', () => {
    const address = ['spec.checks[1].prometheus.address'];
    assert.deepEqual(fieldsOf(specOf({}), false, rules), address);
    assert.deepEqual(fieldsOf(specOf({ address: 'https://other' }), false, rules), address);
    assert.deepEqual(fieldsOf(specOf({ address: 'https://other' }), true, rules), []);
    assert.deepEqual(fieldsOf(specOf({ address: 'https://allowed/a' }), false, rules), []);
    assert.deepEqual(fieldsOf(specOf({})), []);
    const [error] = planErrors(specOf({ address: 'https://me:secret@other' }), false, rules);
    assert.equal(error?.value, 'https://...@other');
  });

  it('need TLS where they say how it is verified', () => {
    const byManager = { prometheusAddress: 'http://prom', allowedAddresses: [] };
    const [error, ...others] = planErrors(specOf({ tls: { serverName: 'prom' } }), false, byManager);
    assert.deepEqual([error?.field, error?.value, others], ['spec.checks[1].prometheus.tls', 'http://prom', []]);
  });

  it('need the Secrets that those of stages name', () => {
    const secrets = { credentials: { secretName: 'metrics' }, tls: { caSecretName: 'ca' } };
    assert.deepEqual(
      checkNeeds(specOf(secrets), 'shop').map(({ field, namespace, name, what }) => [field, namespace, name, what]),
      [
        ['spec.checks[1].prometheus.credentials.secretName', 'shop', 'metrics', 'credentials'],
        ['spec.checks[1].prometheus.tls.caSecretName', 'shop', 'ca', 'authority'],
      ],
    );
    assert.deepEqual(checkNeeds(specOf({}, secrets), 'shop'), []);
  });

  it('need the templates that those of stages name, of the cluster or of the namespace of the DaemonSet', () => {
    const spec: RolloutPlanSpec = {
      stages: [{ name: 'lab', promote: { checks: ['own', 'all'] } }],
      checks: [
        { name: 'own', analysis: { templateName: 'errors' } },
        { name: 'all', analysis: { clusterTemplateName: 'everywhere' } },
      ],
    };
    assert.deepEqual(checkNeeds(spec, 'shop'), [
      { field: 'spec.checks[0].analysis.templateName', namespace: undefined, name: 'errors', what: 'template' },
      {
        field: 'spec.checks[1].analysis.clusterTemplateName',
        namespace: undefined,
        name: 'everywhere',
        what: 'clusterTemplate',
      },
    ]);
  });
});
