import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../kube/index.ts';
import { createLogger, createVirtualClock, untilAborted } from '../runtime/index.ts';
import { gateOnDiscovery } from './discovery-gate.ts';
import type { Controller, RequiredApi } from './types.ts';

const kind: RequiredApi = { group: 'g.io', version: 'v1', plural: 'things', remedy: 'install it' };
const LOOK_MS = 5_000;

type Answer = 'served' | 'absent' | 'no group' | 'silent';

const world = (first: Answer, changes: Partial<Controller> = {}) => {
  const clock = createVirtualClock(0);
  const story: string[] = [];
  const said: string[] = [];
  const log = createLogger({ write: (line) => void said.push(line), now: () => 0 });
  const state = { answer: first, looks: 0, filled: true, made: 0 };
  const client = {
    server: 'https://api',
    raw(path: string): Promise<string> {
      assert.equal(path, '/apis/g.io/v1');
      state.looks += 1;
      if (state.answer === 'no group') return Promise.reject(new KubeError('NotFound', 'no group'));
      if (state.answer === 'silent') return Promise.reject(new KubeError('Transport', 'reset'));
      return Promise.resolve(JSON.stringify({ resources: state.answer === 'served' ? [{ name: 'things' }] : [] }));
    },
  };
  const create = (): Controller => {
    state.made += 1;
    const number = state.made;
    return {
      async run(signal) {
        story.push(`caches ${number} start`);
        await untilAborted(signal);
        story.push(`caches ${number} end`);
      },
      async lead(signal) {
        story.push(`lead ${number}`);
        await untilAborted(signal);
        await Promise.resolve();
        story.push(`settled ${number}`);
      },
      synced: () => state.filled,
      ...changes,
    };
  };
  const controller = gateOnDiscovery({ clock, log }, client, kind, create);
  const stop = new AbortController();
  const leading = new AbortController();
  const ran = controller.run(stop.signal);
  const led = controller.lead(leading.signal);
  // Asserted on later; until then they must not count as unhandled.
  for (const each of [ran, led]) each.catch(() => undefined);
  return { clock, story, said, state, controller, stop, leading, ran, led };
};

test('without its kind it creates nothing, counts as synced, and logs so once', async () => {
  const { clock, story, said, state, controller } = world('no group');
  assert.equal(controller.synced(), false, 'the API server has not answered');
  await clock.advance(10 * LOOK_MS);
  assert.ok(state.looks >= 10);
  assert.deepEqual([state.made, story, controller.synced(), controller.active()], [0, [], true, undefined]);
  assert.equal(said.length, 1);
  assert.match(said[0] ?? '', /the API server does not serve things\.g\.io\/v1: install it/);
});

test('starts within five seconds after its kind is installed, and leads', async () => {
  const { clock, story, state, controller } = world('absent');
  await clock.advance(LOOK_MS / 2);
  state.answer = 'served';
  state.filled = false;
  await clock.advance(LOOK_MS);
  assert.deepEqual(story, ['caches 1 start', 'lead 1']);
  assert.equal(controller.synced(), false, 'its caches have not synced');
  state.filled = true;
  assert.equal(controller.synced(), true);
  assert.ok(controller.active());
});

test('when its kind is removed, writes settle before the caches stop; it starts again when the kind is back', async () => {
  const { clock, story, said, state, controller } = world('served');
  await clock.advance(LOOK_MS);
  state.answer = 'no group';
  await clock.advance(3 * LOOK_MS);
  assert.deepEqual(story, ['caches 1 start', 'lead 1', 'settled 1', 'caches 1 end']);
  assert.deepEqual([controller.synced(), controller.active()], [true, undefined]);
  state.answer = 'served';
  await clock.advance(2 * LOOK_MS);
  assert.deepEqual(story.slice(4), ['caches 2 start', 'lead 2']);
  assert.equal(said.length, 2);
});

test('a single negative check, and checks without an answer, stop nothing', async () => {
  const { clock, story, state } = world('served');
  await clock.advance(LOOK_MS);
  for (const answer of ['no group', 'served', 'absent', 'silent', 'served', 'silent', 'silent'] as const) {
    state.answer = answer;
    await clock.advance(LOOK_MS);
  }
  assert.deepEqual(story, ['caches 1 start', 'lead 1']);
});

test('stays undecided while the API server is unreachable, and logs so once', async () => {
  const { clock, said, state, controller } = world('silent');
  await clock.advance(3 * LOOK_MS);
  assert.equal(controller.synced(), false);
  state.answer = 'served';
  await clock.advance(LOOK_MS);
  assert.deepEqual([controller.synced(), said.length], [true, 1]);
  assert.match(said[0] ?? '', /cannot reach https:\/\/api/);
});

test('leads repeatedly, and stops when aborted', async () => {
  const { clock, story, controller, leading, led, stop, ran } = world('served');
  await clock.advance(LOOK_MS);
  leading.abort();
  await led;
  const second = new AbortController();
  const again = controller.lead(second.signal);
  await clock.advance(LOOK_MS);
  second.abort();
  await again;
  stop.abort();
  await ran;
  assert.deepEqual(story, ['caches 1 start', 'lead 1', 'settled 1', 'lead 1', 'settled 1', 'caches 1 end']);
});

test('stops when aborted, also without its kind', async () => {
  const { clock, leading, led, stop, ran } = world('absent');
  await clock.advance(LOOK_MS);
  leading.abort();
  stop.abort();
  await Promise.all([led, ran]);
});

test('ends when its caches fail or its leading ends by itself', async () => {
  const failed = world('served', { run: () => Promise.reject(new Error('no list')) });
  await failed.clock.advance(LOOK_MS);
  await assert.rejects(failed.ran, /no list/);
  const ended = world('served', { run: () => Promise.resolve() });
  await ended.clock.advance(LOOK_MS);
  await ended.ran;
  const led = world('served', { lead: () => Promise.resolve() });
  await led.clock.advance(LOOK_MS);
  await led.led;
});
