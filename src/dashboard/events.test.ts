import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { KubeError } from '../kube/index.ts';
import { advanced } from '../view/index.ts';
import { rolloutEvents, toEvents } from './events.ts';

const event = (change: Partial<Event>): Event => ({
  metadata: { creationTimestamp: '2030-01-01T00:00:00Z' },
  involvedObject: {},
  reason: 'RolloutHalted',
  message: 'The rollout is halted.',
  type: 'Warning',
  ...change,
});

describe('the Events of a rollout', () => {
  it('are those of its DaemonSet and its DaemonRollout, newest first', async () => {
    const asked: string[] = [];
    const client = {
      list: async (
        _resource: unknown,
        { namespace, fieldSelector }: { namespace?: string; fieldSelector?: string },
      ) => {
        asked.push(`${namespace} ${fieldSelector}`);
        const isOwn = fieldSelector?.includes('DaemonRollout') ?? false;
        return { items: [event({ message: isOwn ? 'b' : 'a', lastTimestamp: `2030-01-0${isOwn ? 3 : 2}T00:00:00Z` })] };
      },
    };
    const { events, missing } = await rolloutEvents({ client, namespace: 'shop' } as never, {
      kind: advanced,
      view: { name: 'web', uid: 'uid-1' } as never,
    });
    assert.deepEqual(asked.toSorted(), [
      `shop involvedObject.kind=DaemonRollout,involvedObject.name=${advanced.rolloutName('web')}`,
      'shop involvedObject.uid=uid-1',
    ]);
    assert.deepEqual(
      events.map(({ message, warning, count }) => [message, warning, count]),
      [
        ['b', true, 1],
        ['a', true, 1],
      ],
    );
    assert.deepEqual(missing, []);
  });

  it('are missing where the user may not read them, which is said once', async () => {
    const list = async (): Promise<never> => {
      throw new KubeError('Forbidden', 'events is forbidden', { status: 403 });
    };
    const { events, missing } = await rolloutEvents({ client: { list }, namespace: 'shop' } as never, {
      kind: advanced,
      view: { name: 'web', uid: 'uid-1' } as never,
    });
    assert.deepEqual(events, []);
    assert.equal(missing.length, 1);
    assert.match(missing[0] ?? '', /^Events: /);
  });

  it('have the time at which each was seen last, and how often', () => {
    const [first, second] = toEvents(
      [
        event({ count: 4, lastTimestamp: '2030-01-02T00:00:00Z' }),
        event({ series: { count: 9, lastObservedTime: '2030-01-03T00:00:00.000000Z' }, count: 1, type: 'Normal' }),
      ],
      5,
    );
    assert.deepEqual([first?.count, first?.warning, second?.count, second?.at], [9, false, 4, '2030-01-02T00:00:00Z']);
  });
});
