import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import type { WatchEvent } from '../client/types.ts';
import { begin, setUp, some, textOf } from '../testing/reflector.ts';

for (const watchList of [true, false]) {
  const way = watchList ? 'streamed list' : 'paged list';

  test(`${way}: delivers the state, then each change; an object whose projection is undefined is removed`, async (t) => {
    const project = (object: ConfigMap) => (object.data?.text === 'hide' ? undefined : object.data?.text);
    const { api, reflector, take } = await begin(t, { watchList, pageSize: 2, project }, some);
    assert.deepEqual(take(), ['+x=1', '+y=1', '+z=1', 'synced']);
    assert.deepEqual(api.calls, watchList ? ['watch list'] : ['list', 'list +', 'watch']);
    api.put('x', '2');
    api.remove('y');
    api.put('z', 'hide');
    api.put('z', 'hide');
    await settle();
    assert.deepEqual(take(), ['~x=2', '-y', '-z']);
    api.put('z', '3');
    await settle();
    assert.deepEqual(take(), ['+z=3']);
    assert.deepEqual(
      [...reflector.store.entries()],
      [
        ['a/x', '2'],
        ['a/z', '3'],
      ],
    );
    assert.equal(reflector.resourceVersion, String(api.version));
  });

  test(`${way}: after 410 it relists at once and delivers exactly the missed changes`, async (t) => {
    const { api, reflector, take } = await begin(t, { watchList, pageSize: 2 }, some);
    take();
    let during = -1;
    api.fault = () => {
      during = reflector.store.size;
      return undefined;
    };
    api.put('x', 'seen');
    await settle();
    take();
    api.cut(new KubeError('Gone', 'too old', { status: 410 }));
    api.remove('y');
    api.put('w', 'new');
    api.forgetHistory();
    await settle();
    assert.deepEqual(take(), ['-y', '+w=new', 'synced']);
    assert.equal(during, 3, 'the old state stays readable while the new one is gathered');
  });

  test(`${way}: an object that was deleted and recreated is a different object`, async (t) => {
    const { api, take } = await begin(t, { watchList }, some);
    take();
    api.cut(new KubeError('Gone', 'too old', { status: 410 }));
    api.remove('y');
    api.put('y', 'second');
    api.forgetHistory();
    await settle();
    assert.deepEqual(take(), ['-y', '+y=second', 'synced']);
  });

  test(`${way}: a list that fails never counts as empty`, async (t) => {
    const { api, clock, reflector, take } = await begin(t, { watchList }, some);
    take();
    api.cut(new KubeError('Gone', 'too old', { status: 410 }));
    api.forgetHistory();
    api.fault = () => new KubeError('InternalError', 'no', { status: 500 });
    await clock.advance(300_000);
    assert.equal(reflector.store.size, 3);
    assert.deepEqual(take(), []);
    api.fault = () => undefined;
    await clock.advance(40_000);
    assert.deepEqual(take(), ['synced']);
  });
}

test('events that were dropped are found by the relist after half an hour', async (t) => {
  const { api, clock } = await begin(t, {}, some);
  for (const next of ['watch', 'watch list', 'watch']) {
    await clock.advance(1_200_000);
    api.cut();
    await settle();
    assert.equal(api.calls.at(-1), next);
  }
});

test('falls back to paged lists at once when streamed lists are refused, and after a silence when they are ignored', async (t) => {
  const refusing = await begin(t, {}, (api) => {
    some(api);
    api.fault = (_call, options) =>
      options.sendInitialEvents ? new KubeError('Invalid', 'forbidden', { status: 422 }) : undefined;
  });
  assert.deepEqual(refusing.take(), ['+x=1', '+y=1', '+z=1', 'synced']);
  assert.deepEqual(refusing.logged, [], 'which Kubernetes 1.33 does by default');
  const ignoring = setUp(t);
  some(ignoring.api);
  ignoring.api.script = (options) => {
    if (!options.sendInitialEvents) return undefined;
    return (async function* () {
      for (const object of ignoring.api.objects.values()) yield { type: 'ADDED', object } as const;
      await new Promise((_resolve, reject) =>
        options.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
      );
    })();
  };
  void ignoring.start();
  await ignoring.clock.advance(29_000);
  assert.deepEqual(ignoring.take(), [], 'half a snapshot is no snapshot');
  await ignoring.clock.advance(2_000);
  assert.deepEqual(ignoring.take(), ['+x=1', '+y=1', '+z=1', 'synced']);
  assert.deepEqual(ignoring.logged, []);
});

