import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { WrittenStatus } from '../../rollout/index.ts';
import { createTestRecorder, testRef } from '../testing/fixtures.ts';
import { createRolloutEvents } from './rollout-events.ts';

const prepare = () => {
  const { recorder, recorded, reasons } = createTestRecorder();
  return { events: createRolloutEvents(recorder, testRef), recorded, reasons };
};

type Verdicts = Partial<
  Record<
    'Complete' | 'AllNodesUpdated' | 'Halted' | 'Paused' | 'Stalled' | 'ImageDrift',
    [status: boolean, reason: string, message: string]
  >
>;

const status = (change: Partial<WrittenStatus> = {}, verdicts: Verdicts = {}): WrittenStatus =>
  ({
    rollout: 2,
    startedAt: '2026-01-01T00:00:00Z',
    target: { revision: 'app-2', hash: 'h2', number: 2 },
    nodes: { outdated: 3, broken: 1, held: 0, settling: 0, updating: 0, missing: 0, offlineOutdated: 2 },
    budget: { maxUnavailable: '1', nodes: 1, inUse: 0, inFlight: 0 },
    conditions: Object.entries(verdicts).map(([type, [on, reason, message]]) => ({
      type,
      status: on ? 'True' : 'False',
      reason,
      message,
      lastTransitionTime: '2026-01-01T00:00:00Z',
    })),
    ...change,
  }) as WrittenStatus;

describe('the difference between two statuses', () => {
  it('is recorded on the DaemonSet', () => {
    const { events, recorded } = prepare();
    events.statusWritten(status({ rollout: 1 }), status());
    assert.deepEqual(
      recorded.map(({ type, reason }) => `${type} ${reason}`),
      ['Normal RolloutStarted', 'Normal OfflineNodesSkipped'],
    );
    assert.match(recorded[0]?.note ?? '', /app-2 to 4 online nodes, at most 1 at a time/);
    assert.deepEqual(recorded[0]?.regarding, {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      namespace: 'edge',
      name: 'app',
      uid: 'u',
    });
  });

  for (const [strategy, note] of [
    ['ota', /app-2 to 6 nodes, whose owners decide/],
    ['manual', /6 nodes get app-2 when their pods are deleted/],
  ] as const)
    it(`starts with who updates the nodes under the strategy ${strategy}, offline ones included`, () => {
      const { events, recorded } = prepare();
      events.statusWritten(status({ rollout: 1 }), status({ strategy }));
      assert.deepEqual(
        recorded.map(({ reason }) => reason),
        ['RolloutStarted'],
      );
      assert.match(recorded[0]?.note ?? '', note);
    });

  it('says once that the last node has the target, if that is later than the completion', () => {
    const { events, recorded } = prepare();
    const finishedAt = '2026-01-01T00:01:00Z';
    const complete = status({ finishedAt });
    const all = status(
      { finishedAt, allNodesUpdatedAt: '2026-01-03T00:00:00Z' },
      { AllNodesUpdated: [true, 'AllNodesUpdated', '3 of 3 nodes have app-2, offline nodes included.'] },
    );
    events.statusWritten(complete, all);
    events.statusWritten(all, all);
    assert.deepEqual(
      recorded.map(({ type, reason, note }) => [type, reason, note]),
      [['Normal', 'AllNodesUpdated', '3 of 3 nodes have app-2, offline nodes included.']],
    );
    events.statusWritten(status(), all);
    assert.deepEqual(
      recorded.slice(1).map(({ reason }) => reason),
      ['RolloutCompleted'],
      'both at once are one Event',
    );
  });

  it('is nothing if nothing notable changed, as after a restart', () => {
    const { events, recorded } = prepare();
    const full = status(
      { finishedAt: '2026-01-01T00:01:00Z', resumed: 'h2' },
      {
        Complete: [true, 'x', ''],
        Halted: [true, 'Failures', 'm'],
        Paused: [true, 'Paused', 'm'],
        Stalled: [true, 'InvalidPolicy', 'm'],
      },
    );
    events.statusWritten(full, { ...full, summary: 'other' });
    assert.deepEqual(recorded, []);
  });

  it('is no start when the very first target is found', () => {
    const { events, recorded } = prepare();
    const { startedAt: _, ...found } = status({ rollout: 1, finishedAt: '2026-01-01T00:01:00Z' });
    events.statusWritten(undefined, found);
    assert.deepEqual(recorded, []);
  });

  it('is one completion per rollout, however often nodes return with an older revision', () => {
    const { events, reasons } = prepare();
    const done = status({ finishedAt: '2026-01-01T00:01:00Z' }, { Complete: [true, 'x', ''] });
    const returned = status({ finishedAt: '2026-01-01T00:01:00Z' }, { Complete: [false, 'x', ''] });
    events.statusWritten(status(), done);
    for (let round = 0; round < 5; round += 1) {
      events.statusWritten(done, returned);
      events.statusWritten(returned, done);
    }
    assert.deepEqual(reasons(), ['RolloutCompleted']);
  });

  it('includes pauses, halts and resumes', () => {
    const { events, reasons } = prepare();
    const still = status();
    const paused = status({}, { Paused: [true, 'Paused', 'm'] });
    const halted = status({}, { Halted: [true, 'Failures', 'n1'] });
    events.statusWritten(still, paused);
    events.statusWritten(paused, halted);
    events.statusWritten(halted, status({ resumed: 'h2/1' }));
    events.statusWritten(status({ resumed: 'h2/1' }), status({ resumed: 'h2/2' }));
    assert.deepEqual(reasons(), [
      'RolloutPaused',
      'RolloutHalted',
      'RolloutUnpaused',
      'RolloutResumed',
      'RolloutResumed',
    ]);
  });

  it('says once a rollout that images differ, and that a halt for that has ended by itself', () => {
    const { events, recorded } = prepare();
    const differ = (on: boolean, halted = false): WrittenStatus =>
      status(halted ? { halted: { at: '2026-01-01T00:00:00Z', reason: 'ImageDrift', nodes: [] } } : {}, {
        ImageDrift: [on, 'x', 'Image app:v2 differs.'],
        Halted: [halted, 'ImageDrift', 'Halted for app:v2.'],
      });
    events.statusWritten(differ(false), differ(true));
    events.statusWritten(differ(true), differ(true, true));
    events.statusWritten(differ(true, true), differ(false));
    events.statusWritten(differ(false), differ(true));
    assert.deepEqual(
      recorded.map(({ type, reason, note }) => `${type} ${reason}: ${note}`),
      [
        'Warning ImageDrift: Image app:v2 differs.',
        'Warning RolloutHalted: Halted for app:v2.',
        'Normal RolloutResumed: Images no longer differ between nodes, or may differ.',
      ],
    );
  });

  it('includes each invalid value once, whatever the nodes do meanwhile', () => {
    const { events, recorded } = prepare();
    const bad = (value: string, online: number) =>
      status(
        {},
        { Stalled: [true, 'InvalidPolicy', `"${value}" is wrong`], Complete: [false, 'x', `${online} online`] },
      );
    events.statusWritten(status(), bad('a', 1));
    events.statusWritten(bad('a', 1), bad('a', 2));
    events.statusWritten(bad('a', 2), bad('b', 2));
    assert.deepEqual(
      recorded.map(({ note }) => note),
      ['"a" is wrong', '"b" is wrong'],
    );
  });
});

