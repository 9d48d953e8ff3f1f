import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../test/support/index.ts';
import { untilAborted } from '../runtime/index.ts';
import { createFeeds, createSubscribers } from './feed.ts';

const prepare = () => {
  const clock = createTestClock();
  const ended: string[] = [];
  const feeds = createFeeds<{ name: string; run(signal: AbortSignal): Promise<void> }>({ clock });
  let made = 0;
  const use = (key: string) =>
    feeds.use(key, () => {
      made += 1;
      const name = `${key} ${made}`;
      return {
        name,
        run: async (signal) => {
          await untilAborted(signal);
          ended.push(name);
        },
      };
    });
  return { clock, ended, feeds, use };
};

describe('feeds', () => {
  it('are shared by all who use one, and outlive a page that is loaded again', async () => {
    const { clock, ended, use } = prepare();
    const [first, second, other] = [use('a'), use('a'), use('b')];
    assert.deepEqual([first.feed.name, second.feed.name, other.feed.name], ['a 1', 'a 1', 'b 2']);
    first.done();
    first.done();
    await clock.advance(60_000);
    assert.deepEqual(ended, [], 'somebody still uses it');
    second.done();
    await clock.advance(20_000);
    const again = use('a');
    assert.equal(again.feed.name, 'a 1');
    await clock.advance(60_000);
    assert.deepEqual(ended, []);
    again.done();
    await clock.advance(31_000);
    assert.deepEqual(ended, ['a 1']);
    assert.equal(use('a').feed.name, 'a 3');
  });

  it('end when they are closed', async () => {
    const { ended, feeds, use } = prepare();
    use('a');
    use('b').done();
    await feeds.close();
    assert.deepEqual(ended.toSorted(), ['a 1', 'b 2']);
  });
});

describe('an subscribers', () => {
  it('hears everything at first, and every change from then on', () => {
    let state = 0;
    const subscribers = createSubscribers<{ all?: number; change?: number }>(() =>
      state === 0 ? undefined : { all: state },
    );
    const heard: object[][] = [[], [], []];
    const join = (who: number) => subscribers.subscribe((message) => heard[who]?.push(message));
    const leave = join(0);
    state = 1;
    subscribers.publish({ all: 1 });
    join(1);
    join(2);
    assert.equal(heard[1]?.[0], heard[2]?.[0], 'one message for both');
    state = 2;
    leave();
    subscribers.publish({ change: 2 });
    join(0);
    assert.deepEqual(heard, [
      [{ all: 1 }, { all: 2 }],
      [{ all: 1 }, { change: 2 }],
      [{ all: 1 }, { change: 2 }],
    ]);
  });
});