test('resumes after a lost connection from the same version, with bounded back-off', async (t) => {
  const { api, clock, take } = await begin(t, {}, some);
  take();
  api.bookmark();
  await settle();
  const resumed: (string | undefined)[] = [];
  const at: number[] = [];
  api.fault = (_call, options) => {
    resumed.push(options.resourceVersion);
    at.push(clock.now());
    return new KubeError('Transport', 'down');
  };
  const down = clock.now();
  api.cut(new KubeError('Transport', 'reset'));
  await clock.advance(120_000);
  const waits = at.map((time, index) => time - (at[index - 1] ?? down));
  // Half to whole of 0.5, 1, 2, ... 5 s; the test's chance gives three quarters.
  assert.deepEqual(waits.slice(0, 5), [375, 750, 1500, 3000, 3750]);
  assert.ok(waits.every((wait) => wait <= 5_000));
  assert.equal(new Set(resumed).size, 1);
  assert.equal(resumed[0], String(api.version), 'the bookmark moved the place to resume from');
  api.put('x', 'later');
  api.fault = () => undefined;
  await clock.advance(5_000);
  assert.deepEqual(take(), ['~x=later']);
  assert.equal(api.calls.filter((call) => call === 'watch list').length, 1, 'no further list was needed');
});

test('honours Retry-After, up to a minute', async (t) => {
  const { api, clock } = await begin(t, {}, some);
  api.fault = () => new KubeError('TooManyRequests', 'busy', { status: 429, retryAfterSeconds: 20 });
  api.cut();
  await clock.advance(1_000);
  const calls = api.calls.length;
  await clock.advance(18_000);
  assert.equal(api.calls.length, calls);
  api.fault = () => new KubeError('TooManyRequests', 'busy', { status: 429, retryAfterSeconds: 86_400 });
  await clock.advance(2_000);
  assert.equal(api.calls.length, calls + 1);
  await clock.advance(61_000);
  assert.equal(api.calls.length, calls + 2);
});

test('backs off when the server closes each stream at once, and keeps a quiet stream open', async (t) => {
  const { api, clock, take } = await begin(t, {}, some);
  api.script = () => (async function* () {})();
  api.cut();
  await clock.advance(60_000);
  assert.ok(api.calls.length < 12, `${api.calls.length} calls in a minute`);
  api.script = undefined;
  await clock.advance(31_000);
  take();
  const before = api.calls.length;
  await clock.advance(3_600_000);
  assert.equal(api.calls.length, before, 'an open stream without news stays open');
  api.cut();
  await settle();
  assert.equal(api.calls.length, before + 1, 'after a healthy stream the next one is opened at once');
});

test('opens a stream again within half a second that has delivered a change, however often the server ends it', async (t) => {
  const { api, clock, take } = await begin(t, {}, some);
  take();
  for (let round = 0; round < 20; round += 1) {
    api.put('x', `${round}`);
    await settle();
    api.cut();
    await clock.advance(500);
    assert.equal(api.openStreams, 1, `round ${round}`);
    assert.deepEqual(take(), [`~x=${round}`], 'nothing is left behind');
  }
});

test('ignores repeated and older events, and events of deleted objects', async (t) => {
  const { api, clock, take, reflector } = await begin(t, {}, some);
  take();
  const old = api.objects.get('x');
  const gone = api.objects.get('y');
  assert.ok(old && gone);
  api.put('x', '2');
  api.remove('y');
  const now = api.objects.get('x');
  assert.ok(now);
  await settle();
  take();
  const lies: WatchEvent<ConfigMap>[] = [
    { type: 'MODIFIED', object: old },
    { type: 'MODIFIED', object: now },
    { type: 'ADDED', object: gone },
    { type: 'DELETED', object: old },
    { type: 'MODIFIED', object: { ...now, metadata: { ...now.metadata, uid: 'other', resourceVersion: '5' } } },
  ];
  api.script = () =>
    (async function* () {
      yield* lies;
    })();
  let played = 0;
  api.fault = () => {
    played += 1;
    return undefined;
  };
  api.cut();
  await clock.advance(1000);
  assert.ok(played > 0);
  assert.deepEqual(take(), []);
  assert.deepEqual([...reflector.store.values()], ['2', '1']);
});

test('refuses a snapshot from the past twice, then accepts it as a restored backup', async (t) => {
  const { api, clock, take } = await begin(t, {}, some);
  take();
  const past: ConfigMap = {
    metadata: { name: 'x', namespace: 'a', uid: 'uid-1', resourceVersion: '7' },
    data: { text: 'old' },
  };
  api.script = (options) =>
    options.sendInitialEvents
      ? (async function* () {
          yield { type: 'ADDED', object: past } as const;
          yield { type: 'BOOKMARK', resourceVersion: '8', initialEventsEnd: true } as const;
          await new Promise((_resolve, reject) =>
            options.signal?.addEventListener('abort', () => reject(options.signal?.reason)),
          );
        })()
      : undefined;
  api.cut(new KubeError('Gone', 'too old', { status: 410 }));
  await settle();
  assert.deepEqual(take(), []);
  await clock.advance(500);
  assert.deepEqual(take(), []);
  await clock.advance(10_000);
  assert.deepEqual(take(), ['-y', '-z', '~x=old', 'synced']);
});

