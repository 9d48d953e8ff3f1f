import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import type { KubeClient, KubeObject } from '../client/types.ts';
import { testEnv } from '../testing/index.ts';
import { createEventRecorder } from './events.ts';

/** A recorder on a server whose writes to namespaces that start with `slow` time out after their ten seconds. */
const begin = (maxQueued?: number) => {
  const clock = createTestClock();
  const written: string[] = [];
  const client: Pick<KubeClient, 'create' | 'patch'> = {
    create: <T extends KubeObject>(_resource: unknown, object: T) =>
      new Promise<T>((resolve, reject) => {
        const { involvedObject } = object as unknown as Event;
        const place = `${involvedObject.namespace}/${involvedObject.name}`;
        if (!place.startsWith('slow')) {
          written.push(place);
          resolve(object);
        } else clock.timer(10_000, () => reject(new KubeError('Timeout', 'hangs', { happened: 'unknown' })));
      }),
    patch: () => Promise.reject(new Error('nothing is repeated here')),
  };
  const recorder = createEventRecorder({
    client,
    env: testEnv(clock),
    reportingController: 'edgeset.io/test',
    reportingInstance: 'i',
    ...(maxQueued !== undefined && { maxQueued }),
  });
  const event = (namespace: string, name: string): void =>
    recorder.event({
      regarding: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace, name },
      type: 'Normal',
      reason: 'Rolling',
      action: 'Update',
      note: 'a note',
    });
  const stop = new AbortController();
  const done = recorder.run(stop.signal);
  const end = async (): Promise<void> => {
    stop.abort(new Error('over'));
    await clock.advance(120_000);
    await done;
  };
  return { clock, recorder, written, event, end };
};

test('a namespace whose writes hang delays the Events of no other', async () => {
  const { clock, written, event, end } = begin();
  for (let index = 0; index < 20; index += 1) event(`slow${index % 10}`, `ds${index}`);
  event('good', 'first');
  event('better', 'second');
  await clock.advance(2_000);
  assert.deepEqual(written, ['good/first', 'better/second']);
  event('good', 'third');
  await settle();
  assert.deepEqual(written.slice(2), ['good/third']);
  await end();
});

test('a namespace that fills the queue loses its own Events', async () => {
  const { clock, recorder, written, event, end } = begin(20);
  for (let index = 0; index < 60; index += 1) event('slow', `ds${index}`);
  assert.equal(recorder.dropped, 40);
  for (let index = 0; index < 5; index += 1) event('good', `ds${index}`);
  await clock.advance(2_000);
  assert.equal(written.length, 5);
  assert.equal(recorder.dropped, 45);
  await end();
});

test('the Events of one namespace are written in their order', async () => {
  const { written, event, recorder, end } = begin();
  const names = Array.from({ length: 30 }, (_, index) => `ds${index}`);
  for (const name of names) event('good', name);
  await recorder.flush();
  assert.deepEqual(
    written,
    names.map((name) => `good/${name}`),
  );
  await end();
});