describe('a refusal of the API server', () => {
  it('is recorded once per node, reason and rollout, whatever else its text says', () => {
    const { events, recorded } = prepare();
    for (let tries = 0; tries < 5; tries += 1)
      events.podWriteRefused('delete', 'app-1', 'n1', 'Forbidden', `request ${tries}`);
    events.podWriteRefused('delete', 'app-1', 'n1', 'InternalError', 'boom');
    events.podWriteRefused('delete', 'app-2', 'n2', 'Forbidden', 'request 9');
    events.fenceRefused('app-1', 'n1', 'Forbidden', 'no');
    events.rollbackRefused('app-1', 'Forbidden', 'no');
    events.rollbackRefused('app-1', 'Forbidden', 'no again');
    assert.equal(recorded.length, 5);
    events.statusWritten(status({ rollout: 1 }), status({ nodes: { ...status().nodes, offlineOutdated: 0 } }));
    events.podWriteRefused('delete', 'app-1', 'n1', 'Forbidden', 'request 10');
    assert.equal(recorded.length, 7);
  });
});

it('a write to a pod is recorded with its own reason and text', () => {
  const { events, recorded } = prepare();
  for (const kind of ['delete', 'update-in-place', 'surge', 'delete-old'] as const) {
    events.podWritten(kind, 'app-1', 'n1', kind === 'delete-old' ? 'surged-out' : 'outdated');
    events.podWriteRefused(kind, 'app-1', 'n1', 'Forbidden', 'no.');
  }
  assert.deepEqual(
    recorded.map(({ reason, note }) => `${reason}: ${note}`),
    [
      'SuccessfulDelete: Deleted pod app-1 on n1: its revision is outdated.',
      'FailedDelete: Failed to delete pod app-1 on n1: no.',
      'SuccessfulUpdatePodInPlace: Started to update pod app-1 on n1 in place: its revision is outdated.',
      'FailedUpdatePodInPlace: Failed to update pod app-1 on n1 in place: no.',
      'SuccessfulCreate: Created a surge pod next to app-1 on n1: its revision is outdated.',
      'FailedCreate: Failed to create a surge pod next to app-1 on n1: no.',
      'SuccessfulDelete: Deleted pod app-1 on n1: the new pod replaces it.',
      'FailedDelete: Failed to delete pod app-1 on n1: no.',
    ],
  );
});

it('a kind records its own Events, and a warning once per rollout', () => {
  const { events, recorded } = prepare();
  events.event('Normal', 'SuccessfulCreate', 'Create', 'Created pod app-1 on n1.');
  for (let tries = 0; tries < 3; tries += 1) events.warnOnce('create n1', 'FailedCreate', 'Create', `try ${tries}`);
  assert.deepEqual(
    recorded.map(({ regarding, type, reason, note }) => [regarding.name, type, reason, note]),
    [
      ['app', 'Normal', 'SuccessfulCreate', 'Created pod app-1 on n1.'],
      ['app', 'Warning', 'FailedCreate', 'try 0'],
    ],
  );
});

it('a conflict between annotations is recorded once', () => {
  const { events, reasons } = prepare();
  const warning = { field: 'f', value: 'v', problem: 'differs', remedy: 'remove it' };
  events.policyWarning(warning);
  events.policyWarning({ ...warning });
  events.policyWarning({ ...warning, value: 'w' });
  assert.deepEqual(reasons(), ['PolicyConflict', 'PolicyConflict']);
});
