import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { settle } from '../../../test/support/index.ts';
import type { WatchEvent, WatchOptions } from '../client/types.ts';
import { begin, some, textOf } from '../testing/reflector.ts';

const uidOf = ({ metadata }: ConfigMap): string => metadata?.uid ?? '';

/** A cache whose stream delivers what the test tells it to, after the initial events. */
const beginBehind = async (t: Parameters<typeof begin>[0], options: Parameters<typeof begin>[1] = {}) => {
  const events: WatchEvent<ConfigMap>[] = [];
  let wake = (): void => undefined;
  const script = ({ sendInitialEvents, signal }: WatchOptions) =>
    (async function* (): AsyncGenerator<WatchEvent<ConfigMap>> {
      if (sendInitialEvents) {
        for (const object of parts.api.objects.values()) yield { type: 'ADDED', object };
        yield { type: 'BOOKMARK', resourceVersion: String(parts.api.version), initialEventsEnd: true };
      }
      for (;;) {
        const event = events.shift();
        if (event) yield event;
        else
          await new Promise<void>((resolve, reject) => {
            wake = resolve;
            signal?.addEventListener('abort', () => reject(signal.reason));
          });
      }
    })();
  const parts = await begin(t, options, some);
  parts.api.script = script;
  parts.api.cut();
  await parts.clock.advance(1_000);
  parts.take();
  const deliver = async (...next: WatchEvent<ConfigMap>[]): Promise<void> => {
    events.push(...next);
    wake();
    await settle();
  };
  /** A list that was read before what came since. */
  const listOf = async (...objects: ConfigMap[]): Promise<void> => {
    const [resourceVersion] = objects
      .map(({ metadata }) => metadata?.resourceVersion ?? '')
      .toSorted()
      .toReversed();
    parts.api.script = ({ sendInitialEvents, signal }) =>
      (async function* (): AsyncGenerator<WatchEvent<ConfigMap>> {
        if (!sendInitialEvents) {
          yield* script({ ...(signal && { signal }) });
          return;
        }
        for (const object of objects) yield { type: 'ADDED', object };
        yield { type: 'BOOKMARK', resourceVersion: resourceVersion ?? '', initialEventsEnd: true };
        yield* script({ ...(signal && { signal }) });
      })();
    await deliver({ type: 'BOOKMARK', resourceVersion: '1', initialEventsEnd: false });
    await parts.clock.advance(2_000);
  };
  return { ...parts, deliver, listOf };
};

describe('a response that a cache accepts', () => {
  test('is delivered at once, and not again by the watch, nor is what came before it', async (t) => {
    const { api, reflector, take, deliver } = await beginBehind(t);
    const [before, response] = [api.put('x', 'before'), api.put('x', 'ours')];
    const created = api.put('w', 'created');
    reflector.accept(response);
    reflector.accept(created);
    assert.deepEqual(take(), ['~x=ours', '+w=created']);
    await deliver({ type: 'MODIFIED', object: before }, { type: 'MODIFIED', object: response });
    await deliver({ type: 'ADDED', object: created });
    assert.deepEqual(take(), []);
    await deliver({ type: 'MODIFIED', object: api.put('x', 'later') });
    reflector.accept(response);
    assert.deepEqual(take(), ['~x=later'], 'a response that arrives late changes nothing');
  });

  test('outlives an older list', async (t) => {
    const { api, reflector, mirror, listOf } = await beginBehind(t);
    const old = [...api.objects.values()];
    reflector.accept(api.put('x', 'ours'));
    reflector.accept(api.put('w', 'created'));
    await listOf(...old);
    assert.deepEqual([mirror.get('a/x'), mirror.get('a/w')], ['ours', 'created']);
    assert.equal(reflector.store.size, 4);
  });

  test('is removed if it is no longer cached, and stays so until it is newer', async (t) => {
    const project = (object: ConfigMap) => (object.data?.text === 'hide' ? undefined : textOf(object));
    const { api, reflector, take, deliver, listOf } = await beginBehind(t, { project });
    const old = [...api.objects.values()];
    const before = api.put('x', 'before');
    const response = api.put('x', 'hide');
    reflector.accept(response);
    assert.deepEqual(take(), ['-x']);
    await listOf(...old);
    await deliver({ type: 'MODIFIED', object: before }, { type: 'MODIFIED', object: response });
    assert.deepEqual(take(), ['synced']);
    await deliver({ type: 'MODIFIED', object: api.put('x', 'shown') });
    assert.deepEqual(take(), ['+x=shown']);
  });

  test('of another object with the name replaces it', async (t) => {
    const { api, reflector, take, deliver } = await beginBehind(t);
    const before = api.put('x', 'before');
    api.remove('x');
    reflector.accept(api.put('x', 'second'));
    assert.deepEqual(take(), ['-x', '+x=second']);
    await deliver({ type: 'MODIFIED', object: before }, { type: 'DELETED', object: before });
    assert.deepEqual(take(), []);
  });

  test('is ignored once the watch has shown that the object is gone, or before the first list', async (t) => {
    const { api, reflector, take, deliver } = await beginBehind(t);
    const response = api.put('x', 'ours');
    await deliver({
      type: 'DELETED',
      object: { ...response, metadata: { ...response.metadata, resourceVersion: '500' } },
    });
    reflector.accept({ ...response, metadata: { ...response.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    assert.deepEqual(take(), ['-x']);
  });
});

describe('a deletion that a cache accepts', () => {
  test('removes exactly this object, which no older event or list brings back', async (t) => {
    const { api, reflector, take, deliver, listOf } = await beginBehind(t);
    const old = [...api.objects.values()];
    const before = api.put('x', 'before');
    reflector.acceptDeletion('a/x', 'another');
    assert.deepEqual(take(), []);
    reflector.acceptDeletion('a/x', uidOf(before));
    assert.deepEqual(take(), ['-x']);
    await listOf(...old);
    await deliver({ type: 'MODIFIED', object: before }, { type: 'DELETED', object: before });
    assert.deepEqual(take(), ['synced']);
    api.remove('x');
    const second = api.put('x', 'second');
    await deliver({ type: 'ADDED', object: second });
    assert.deepEqual(take(), ['+x=second']);
  });

  test('has ended once a list that began long after it shows the object', async (t) => {
    const { api, clock, reflector, take, listOf } = await beginBehind(t);
    const all = [...api.objects.values()];
    reflector.acceptDeletion('a/x', uidOf(all[0] ?? {}));
    await clock.advance(61_000);
    await listOf(...all);
    assert.deepEqual(take(), ['-x', '+x=1', 'synced']);
  });

  test('is forgotten with a server that has gone back in time', async (t) => {
    const { api, reflector, take, listOf } = await beginBehind(t);
    const old = [...api.objects.values()].map((object, index) => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(50 + index) },
    }));
    reflector.acceptDeletion('a/x', uidOf(api.objects.get('x') ?? {}));
    await listOf(...old);
    for (let time = 0; time < 4; time += 1) await listOf(...old);
    assert.ok(take().includes('+x=1'));
  });
});

test('a version is reached when the watch has delivered it, and not by a response', async (t) => {
  const { api, reflector, deliver } = await beginBehind(t);
  const response = api.put('x', 'ours');
  const { resourceVersion = '' } = response.metadata ?? {};
  reflector.accept(response);
  assert.equal(reflector.reached(resourceVersion), false);
  await deliver({ type: 'MODIFIED', object: response });
  assert.equal(reflector.reached(resourceVersion), true);
});
