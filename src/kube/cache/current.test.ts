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
  const { length } = api.calls;
  while (api.calls.length === length) await clock.advance(50);
  assert.ok(!(await at(500)));
  assert.ok(await at(600), 'what was missed has arrived');
  api.cut();
  assert.ok(await at(4_000));
});

test('a watch without a connection is tried again every few seconds, and then begins the back-off for refusals', async (t) => {
  const { api, clock, stop, take } = await begin(t, {}, some);
  take();
  const listening = getEventListeners(stop.signal, 'abort').length;
  api.fault = () => new KubeError('Transport', 'no');
  api.cut();
  await clock.advance(300_000);
  assert.ok(getEventListeners(stop.signal, 'abort').length <= listening, 'attempts leave nothing on the signal');
  const { length } = api.calls;
  api.fault = () => (api.calls.length === length + 1 ? new KubeError('TooManyRequests', 'not yet') : undefined);
  api.put('x', '2');
  await clock.advance(6_000);
  assert.deepEqual(take(), ['~x=2']);
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
