import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import * as fc from 'fast-check';
import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { plainText } from '../../text/index.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeClient, KubeObject } from '../client/types.ts';
import { testEnv } from '../testing/index.ts';
import { type EventInput, truncateNote } from './event-series.ts';
import { createEventRecorder, type EventRecorderOptions } from './events.ts';

const input: EventInput = {
  regarding: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'a', name: 'ds', uid: 'u' },
  type: 'Normal',
  reason: 'Rolling',
  action: 'Update',
  note: 'a note',
};

const begin = (t: TestContext, options: Partial<EventRecorderOptions> = {}) => {
  const clock = createTestClock();
  const written: Event[] = [];
  const patched: [string, unknown][] = [];
  let fault: () => Error | undefined = () => undefined;
  // The recorder writes events alone.
  const client: Pick<KubeClient, 'create' | 'patch'> = {
    async create<T extends KubeObject>(_resource: unknown, object: T) {
      const wrong = fault();
      if (wrong) throw wrong;
      written.push(object as unknown as Event);
      return object;
    },
    async patch<T extends KubeObject>(_resource: unknown, ref: { name: string }, body: unknown) {
      const wrong = fault();
      if (wrong) throw wrong;
      patched.push([ref.name, body]);
      return {} as T;
    },
  };
  const env = { ...testEnv(clock), random: Math.random };
  const recorder = createEventRecorder({
    client,
    env,
    reportingController: 'edgeset.io/test',
    reportingInstance: 'i',
    ...options,
  });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  t.after(async () => {
    stop.abort(new Error('over'));
    await clock.advance(10_000);
    await done;
    assert.equal(clock.pending, 0);
  });
  return { clock, written, patched, recorder, stop, done, setFault: (next: typeof fault) => void (fault = next) };
};

test('an event has all required fields, in the namespace of its object', async (t) => {
  const { recorder, written, clock } = begin(t);
  recorder.event(input);
  recorder.event({ ...input, regarding: { kind: 'Node', name: 'n1' } });
  await recorder.flush();
  assert.partialDeepStrictEqual(written[0], {
    metadata: { namespace: 'a' },
    eventTime: new Date(clock.now()).toISOString().replace('Z', '000Z'),
    reportingComponent: 'edgeset.io/test',
    reportingInstance: 'i',
    type: 'Normal',
    reason: 'Rolling',
    action: 'Update',
    message: 'a note',
    involvedObject: input.regarding,
  });
  assert.match(written[0]?.metadata.name ?? '', /^ds\.[0-9a-f]+$/);
  assert.equal(written[1]?.metadata.namespace, 'default');
});

test('an event carries the times that kubectl describe sorts by, and they follow its repetitions', async (t) => {
  const { recorder, written, patched, clock } = begin(t);
  const at = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
  recorder.event(input);
  await recorder.flush();
  const first = at(clock.now());
  assert.partialDeepStrictEqual(written[0], { firstTimestamp: first, lastTimestamp: first, count: 1 });
  assert.equal(written[0]?.series, undefined);
  await clock.advance(90_500);
  recorder.event(input);
  const last = at(clock.now());
  await recorder.flush();
  await clock.advance(60_000);
  assert.partialDeepStrictEqual(patched[0]?.[1], { lastTimestamp: last, count: 2, series: { count: 2 } });
  await clock.advance(1_000_000);
});

test('an event that repeats every second for an hour costs a few writes, and its final count is correct', async (t) => {
  const { recorder, written, patched, clock } = begin(t);
  for (let second = 0; second < 3600; second += 1) {
    recorder.event(input);
    await clock.advance(1_000);
  }
  await clock.advance(700_000);
  assert.equal(written.length, 1);
  assert.ok(patched.length < 15, `${patched.length} updates`);
  assert.partialDeepStrictEqual(patched.at(-1)?.[1], { series: { count: 3600 } });
  recorder.event(input);
  await settle();
  assert.equal(written.length, 2, 'after a silence it is a new event');
  await clock.advance(400_000);
});

test('folds many notes of one reason, so that a loop cannot flood the server', async (t) => {
  const { recorder, written, clock } = begin(t);
  for (let at = 0; at < 500; at += 1) {
    recorder.event({ ...input, note: `attempt ${at}` });
    await settle();
  }
  assert.equal(written.length, 10);
  await clock.advance(1_000_000);
});

test('retries failures a bounded number of times, refusals never; a lost response causes no second event', async (t) => {
  const { recorder, written, clock, setFault } = begin(t);
  let calls = 0;
  setFault(() => {
    calls += 1;
    return new KubeError('Transport', 'down');
  });
  recorder.event(input);
  await clock.advance(300_000);
  assert.deepEqual([calls, recorder.dropped], [5, 1]);
  setFault(() => {
    calls += 1;
    return new KubeError('Forbidden', 'namespace is being terminated', { status: 403 });
  });
  recorder.event({ ...input, note: 'b' });
  await clock.advance(300_000);
  assert.deepEqual([calls, recorder.dropped], [6, 2]);
  setFault(() => (calls++ === 6 ? new KubeError('AlreadyExists', 'from before', { status: 409 }) : undefined));
  recorder.event({ ...input, note: 'c' });
  await clock.advance(300_000);
  assert.deepEqual([calls, recorder.dropped, written.length], [7, 2, 0]);
  await clock.advance(1_000_000);
});

test('never blocks the caller: events beyond the queue are dropped and counted', async (t) => {
  const { recorder, setFault, clock } = begin(t, { maxQueued: 10 });
  setFault(() => new KubeError('Transport', 'down'));
  for (let at = 0; at < 50; at += 1) recorder.event({ ...input, regarding: { ...input.regarding, name: `ds${at}` } });
  assert.equal(recorder.dropped, 40);
  setFault(() => undefined);
  await clock.advance(2_000_000);
});

test('writes queued events on stop, for at most five seconds', async (t) => {
  const { recorder, written, stop, done } = begin(t);
  recorder.event(input);
  stop.abort(new Error('over'));
  await done;
  assert.equal(written.length, 1);
  const stuck = begin(t);
  stuck.setFault(() => new KubeError('Transport', 'down'));
  stuck.recorder.event(input);
  stuck.stop.abort(new Error('over'));
  await stuck.clock.advance(5_001);
  await stuck.done;
});

test('truncates a note at a kilobyte, never inside a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 3000 }), (text) => {
      const cut = truncateNote(text);
      const note = plainText(text);
      assert.ok(Buffer.byteLength(cut) <= 1024);
      if (Buffer.byteLength(note) <= 1024) assert.equal(cut, note);
      else assert.ok(note.toWellFormed().startsWith(cut.slice(0, -3)));
    }),
    // A line separator becomes a space.
    { examples: [['\u2028'], ['\u2028'.repeat(1100)]] },
  );
  assert.equal(truncateNote('a\u202eb\r\n\u001b[2Jc'), 'ab [2Jc');
  assert.equal(truncateNote('ü'.repeat(513)), `${'ü'.repeat(510)}...`);
});