test('a projection gets what is kept of the same object, and nothing of one with another UID', async (t) => {
  const known: string[] = [];
  const project = (object: ConfigMap, before?: string) => {
    known.push(`${object.metadata?.name}=${object.data?.text} after ${before}`);
    return object.data?.text;
  };
  const { api, clock } = await begin(t, { project }, some);
  known.length = 0;
  api.put('x', '2');
  api.remove('y');
  api.put('y', '3');
  await settle();
  assert.deepEqual(known, ['x=2 after 1', 'y=3 after undefined']);
  // And so in a new list.
  api.fault = () => new KubeError('InternalError', 'no', { status: 500 });
  api.cut(new KubeError('Gone', 'too old', { status: 410 }));
  await settle();
  api.put('x', '4');
  api.remove('z');
  api.put('z', '5');
  api.forgetHistory();
  known.length = 0;
  api.fault = () => undefined;
  await clock.advance(40_000);
  assert.deepEqual(known.toSorted(), ['x=4 after 2', 'z=5 after undefined']);
});

test('whenSynced waits for the first snapshot, and can be aborted', async (t) => {
  const { api, reflector, start } = setUp(t);
  some(api);
  const leave = new AbortController();
  const left = reflector.whenSynced(leave.signal);
  leave.abort(new Error('not now'));
  await assert.rejects(left, { message: 'not now' });
  assert.equal(reflector.synced, false);
  const synced = reflector.whenSynced();
  void start();
  await synced;
  assert.equal(reflector.store.size, 3);
  assert.equal(reflector.synced, true);
});

test('indexes follow the objects', async (t) => {
  const { api, reflector } = await begin(t, { indexes: { text: (text) => [text] } }, some);
  assert.equal(reflector.store.byIndex('text', '1').length, 3);
  api.put('x', '2');
  await settle();
  assert.deepEqual(reflector.store.byIndex('text', '2'), ['2']);
});

const fault = fc.constantFrom(
  'put',
  'put',
  'accept',
  'accept late',
  'remove',
  'accept removal',
  'cut',
  'reset',
  'gone',
  'forget',
  'bookmark',
  'break',
  'repair',
  'wait',
);
const step = fc.record({ what: fault, name: fc.constantFrom('p', 'q', 'r', 's'), ms: fc.nat(40_000) });

test('store and handlers converge to the state of the server under any faults of the connection', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.boolean(), async (steps, watchList) => {
      const { api, clock, reflector, mirror, start, stop } = setUp(undefined, { watchList, pageSize: 2 });
      some(api);
      const done = start();
      let count = 0;
      let response: ConfigMap | undefined;
      for (const { what, name, ms } of steps) {
        count += 1;
        if (what === 'put') response = api.put(name, String(count));
        if (what === 'accept') reflector.accept(api.put(name, String(count)));
        if (what === 'accept late' && response) reflector.accept(response);
        if (what === 'accept removal')
          reflector.acceptDeletion(`a/${name}`, api.objects.get(name)?.metadata?.uid ?? '');
        if (what === 'remove' || what === 'accept removal') api.remove(name);
        if (what === 'cut') api.cut();
        if (what === 'reset') api.cut(new KubeError('Transport', 'reset'));
        if (what === 'gone') api.cut(new KubeError('Gone', 'gone', { status: 410 }));
        if (what === 'forget') api.forgetHistory();
        if (what === 'bookmark') api.bookmark();
        if (what === 'break')
          api.fault = () => new KubeError(count % 2 ? 'InternalError' : 'Transport', 'broken', { status: 500 });
        if (what === 'repair') api.fault = () => undefined;
        if (what === 'wait') await clock.advance(ms);
        else await settle();
      }
      api.fault = () => undefined;
      await clock.advance(130_000);
      const truth = new Map([...api.objects].map(([name, object]) => [`a/${name}`, textOf(object)]));
      assert.deepEqual(new Map(reflector.store.entries()), truth);
      assert.deepEqual(mirror, truth);
      stop.abort(new Error('over'));
      await done;
      assert.deepEqual([clock.pending, api.openStreams], [0, 0]);
    }),
    { numRuns: 150 },
  );
});
