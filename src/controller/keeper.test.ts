import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, type TestClock } from '../../test/support/index.ts';
import { decide } from '../rollout/index.ts';
import { createKeeper } from './keeper.ts';
import type { DaemonSetView } from './kind.ts';
import { daemonRollouts } from './resources.ts';
import { createRolloutEvents } from './rollout-events.ts';
import { createRolloutObject } from './rollout-object.ts';
import { createStatusWriter } from './status-writer.ts';
import { createTestApi, type TestApi } from './testing/api.ts';
import { testRef } from './testing/kind.ts';
import { createTestLedger, reserve } from './testing/ledger.ts';
import { createTestRecorder } from './testing/recorder.ts';

const { signal } = new AbortController();
const view = { generation: 1, policy: { kind: 'on', hash: 'h' } } as DaemonSetView;

const createProcess = (api: TestApi, clock: TestClock, identity: string) => {
  const ledger = createTestLedger(clock, ['n1', 'n2']);
  const object = createRolloutObject(api.client, testRef);
  const events = createRolloutEvents(createTestRecorder().recorder, testRef);
  const writer = createStatusWriter({ object, events, clock, metrics: {} });
  const keeper = createKeeper({ object, writer, ledger, clock, identity });
  return {
    ledger,
    keeper,
    takeOver: () => keeper.takeOver(signal),
    write: () => keeper.write(decide(ledger, undefined, clock.now()), view, signal),
    async reserve(node: string): Promise<void> {
      // What a restored ledger knows of the target it learns from its own watch.
      ledger.setTarget({ name: 'app-2', hash: 'h2', number: 2 }, clock.now());
      reserve(ledger, node, clock);
      keeper.reserved();
      await this.write();
    },
  };
};
const prepare = () => {
  const clock = createTestClock();
  const api = createTestApi(clock);
  return {
    api,
    clock,
    start: (identity: string) => createProcess(api, clock, identity),
    leader: () => (api.objects.all(daemonRollouts)[0] as { status?: { leader?: string } }).status?.leader,
  };
};

describe('taking over', () => {
  it('from another process that left open slots is written before anything is done with them', async () => {
    const { start, leader } = prepare();
    const first = start('m1');
    await first.takeOver();
    await first.reserve('n1');
    const second = start('m2');
    await second.takeOver();
    assert.equal(second.ledger.get('n1')?.update?.stage, 'inherited');
    assert.equal(second.keeper.unwritten, true);
    await second.write();
    assert.equal(leader(), 'm2');
    await assert.rejects(first.reserve('n2'), /version/, 'who slept cannot reserve any more');
    await first.takeOver();
    assert.equal(first.keeper.unwritten, true, 'and has to take over itself');
  });

  it('needs no write where no slot is open', async () => {
    const { start, leader } = prepare();
    const first = start('m1');
    await first.takeOver();
    await first.reserve('n1');
    first.ledger.setStage('n1', 'done', 0);
    await first.write();
    const second = start('m2');
    await second.takeOver();
    assert.equal(second.keeper.unwritten, false);
    await second.write();
    assert.equal(leader(), 'm1', 'a status that only informs leaves the name alone');
  });

  it('happens once, and again after another has written or an answer was lost', async () => {
    const { start, api } = prepare();
    const process = start('m1');
    const { takeOver, write, keeper } = process;
    await takeOver();
    await takeOver();
    assert.equal(api.sent('get', 'daemonrollouts').length, 1);
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: true });
    await assert.rejects(write());
    await takeOver();
    assert.equal(api.sent('get', 'daemonrollouts').length, 2);
    await process.reserve('n1');
    api.fault('replace', 'daemonrollouts', { kind: 'refuse', code: 'TooManyRequests', status: 429 });
    keeper.reserved();
    await assert.rejects(write());
    assert.equal(keeper.unwritten, true, 'a refusal changes nothing');
    await takeOver();
    assert.equal(api.sent('get', 'daemonrollouts').length, 2);
  });

  it('forgets slots that were never written', async () => {
    const { start, api } = prepare();
    const process = start('m1');
    await process.takeOver();
    await process.write();
    api.fault('replace', 'daemonrollouts', { kind: 'lose', happened: false });
    await assert.rejects(process.reserve('n1'));
    await process.takeOver();
    assert.equal(process.ledger.get('n1')?.update, undefined);
    assert.equal(process.keeper.unwritten, false);
  });
});

describe('an object that is deleted under us', () => {
  it('is written anew with what we hold', async () => {
    const { start, api } = prepare();
    const process = start('m1');
    await process.takeOver();
    await process.reserve('n1');
    api.objects.remove(daemonRollouts, { namespace: 'edge', name: testRef.rolloutName });
    process.keeper.reserved();
    await assert.rejects(process.write());
    await process.takeOver();
    assert.equal(process.ledger.get('n1')?.update?.stage, 'reserved');
    assert.equal(process.keeper.unwritten, true);
    await process.write();
    assert.equal(api.objects.all(daemonRollouts).length, 1);
  });

  it('and made anew by another leader is believed, and not what we hold', async () => {
    const { start, api } = prepare();
    const first = start('m1');
    await first.takeOver();
    await first.reserve('n1');
    api.objects.remove(daemonRollouts, { namespace: 'edge', name: testRef.rolloutName });
    first.keeper.objectGone();
    const second = start('m2');
    await second.takeOver();
    await second.reserve('n2');
    await first.takeOver();
    assert.equal(first.ledger.get('n1')?.update, undefined);
    assert.equal(first.ledger.get('n2')?.update?.stage, 'inherited');
  });
});

it('who lets go starts anew', async () => {
  const { start, api } = prepare();
  const process = start('m1');
  await process.takeOver();
  process.keeper.reserved();
  process.keeper.letGo();
  assert.equal(process.keeper.unwritten, false);
  await process.takeOver();
  assert.equal(api.sent('get', 'daemonrollouts').length, 2);
});
