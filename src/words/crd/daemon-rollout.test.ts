import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  checkStates,
  type DaemonRollout,
  type DaemonRolloutStage,
  type DaemonRolloutStatus,
  daemonRolloutLimits,
  rolloutResults,
  stagePromotions,
  stageWaits,
} from '../daemon-rollout.ts';
import { type Full, inspect, pathsOf } from '../testing/schemas.ts';
import { daemonRolloutCrd } from './daemon-rollout.ts';
import { daemonRolloutStatusSchema } from './status.ts';

type RequiredKeys<T> = { [K in keyof T]-?: T extends Record<K, T[K]> ? K : never }[keyof T];

/** No optional field given, at any depth. */
type Least<T> = T extends string | number | boolean
  ? T
  : T extends readonly (infer Item)[]
    ? Least<Item>[]
    : { [K in RequiredKeys<T>]: Least<T[K]> };

/** No optional field given below the first level. */
type Sparse<T> = { [K in keyof T]-?: Least<NonNullable<T[K]>> };

const time = '2026-03-01T10:00:00Z';

const recorded = { revision: 'web-6d8c', hash: '6d8c', number: 4, images: ['web:2'] };

const least = {
  observedGeneration: 1,
  daemonSetGeneration: 3,
  policyHash: '0a1b2c3d4e',
  strategy: 'auto',
  leader: 'manager-1_0a1b2c',
  summary: '12 of 15 updated',
  target: { revision: 'web-6d8c', hash: '6d8c', number: 4 },
  rollout: 2,
  updatesStarted: 12,
  startedAt: time,
  finishedAt: time,
  estimatedFinishAt: time,
  nodes: {
    eligible: 15,
    online: 14,
    offlineOutdated: 1,
    updated: 12,
    updating: 1,
    outdated: 1,
    broken: 0,
    offline: 1,
    settling: 0,
    held: 0,
    failed: 0,
    missing: 0,
  },
  causes: [{ phase: 'updated', cause: 'current', count: 12 }],
  budget: { maxUnavailable: '10%', nodes: 2, inUse: 1, inFlight: 1 },
  breaker: { failures: 0, suspects: 1, threshold: 3 },
  owners: { asked: 1, nodes: ['n1'] },
  images: { pulled: 1, pulling: 1, waiting: 0, failed: 1, failing: [{ node: 'n1', message: 'no such image' }] },
  failing: [{ node: 'n1', cause: 'crash-loop', message: 'It crashes.', since: time }],
  stragglers: [{ node: 'n2', lastSeen: time }],
  allNodesUpdatedAt: time,
  conditions: [{ type: 'Complete', status: 'False', reason: 'InProgress', message: '', lastTransitionTime: time }],
  halted: { at: time, reason: 'Failures', nodes: ['n1'] },
  resumed: '6d8c/1',
  lastComplete: { revision: 'web-5f7b', hash: '5f7b' },
  reservations: [{ node: 'n2', podUID: 'u', rollout: 2, at: '2026-03-01T10:00:00.250Z', carriedOut: false }],
  forgiven: ['n3'],
  history: [{ rollout: 2, result: 'InProgress', to: recorded, nodes: 12, failures: 0 }],
  notifications: {
    sent: ['completed'],
    pending: [
      {
        kind: 'halted',
        rollout: 2,
        revision: 'web-6d8c',
        at: time,
        message: 'It is halted.',
        nodes: { eligible: 15, online: 14, updated: 12, failed: 1, offline: 1 },
        targets: ['chat'],
      },
    ],
  },
  plan: 'cluster/rings',
  rollback: true,
  stages: [{ name: 'lab', state: 'Open', nodes: { total: 3, online: 2, updated: 1 } }],
} satisfies Sparse<DaemonRolloutStatus>;

const full: Full<DaemonRolloutStatus> = {
  ...least,
  budget: { ...least.budget, maxSurge: '0' },
  strategy: 'ota',
  causes: [{ phase: 'failed', cause: 'crash-loop', count: 1 }],
  owners: { ...least.owners, deadline: time, deadlineSpreadSeconds: 3600 },
  halted: { at: time, reason: 'RolledBack', nodes: [], check: 'canary/errors' },
  conditions: least.conditions.map((condition) => ({ ...condition, observedGeneration: 1 })),
  notifications: {
    ...least.notifications,
    pending: least.notifications.pending.map((each) => ({ ...each, reason: 'Failures', stage: 'canary' })),
  },
  reservations: least.reservations.map((reservation) => ({
    ...reservation,
    kind: 'in-place' as const,
    podRevision: '6d8c',
    podName: 'web-x7k2p',
    podResourceVersion: '77',
    repairs: { kind: 'in-place' as const, podUID: 'u', rollout: 1, at: time },
  })),
  history: least.history.map((entry) => ({
    ...entry,
    result: 'Undone' as const,
    from: recorded,
    changedBy: { manager: 'kubectl-set', operation: 'Update', time },
    startedAt: time,
    finishedAt: time,
    allNodesUpdatedAt: time,
    haltedAt: time,
    endedAt: time,
    stages: [
      {
        name: 'canary',
        openedAt: time,
        promotedAt: time,
        promotion: 'ByHand' as const,
        decisions: [{ decision: 'Promote' as const, by: 'ada@example.org', at: time, comment: 'hotfix' }],
      },
    ],
  })),
  stages: [
    {
      name: 'canary',
      state: 'Passed',
      nodes: { total: 3, online: 2, updated: 2 },
      openedAt: time,
      coveredAt: time,
      soakUntil: time,
      awaits: { reason: 'Checks', message: 'The check errors has no result.' },
      checks: [{ name: 'errors', state: 'NoResult', failures: 1, at: time, message: 'No data.' }],
      promotedAt: time,
      promotion: 'ByHand',
      promotedBy: 'ada@example.org',
      sample: '0a1b2c3d4e5f6a7b',
    },
  ],
};

