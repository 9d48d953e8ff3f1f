import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { type Clock, createLogger, type LogFields, OptionError } from '../runtime/index.ts';
import { runUntilStopped } from './run-until-stopped.ts';

const world = () => {
  const lines: LogFields[] = [];
  const exits: number[] = [];
  const timers: { delayMs: number; fire: () => void; cancelled: boolean }[] = [];
  const clock: Clock = {
    now: () => 0,
    timer(delayMs, fire) {
      const timer = { delayMs, fire, cancelled: false };
      timers.push(timer);
      return { cancel: () => (timer.cancelled = true) };
    },
  };
  const host = Object.assign(new EventEmitter(), { exit: (code: number) => void exits.push(code) });
  const log = createLogger({ write: (line) => lines.push(JSON.parse(line) as LogFields), now: () => 0 });
  return { lines, exits, timers, host, env: { clock, log, random: () => 0 } };
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} aborts the work and exits with code 0`, async () => {
    const { env, host, exits, timers } = world();
    const done = runUntilStopped(env, host, untilAborted);
    host.emit(signal);
    assert.equal(await done, 0);
    assert.deepEqual(exits, []);
    assert.ok(
      timers.every(({ cancelled }) => cancelled),
      'the timer does not keep the process alive',
    );
    assert.deepEqual(host.eventNames(), [], 'no handler is left behind');
  });
}

test('logs work that fails and exits with code 1', async () => {
  const { env, host, lines } = world();
  const failure = Object.assign(new Error('cannot listen'), { code: 'CannotListen' });
  assert.equal(await runUntilStopped(env, host, () => Promise.reject(failure)), 1);
  assert.equal(lines.at(-1)?.level, 'error');
  assert.equal(lines.at(-1)?.error, 'cannot listen (CannotListen)');
});

test('leaves an invalid flag to the command line', async () => {
  const { env, host, lines } = world();
  const bad = new OptionError('--unix-socket', 'is taken');
  await assert.rejects(
    runUntilStopped(env, host, () => Promise.reject(bad)),
    bad,
  );
  assert.deepEqual(lines, []);
  assert.deepEqual(host.eventNames(), []);
});

test('a second signal exits at once', async () => {
  const { env, host, exits } = world();
  void runUntilStopped(env, host, () => new Promise(() => undefined));
  host.emit('SIGTERM');
  assert.deepEqual(exits, []);
  host.emit('SIGINT');
  assert.deepEqual(exits, [130]);
});

test('a shutdown that takes too long exits before Kubernetes kills the process', () => {
  const { env, host, exits, timers } = world();
  void runUntilStopped(env, host, () => new Promise(() => undefined));
  assert.equal(timers.length, 0);
  host.emit('SIGTERM');
  assert.ok((timers[0]?.delayMs ?? Infinity) < 30_000);
  timers[0]?.fire();
  assert.deepEqual(exits, [1]);
});

for (const event of ['unhandledRejection', 'uncaughtException']) {
  test(`an ${event} is logged with its stack and ends the process`, () => {
    const { env, host, exits, lines } = world();
    void runUntilStopped(env, host, () => new Promise(() => undefined));
    host.emit(event, new TypeError('x is not a function'));
    assert.deepEqual(exits, [1]);
    assert.equal(lines.at(-1)?.error, 'x is not a function');
    assert.match(String(lines.at(-1)?.stack), /run-until-stopped\.test\.ts/);
  });
}
