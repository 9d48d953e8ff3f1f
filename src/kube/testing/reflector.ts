import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ConfigMap } from 'kubernetes-types/core/v1.d.ts';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { createLogger } from '../../runtime/index.ts';
import { createReflector, type ReflectorOptions } from '../cache/reflector.ts';
import { configMaps, createFakeApi } from './fake-api.ts';
import { testEnv } from './support.ts';

export const textOf = (object: ConfigMap): string | undefined => object.data?.text;

/** A reflector of ConfigMaps on a fake API server, and what it has delivered. */
export const setUp = (t: TestContext | undefined, options: Partial<ReflectorOptions<ConfigMap, string>> = {}) => {
  const clock = createTestClock();
  const api = createFakeApi();
  const delivered: string[] = [];
  const mirror = new Map<string, string>();
  const logged: string[] = [];
  const log = createLogger({ write: (line) => logged.push(line), now: () => clock.now() });
  const reflector = createReflector<ConfigMap, string>({
    client: api.client,
    resource: configMaps,
    env: { ...testEnv(clock), log },
    project: textOf,
    handlers: [
      {
        upsert(key, value, previous) {
          assert.equal(previous, mirror.get(key), 'the previous value is the one delivered before');
          mirror.set(key, value);
          delivered.push(`${previous === undefined ? '+' : '~'}${key.slice(2)}=${value}`);
        },
        remove(key, previous) {
          assert.equal(previous, mirror.get(key));
          mirror.delete(key);
          delivered.push(`-${key.slice(2)}`);
        },
        synced: () => void delivered.push('synced'),
      },
    ],
    ...options,
  });
  const stop = new AbortController();
  const start = () => {
    const done = reflector.run(stop.signal);
    t?.after(async () => {
      stop.abort(new Error('over'));
      await done;
      assert.equal(clock.pending, 0, 'no timer is left behind');
      assert.equal(api.openStreams, 0, 'no stream is left open');
    });
    return settle().then(() => done);
  };
  const take = (): string[] => delivered.splice(0);
  return { clock, api, reflector, mirror, logged, start, stop, take };
};
/** The same, started. */
export const begin = async (
  t: TestContext,
  options: Partial<ReflectorOptions<ConfigMap, string>> = {},
  prepare?: (api: ReturnType<typeof createFakeApi>) => void,
) => {
  const parts = setUp(t, options);
  prepare?.(parts.api);
  void parts.start();
  await settle();
  return parts;
};
export const some = (api: ReturnType<typeof createFakeApi>): void => {
  for (const name of ['x', 'y', 'z']) api.put(name, '1');
};