const { accepts, issuesOf, walk, fields, requiredFields } = inspect(daemonRolloutStatusSchema, 'status');
const pathsIn = (value: unknown): string[] => pathsOf(value, 'status');

describe('the schema of the status and its type', () => {
  it('agree on every field', () => {
    assert.deepEqual(issuesOf(full), []);
    assert.deepEqual(pathsIn(full), fields);
  });

  it('agree on which fields are required', () => {
    assert.deepEqual(issuesOf(least), []);
    const present = pathsIn(least);
    const nested = present.filter((path) => path.split('.').length > 2);
    const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('.')).replace(/\[\]$/, '');
    const required = requiredFields.filter((path) => present.includes(parentOf(path)));
    assert.deepEqual(nested, required);
    assert.ok(accepts({}), 'a status may have any subset of its fields');
  });

  it('include every value of their unions', () => {
    for (const result of rolloutResults) assert.ok(accepts({ history: [{ ...full.history[0], result }] }));
    const [stage] = full.stages;
    for (const state of ['Passed', 'Open', 'Closed'] satisfies DaemonRolloutStage['state'][])
      assert.ok(accepts({ stages: [{ ...stage, state }] }));
    for (const reason of stageWaits) assert.ok(accepts({ stages: [{ ...stage, awaits: { reason, message: '' } }] }));
    for (const promotion of stagePromotions) assert.ok(accepts({ stages: [{ ...stage, promotion }] }));
    for (const state of checkStates)
      assert.ok(accepts({ stages: [{ ...stage, checks: [{ name: 'a', state, failures: 0 }] }] }));
    for (const strategy of ['auto', 'ota'] satisfies DaemonRolloutStatus['strategy'][])
      assert.ok(accepts({ strategy }));
  });

  const mistakes: [name: string, status: object][] = [
    ['an unknown field', { ...full, progress: 1 }],
    ['an unknown field within', { target: { ...full.target, name: 'x' } }],
    ['a missing field within', { target: { revision: 'a', hash: 'b' } }],
    ['a repair without a time', { reservations: [{ ...full.reservations[0], repairs: { rollout: 1 } }] }],
    ['a fraction', { rollout: 1.5 }],
    ['a negative count', { updatesStarted: -1 }],
    ['text for a number', { rollout: '1' }],
    ['a time without a zone', { startedAt: '2026-03-01T10:00:00' }],
    ['an unknown strategy', { strategy: 'by hand' }],
    ['an unknown result', { history: [{ ...full.history[0], result: 'Failed' }] }],
    ['too many rollouts', { history: Array.from({ length: 21 }, () => full.history[0]) }],
    ['an unknown phase', { causes: [{ phase: 'gone', cause: 'x', count: 1 }] }],
    ['a summary that is too long', { summary: 'x'.repeat(daemonRolloutLimits.summary + 1) }],
    ['too many failing nodes', { failing: Array.from({ length: 11 }, () => full.failing[0]) }],
    ['an unknown state of a stage', { stages: [{ ...least.stages[0], state: 'Done' }] }],
    ['a stage without its nodes', { stages: [{ name: 'lab', state: 'Open' }] }],
    ['too many stages', { stages: Array.from({ length: 22 }, () => least.stages[0]) }],
    [
      'an unknown state of a check',
      { stages: [{ ...full.stages[0], checks: [{ name: 'a', state: 'Good', failures: 0 }] }] },
    ],
    ['a condition without a reason', { conditions: [{ ...full.conditions[0], reason: '' }] }],
  ];
  for (const [name, status] of mistakes) it(`refuse ${name}`, () => assert.equal(accepts(status), false));
});

describe('the schema', () => {
  it('describes every field in a sentence', () =>
    walk(({ description }, path) => assert.match(description, /^\p{L}.*\.$/su, path)));

  it('limits every text and every list, and identifies list items', () =>
    walk((schema, path) => {
      if (schema.type === 'string') assert.ok(schema.maxLength ?? schema.enum, path);
      if (schema.type !== 'array') return;
      assert.ok(schema.maxItems && schema.items, path);
      assert.ok(schema['x-kubernetes-list-type'], path);
      const keys = schema['x-kubernetes-list-map-keys'] ?? [];
      assert.equal(keys.length > 0, schema['x-kubernetes-list-type'] === 'map', path);
      for (const key of keys) assert.ok(schema.items.required?.includes(key), `${path} is keyed by ${key}`);
    }));

  it('has printer columns that exist', () => {
    const [version] = daemonRolloutCrd.spec.versions;
    for (const { jsonPath } of version?.additionalPrinterColumns ?? []) {
      if (jsonPath !== '.metadata.creationTimestamp') assert.ok(fields.includes(jsonPath.slice(1)), jsonPath);
    }
  });

  it('accepts an object of the type', () => {
    const rollout: DaemonRollout = {
      apiVersion: 'edgeset.io/v1alpha1',
      kind: 'DaemonRollout',
      metadata: { name: 'web', namespace: 'default' },
      status: full,
    };
    const { names, group, versions } = daemonRolloutCrd.spec;
    assert.equal(rollout.kind, names.kind);
    assert.equal(rollout.apiVersion, `${group}/${versions[0]?.name}`);
    assert.equal(daemonRolloutCrd.metadata.name, `${names.plural}.${group}`);
  });
});
