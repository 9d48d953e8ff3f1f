import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { daemonRolloutLimits } from '../daemon-rollout.ts';
import { type Full, inspect } from '../testing/schemas.ts';
import { type DaemonRolloutStatus, daemonRolloutStatusSchema } from './status.ts';

const time = '2026-03-01T10:00:00Z';

const recorded = { revision: 'web-6d8c', hash: '6d8c', number: 4, images: ['web:2'] };

const full: Full<DaemonRolloutStatus> = {
  observedGeneration: 1,
  daemonSetGeneration: 3,
  policyHash: '0a1b2c3d4e',
  strategy: 'ota',
  leader: 'manager-1_0a1b2c',
  summary: '12 of 15 updated',
  target: { revision: 'web-6d8c', hash: '6d8c', number: 4 },
  rollout: 2,
  updatesStarted: 12,
  startedAt: time,
  finishedAt: time,
  firstWaveUpdatedAt: time,
  halfUpdatedAt: time,
  allNodesUpdatedAt: time,
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
  causes: [{ phase: 'failed', cause: 'crash-loop', count: 1 }],
  budget: {
    maxUnavailable: '10%',
    maxSurge: '0',
    nodes: 2,
    inUse: 1,
    inFlight: 1,
    firstWave: '3',
    trial: { limit: 3, nodes: 1, proven: 0 },
  },
  breaker: { failures: 0, suspects: 1, threshold: 3 },
  owners: { asked: 1, nodes: ['n1'], deadline: time, deadlineSpreadSeconds: 3600 },
  images: { pulled: 1, pulling: 1, waiting: 0, failed: 1, failing: [{ node: 'n1', message: 'no such image' }] },
  failing: [{ node: 'n1', cause: 'crash-loop', message: 'It crashes.', since: time }],
  stragglers: [{ node: 'n2', lastSeen: time }],
  conditions: [
    {
      type: 'Complete',
      status: 'False',
      reason: 'InProgress',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: time,
    },
  ],
  halted: { at: time, reason: 'RolledBack', nodes: ['n1'], check: 'canary/errors' },
  resumed: '6d8c/1',
  driftForgiven: true,
  lastComplete: { revision: 'web-5f7b', hash: '5f7b' },
  reservations: [
    {
      node: 'n2',
      kind: 'in-place',
      podName: 'web-x7k2p',
      podUID: 'u',
      podResourceVersion: '77',
      podRevision: '6d8c',
      rollout: 2,
      at: '2026-03-01T10:00:00.250Z',
      carriedOut: false,
      repairs: { kind: 'in-place', podUID: 'u', rollout: 1, at: time },
    },
  ],
  forgiven: ['n3'],
  history: [
    {
      rollout: 2,
      result: 'Undone',
      from: recorded,
      to: recorded,
      changedBy: { manager: 'kubectl-set', operation: 'Update', time },
      startedAt: time,
      finishedAt: time,
      allNodesUpdatedAt: time,
      haltedAt: time,
      endedAt: time,
      nodes: 12,
      failures: 0,
      stages: [
        {
          name: 'canary',
          openedAt: time,
          promotedAt: time,
          promotion: 'ByHand',
          decisions: [{ decision: 'Promote', by: 'ada@example.org', at: time, comment: 'hotfix' }],
        },
      ],
    },
  ],
  notifications: {
    sent: ['completed'],
    pending: [
      {
        kind: 'halted',
        reason: 'Failures',
        stage: 'canary',
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
  stages: [
    {
      name: 'canary',
      state: 'Passed',
      nodes: { total: 3, online: 2, updated: 2, exposed: 1 },
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

const { accepts, issuesOf } = inspect(daemonRolloutStatusSchema, 'status');

describe('the schema of the status', () => {
  it('accepts every field, and any subset of those at the top', () => {
    assert.deepEqual(issuesOf(full), []);
    assert.ok(accepts({}));
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
    ['an unknown state of a stage', { stages: [{ ...full.stages[0], state: 'Done' }] }],
    ['a stage without its nodes', { stages: [{ name: 'lab', state: 'Open' }] }],
    ['too many stages', { stages: Array.from({ length: 22 }, () => full.stages[0]) }],
    [
      'an unknown state of a check',
      { stages: [{ ...full.stages[0], checks: [{ name: 'a', state: 'Good', failures: 0 }] }] },
    ],
    ['a condition without a reason', { conditions: [{ ...full.conditions[0], reason: '' }] }],
  ];
  for (const [name, status] of mistakes) it(`refuses ${name}`, () => assert.equal(accepts(status), false));
});
