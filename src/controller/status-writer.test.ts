import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock } from '../../test/support/index.ts';
import { decide, statusOf, type WrittenStatus } from '../rollout/index.ts';
import { createRolloutEvents } from './rollout-events.ts';
import { createRolloutObject } from './rollout-object.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTestApi } from './testing/api.ts';
import { testRef } from './testing/kind.ts';
import { createTestLedger } from './testing/ledger.ts';
import { createTestRecorder } from './testing/recorder.ts';

const { signal } = new AbortController();

const prepare = async () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  const { recorder, reasons } = createTestRecorder();
  const object = createRolloutObject(api.client, testRef);
  await object.load({});
  const seen: string[] = [];
  const writer = createStatusWriter({
    object,
    events: createRolloutEvents(recorder, testRef),
    clock,
    metrics: { reserved: (result) => void seen.push(result), statusWritten: () => void seen.push('status') },
  });
  const ledger = createTestLedger(clock, ['n1', 'n2']);
  const status = (summary = 'x'): WrittenStatus => ({
    ...statusOf({
      ledger,
      decision: decide(ledger, undefined, clock.now()),
      generation: 1,
      policyHash: 'h',
      previous: object.status,
      now: clock.now(),
    }),
    summary,
  });
  return {
    clock,
    api,
    object,
    writer,
    status,
    seen,
    reasons,
    writes: () => api.sent('replace', 'daemonrollouts').length,
  };
};

describe('a status', () => {
  it('that says nothing new is not written, unless it reserves', async () => {
    const { writer, status, writes, seen } = await prepare();
    await writer.write(status(), false, signal);
    await writer.write(status(), false, signal);
    assert.equal(writes(), 1);
    await writer.write(status(), true, signal);
    assert.equal(writes(), 2);
    await writer.write(status('y'), false, signal);
    assert.equal(writes(), 3);
    assert.deepEqual(seen, ['status', 'written', 'status', 'status']);
  });

  it('may be written again a second after the last one, and at once when the clock was set back', async () => {
    const { clock, writer, status } = await prepare();
    assert.ok(writer.dueAt() <= clock.now());
    await writer.write(status(), false, signal);
    assert.equal(writer.dueAt(), clock.now() + 1_000);
    clock.jump(-600_000);
    assert.ok(writer.dueAt() <= clock.now());
  });

  it('is looked at once a second also while it says nothing new: it is as long as what is in flight', async () => {
    const { clock, writer, status, writes } = await prepare();
    await writer.write(status(), false, signal);
    await clock.advance(1_000);
    assert.ok(writer.dueAt() <= clock.now());
    await writer.write(status(), false, signal);
    assert.equal(writes(), 1);
    assert.equal(writer.dueAt(), clock.now() + 1_000);
  });

  it('that could not be written is neither told nor taken for written', async () => {
    const { api, writer, status, writes, reasons, seen, clock } = await prepare();
    api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'Forbidden', status: 403 });
    await assert.rejects(writer.write(status(), true, signal));
    assert.deepEqual(seen, ['failed']);
    assert.deepEqual(reasons(), []);
    assert.ok(writer.dueAt() <= clock.now());
    await writer.write(status(), false, signal);
    assert.equal(writes(), 2);
    assert.deepEqual(reasons(), ['RolloutStarted']);
  });

  it('is told once although its answer was lost', async () => {
    const { api, object, writer, status, reasons } = await prepare();
    await writer.write({ ...status(), rollout: 1 }, false, signal);
    const before = reasons().length;
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
    await assert.rejects(writer.write({ ...status(), rollout: 2 }, true, signal));
    await object.load({});
    await writer.write({ ...status('later'), rollout: 2 }, false, signal);
    await writer.write({ ...status('still later'), rollout: 2 }, false, signal);
    assert.deepEqual(reasons().slice(before), ['RolloutStarted']);
  });

  it('that another process has told meanwhile is not told after we let go', async () => {
    const { object, writer, status, reasons, api } = await prepare();
    await writer.write({ ...status(), rollout: 1 }, false, signal);
    const before = reasons().length;
    writer.letGo();
    const other = createRolloutObject(api.client, testRef);
    await other.load({});
    await other.write({ ...status(), rollout: 2 }, {});
    await object.load({});
    await writer.write({ ...status('ours'), rollout: 2 }, false, signal);
    assert.deepEqual(reasons().slice(before), []);
  });
});
