import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { settle } from '../../../test/support/index.ts';
import { KubeError } from '../client/errors.ts';
import { begin, some } from '../testing/reflector.ts';

test('decisions may rely on the store until the watch has been down for five seconds, and again once it works', async (t) => {
  const { api, clock, reflector } = await begin(t, {}, some);
  const at = async (ms: number): Promise<boolean> => {
    await clock.advance(ms);
    return reflector.isCurrent();
  };
  assert.ok(await at(60_000));
  api.fault = () => new KubeError('Transport', 'no');
  api.cut();
  assert.ok(await at(4_000));
  assert.ok(!(await at(1_500)));
  // Accepted, and reset at once: nothing of what was missed has arrived.
  api.fault = (_call, { onOpen }) => {
    onOpen?.();
    return new KubeError('Transport', 'reset');
  };
  assert.ok(!(await at(20_000)));
  api.fault = (_call, { onOpen }) => {
    onOpen?.();
    return undefined;
  };
  reflector.retry();
  assert.ok(!(await at(500)));
  assert.ok(await at(600), 'what was missed has arrived');
  api.cut();
  assert.ok(await at(4_000));
});

test('the next attempt need not wait for the back-off', async (t) => {
  const { api, clock, reflector, stop, take } = await begin(t, {}, some);
  take();
  const listening = getEventListeners(stop.signal, 'abort').length;
  api.fault = () => new KubeError('Transport', 'no');
  api.cut();
  await clock.advance(60_000);
  assert.ok(getEventListeners(stop.signal, 'abort').length <= listening, 'attempts leave nothing on the signal');
  const { length } = api.calls;
  api.fault = () => undefined;
  api.put('x', '2');
  reflector.retry();
  await settle();
  assert.equal(api.calls.length, length + 1);
  assert.deepEqual(take(), ['~x=2']);
  assert.ok(reflector.isCurrent(), 'a change has arrived');
  reflector.retry();
  await settle();
  assert.equal(api.calls.length, length + 1, 'a watch that is open stays');
});

test('the store is not relied on after two minutes without a word from the API server', async (t) => {
  const { api, clock, reflector } = await begin(t, {}, some);
  await clock.advance(119_000);
  assert.ok(reflector.isCurrent());
  await clock.advance(2_000);
  assert.ok(!reflector.isCurrent());
  api.bookmark();
  await settle();
  assert.ok(reflector.isCurrent());
});
