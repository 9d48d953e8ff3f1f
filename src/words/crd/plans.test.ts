import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planApi } from '../plan.ts';
import { type Full, inspect } from '../testing/schemas.ts';
import type { RolloutPlanSpec } from './plan-schema.ts';
import { planCrds, type RolloutApprovalSpec } from './plans.ts';

const plan: Full<Omit<RolloutPlanSpec, 'stages'>> & { stages: object[] } = {
  stages: [
    {
      name: 'canary',
      // Labels are keys of the user's own.
      nodes: {
        selector: { matchLabels: {}, matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] },
        count: 3,
      },
      maxUnavailable: '10%',
      failureThreshold: 2,
      promote: {
        coverage: '95%',
        minNodes: 2,
        soak: '24h',
        checks: ['errors'],
        approval: { required: true },
        timeout: '48h',
        onTimeout: 'hold',
      },
    } satisfies NonNullable<RolloutPlanSpec['stages']>[number],
  ],
  checks: [
    {
      name: 'errors',
      prometheus: {
        address: 'https://prometheus.example.org',
        query: 'up',
        condition: 'result.all(r, r == 1)',
        interval: '1m',
        failureLimit: 1,
        initialDelay: '5m',
        credentials: { secretName: 'prometheus' },
        tls: { caSecretName: 'ca', serverName: 'prometheus', insecureSkipVerify: false },
      },
      analysis: { templateName: 'errors', clusterTemplateName: 'errors', args: [{ name: 'a', value: 'b' }] },
    },
  ],
  windows: [{ days: ['Mon'], from: '22:00', to: '05:00', timeZone: 'node' }],
  windowsOnRollback: true,
  freezes: [{ from: '2026-12-20', to: '2027-01-02', reason: 'Christmas' }],
  maxUnavailablePer: [{ topologyKey: 'topology.kubernetes.io/zone', value: 1 }],
  after: [{ apiGroup: 'apps', kind: 'DaemonSet', name: 'driver', scope: 'Node' }],
  skipNodes: {
    selector: {
      matchLabels: { busy: 'yes' },
      matchExpressions: [{ key: 'job', operator: 'Exists', values: [] }],
    },
    taints: ['example.com/job'],
    conditions: ['MaintenanceInProgress'],
  },
};

const approval: Full<RolloutApprovalSpec> = {
  daemonSet: { apiGroup: 'apps', name: 'web' },
  revision: '6d8c',
  stage: 'canary',
  decision: 'Promote',
  approvedBy: 'ada@example.org',
  comment: 'Looks good.',
};

const full: Readonly<Record<string, object>> = {
  RolloutPlan: plan,
  ClusterRolloutPlan: plan,
  RolloutApproval: approval,
};

describe('the CRDs of stages', () => {
  it('have the names that clients use', () => {
    const { group, version, plan: plans, clusterPlan, approval: approvals } = planApi;
    assert.deepEqual(
      planCrds.map(({ metadata, spec }) => [metadata.name, spec.names.kind, spec.names.shortNames, spec.scope]),
      [
        [`${plans.plural}.${group}`, plans.kind, [plans.shortName], 'Namespaced'],
        [`${clusterPlan.plural}.${group}`, clusterPlan.kind, [clusterPlan.shortName], 'Cluster'],
        [`${approvals.plural}.${group}`, approvals.kind, [approvals.shortName], 'Namespaced'],
      ],
    );
    for (const { spec } of planCrds)
      assert.deepEqual(
        spec.versions.map(({ name }) => name),
        [version],
      );
  });

  for (const { spec } of planCrds) {
    const { kind } = spec.names;
    const [version] = spec.versions;
    assert.ok(version);
    const { issuesOf, walk } = inspect(version.schema.openAPIV3Schema.properties.spec, 'spec');

    it(`${kind} accepts every field`, () => assert.deepEqual(issuesOf(full[kind]), []));

    it(`${kind} says in every rule what to do`, () =>
      walk((schema, path) => {
        for (const { message, rule } of schema['x-kubernetes-validations'] ?? []) {
          assert.match(message, /(: |must be|must have|set either|need at least)/, path);
          assert.doesNotMatch(message, /\.$/, path);
          assert.ok(rule.includes('self'), path);
        }
      }));

    it(`${kind} has no costly rule about an integer or a text: Kubernetes before 1.34 takes that text for 3 MB`, () => {
      let rules = 0;
      walk((schema, path) => {
        if (!schema['x-kubernetes-int-or-string']) return;
        for (const { rule } of schema['x-kubernetes-validations'] ?? []) {
          rules += 1;
          assert.doesNotMatch(rule, /self\.\w+\(/, path);
        }
      });
      assert.equal(rules, kind === 'RolloutApproval' ? 0 : 5);
    });
  }
});
