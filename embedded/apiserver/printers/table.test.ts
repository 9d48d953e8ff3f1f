import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { humanDuration } from './columns.ts';
import { jsonPath } from './custom.ts';
import { podStatus } from './pods.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe('tables', () => {
  it('format ages as kubectl does', () => {
    for (const [ms, text] of [
      [0, '0s'],
      [119_000, '119s'],
      [2 * MINUTE, '2m'],
      [3 * MINUTE + 20_000, '3m20s'],
      [30 * MINUTE, '30m'],
      [3 * HOUR + 5 * MINUTE, '3h5m'],
      [26 * HOUR, '26h'],
      [3 * DAY + 4 * HOUR, '3d4h'],
      [100 * DAY, '100d'],
      [3 * 365 * DAY + 10 * DAY, '3y10d'],
    ] as const)
      assert.equal(humanDuration(ms), text);
  });

  it('evaluate the JSONPath of printer columns', () => {
    const object = {
      spec: { size: 3, 'a.b': 1 },
      status: {
        conditions: [
          { type: 'A', status: 'no' },
          { type: 'Ready', status: 'yes' },
        ],
        list: [1, 2],
      },
    };
    for (const [path, found] of [
      ['.spec.size', [3]],
      ['.spec.none', []],
      [String.raw`.spec.a\.b`, [1]],
      [".spec['a.b']", [1]],
      ['.status.list[1]', [2]],
      ['.status.list[-1]', [2]],
      ['.status.list[*]', [1, 2]],
      ['.status.conditions[?(@.type=="Ready")].status', ['yes']],
      ['.status.conditions[*].type', ['A', 'Ready']],
    ] as const)
      assert.deepEqual(jsonPath(path)(object), found, path);
  });

  it('summarize the status of a pod', () => {
    const container = (state: object, more: object = {}) => ({ name: 'app', state, ...more });
    for (const [status, word] of [
      [{ phase: 'Pending' }, 'Pending'],
      [{ phase: 'Failed', reason: 'Evicted' }, 'Evicted'],
      [{ phase: 'Running', containerStatuses: [container({ running: {} }, { ready: true })] }, 'Running'],
      [
        { phase: 'Running', containerStatuses: [container({ waiting: { reason: 'CrashLoopBackOff' } })] },
        'CrashLoopBackOff',
      ],
      [
        { phase: 'Pending', containerStatuses: [container({ waiting: { reason: 'ImagePullBackOff' } })] },
        'ImagePullBackOff',
      ],
      [{ phase: 'Failed', containerStatuses: [container({ terminated: { exitCode: 3 } })] }, 'ExitCode:3'],
    ] as const)
      assert.equal(podStatus({ status }), word);
    assert.equal(podStatus({ metadata: { deletionTimestamp: 'x' }, status: { phase: 'Running' } }), 'Terminating');
  });
});
