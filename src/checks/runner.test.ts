import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle, type TestClock } from '../../test/support/index.ts';
import type { OutgoingResult } from '../http/index.ts';
import type { KubeClient } from '../kube/index.ts';
import { silentLogger } from '../runtime/index.ts';
import type { PlanCheck, PrometheusCheck } from '../words/index.ts';
import { createCheckRunner } from './runner.ts';
import { createStubClient, subject } from './testing/index.ts';
import type { CheckResult } from './types.ts';

const MINUTE = 60_000;

interface Run {
  clock: TestClock;
  results: CheckResult[];
  /** What the Prometheus answers next: a number, or nothing. */
  answer: { value: number | undefined };
  /** Evaluations so far. */
  asked: number;
  stop(): Promise<void>;
}

const start = (
  check: Partial<PrometheusCheck> = {},
  { from = 0, failures = 0, value = 0 }: { from?: number; failures?: number; value?: number } = {},
): Run => {
  const clock = createTestClock();
  const stopping = new AbortController();
  const run: Run = {
    clock,
    results: [],
    answer: { value },
    asked: 0,
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
  const send = async (): Promise<OutgoingResult> => {
    run.asked += 1;
    const sample = run.answer.value;
    if (sample === undefined) return { kind: 'failed', why: 'down', untrusted: false };
    const body = JSON.stringify({ status: 'success', data: { resultType: 'scalar', result: [1, String(sample)] } });
    return { kind: 'response', status: 200, headers: {}, body, incomplete: undefined };
  };
  const runner = createCheckRunner({
    client: createStubClient() as unknown as KubeClient,
    clock,
    log: silentLogger,
    prometheusAddress: 'http://prom:9090',
    send,
  });
  const planned: PlanCheck = { name: 'errors', prometheus: { query: 'q', condition: 'result[0] < 1.0', ...check } };
  const changed = (result: CheckResult): void => void run.results.push(result);
  const ended = runner.run(planned, subject(), clock.now() + from, failures, changed, stopping.signal);
  return run;
};

const states = ({ results }: Run): string => results.map(({ state, failures }) => `${state} ${failures}`).join(', ');

describe('checks of a namespace whose Prometheus hangs', () => {
  it('are asked four at a time, and keep nobody else waiting', async () => {
    const clock = createTestClock();
    let asked = 0;
    const runner = createCheckRunner({
      client: createStubClient() as unknown as KubeClient,
      clock,
      log: silentLogger,
      prometheusAddress: 'http://prom:9090',
      send: async () => {
        asked += 1;
        return new Promise(() => undefined);
      },
    });
    const stopping = new AbortController();
    const run = (namespace: string): Promise<void> =>
      runner.run(
        { name: 'errors', prometheus: { query: 'q', condition: 'result[0] < 1.0' } },
        subject({ namespace }),
        clock.now(),
        0,
        () => undefined,
        stopping.signal,
      );
    for (const namespace of ['a', 'b', 'c', 'd', 'e']) for (let index = 0; index < 6; index += 1) void run(namespace);
    await settle();
    assert.equal(asked, 16);
    await clock.advance(2_000);
    assert.equal(asked, 20, 'four of each namespace: those that hang take no seat of others');
    stopping.abort();
  });
});

describe('a check of Prometheus', () => {
  it('is evaluated at once, and then in every interval', async () => {
    const run = start();
    await settle();
    assert.equal(states(run), 'Passing 0');
    assert.equal(run.results[0]?.at, run.clock.now());
    assert.equal(run.results[0]?.message, 'result[0] < 1.0 is true for 0. Query: q');
    await run.clock.advance(3 * MINUTE);
    assert.equal(run.asked, 4);
    await run.stop();
    assert.equal(run.clock.pending, 0);
  });

  it('waits for its delay, counted from the begin of the soak', async () => {
    const run = start({ initialDelay: '10m' });
    await run.clock.advance(10 * MINUTE - 1);
    assert.equal(states(run), 'Pending 0');
    assert.equal(run.results[0]?.at, 0);
    await run.clock.advance(1);
    assert.equal(states(run), 'Pending 0, Passing 0');
    await run.stop();
    const afterFailover = start({ initialDelay: '10m' }, { from: -8 * MINUTE });
    await afterFailover.clock.advance(2 * MINUTE);
    assert.equal(states(afterFailover), 'Pending 0, Passing 0');
    await afterFailover.stop();
  });

  it('fails for good with the first failure beyond its limit', async () => {
    const run = start({ failureLimit: 1 }, { value: 2 });
    await settle();
    assert.equal(states(run), 'Failing 1');
    await run.clock.advance(MINUTE);
    assert.equal(states(run), 'Failing 1, Failed 2');
    run.answer.value = 0;
    await run.clock.advance(10 * MINUTE);
    assert.equal(states(run), 'Failing 1, Failed 2');
    await run.stop();
  });

  it('fails with the first failure, without a limit', async () => {
    const run = start({}, { value: 2 });
    await settle();
    assert.equal(states(run), 'Failed 1');
    await run.stop();
  });

  it('passes again after a failure within its limit, which stays counted', async () => {
    const run = start({ failureLimit: 2, interval: '10s' }, { value: 2 });
    await settle();
    run.answer.value = 0;
    await run.clock.advance(10_000);
    run.answer.value = 2;
    await run.clock.advance(20_000);
    assert.equal(states(run), 'Failing 1, Passing 1, Failing 2, Failed 3');
    await run.stop();
  });

  it('continues with what an earlier leader has counted', async () => {
    const run = start({ failureLimit: 2 }, { value: 2, failures: 2 });
    await settle();
    assert.equal(states(run), 'Failed 3');
    await run.stop();
    const failed = start({ failureLimit: 1 }, { failures: 2 });
    await failed.clock.advance(MINUTE);
    assert.deepEqual([states(failed), failed.asked], ['Failed 2', 0]);
    await failed.stop();
  });

  it('without a result neither passes nor fails, and is repeated sooner', async () => {
    const run = start({ interval: '1h' });
    run.answer.value = undefined;
    await settle();
    assert.equal(states(run), 'NoResult 0');
    await run.clock.advance(5 * MINUTE);
    assert.equal(run.asked, 11);
    assert.deepEqual(new Set(run.results.map(({ state }) => state)), new Set(['NoResult']));
    run.answer.value = 0;
    await run.clock.advance(30_000);
    assert.equal(run.results.at(-1)?.state, 'Passing');
    await run.clock.advance(30 * MINUTE);
    assert.equal(run.asked, 12);
    await run.stop();
  });

  it('that is wrong holds, and says why', async () => {
    const run = start({ condition: 'result <' });
    await run.clock.advance(10 * MINUTE);
    assert.deepEqual([states(run), run.asked], ['NoResult 0', 0]);
    assert.match(run.results[0]?.message ?? '', /^prometheus.condition "result <" is not a CEL expression/);
    await run.stop();
  });

  it('has a message of bounded length', async () => {
    const run = start({ query: `up{x="${'y'.repeat(2000)}"}` });
    await settle();
    const { message = '' } = run.results[0] ?? {};
    assert.equal(message.length, 512);
    assert.match(message, /^result\[0\] < 1.0 is true for 0\./);
    await run.stop();
  });
});
