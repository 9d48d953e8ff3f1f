import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { silentLogger } from '../../runtime/index.ts';
import { createRolloutEvents } from '../events/rollout-events.ts';
import type { PodVersion, WriteOutcome } from '../pod-writes.ts';
import { createTestLedger, createTestRecorder, podFacts, reserve, testRef } from '../testing/fixtures.ts';
import { createPodUpdates } from './pod-updates.ts';

/** Pod updates whose requests the test answers. */
const prepare = (nodes: readonly string[] = ['n1', 'n2']) => {
  const clock = createTestClock();
  const ledger = createTestLedger(clock, nodes);
  const { recorder, reasons } = createTestRecorder();
  const sent: {
    what: string;
    node: string;
    uid: string;
    version: string;
    signal: AbortSignal;
    answer: (outcome: WriteOutcome) => void;
  }[] = [];
  const send = (what: string) => (node: string, pod: PodVersion, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    sent.push({ what, node, uid: pod.podUid, version: pod.podResourceVersion, signal, answer: resolve });
    return promise;
  };
  let settledWrites = 0;
  const acted: string[] = [];
  const updates = createPodUpdates({
    env: { clock, random: () => 0.5, log: silentLogger },
    ledger,
    podWrites: {
      delete: send('delete'),
      'update-in-place': send('update-in-place'),
      'delete-old': send('delete-old'),
      fence: send('fence'),
    },
    events: createRolloutEvents(recorder, testRef),
    metrics: { podWritten: (result) => void acted.push(result) },
    onWriteDone: () => void (settledWrites += 1),
  });
  const answer = async (outcome: WriteOutcome, index = sent.length - 1): Promise<void> => {
    const call = sent[index];
    // As the cache does, which receives every response.
    if (call && outcome.kind === 'gone') ledger.removePod(call.uid, clock.now());
    if ('pod' in outcome && outcome.pod) ledger.setPod(outcome.pod, clock.now());
    call?.answer(outcome);
    await settle();
  };
  const state = (node: string): string | undefined => ledger.get(node)?.update?.state;
  return { clock, ledger, updates, sent, answer, state, acted, reasons, settledWrites: () => settledWrites };
};

describe('an update', () => {
  it('is sent once however often it is requested, and requests a reconcile when it ends', async () => {
    const { ledger, clock, updates, sent, answer, state, settledWrites } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    updates.update('n1', 'delete', 'outdated');
    assert.equal(sent.length, 1);
    assert.equal(state('n1'), 'sending');
    await answer({ kind: 'done', pod: podFacts('n1', 'h1', { terminating: true, resourceVersion: '11' }) });
    assert.equal(state('n1'), 'done');
    assert.equal(settledWrites(), 1);
  });

  it('is never sent without a slot', () => {
    const { updates, sent } = prepare();
    updates.update('n1', 'delete', 'outdated');
    updates.fence('n1');
    assert.equal(sent.length, 0);
  });

  it('is one of 16 in flight at most', async () => {
    const nodes = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const { ledger, clock, updates, sent, answer } = prepare(nodes);
    for (const node of nodes) {
      reserve(ledger, node, clock);
      updates.update(node, 'delete', 'outdated');
    }
    assert.equal(sent.length, 16);
    await answer({ kind: 'gone' }, 0);
    updates.update('n19', 'delete', 'outdated');
    assert.equal(sent.at(-1)?.node, 'n19');
  });

  it('whose response was lost keeps its slot and is retried with exponential back-off', async () => {
    const { ledger, clock, updates, sent, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      updates.update('n1', 'delete', 'outdated');
      await answer({ kind: 'unsure', message: 'no response' });
      assert.equal(state('n1'), 'unsure');
      waits.push(updates.update('n1', 'delete', 'outdated') - clock.now());
      assert.equal(sent.length, round + 1);
      await clock.advance(waits.at(-1) ?? 0);
    }
    assert.deepEqual(waits, [1_000, 2_000, 4_000]);
  });

  it('that is refused frees its slot, unless an earlier attempt may still succeed', async () => {
    const { ledger, clock, updates, answer, state, reasons } = prepare();
    const refused: WriteOutcome = { kind: 'refused', reason: 'Forbidden', message: 'no' };
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    await answer(refused);
    assert.equal(state('n1'), undefined);
    assert.equal(ledger.get('n1')?.refused?.message, 'no');
    reserve(ledger, 'n2', clock);
    updates.update('n2', 'delete', 'outdated');
    await answer({ kind: 'unsure', message: 'no response' });
    await clock.advance(1_000);
    updates.update('n2', 'delete', 'outdated');
    await answer(refused);
    assert.equal(state('n2'), 'unsure');
    assert.deepEqual(reasons(), ['FailedDelete', 'FailedDelete']);
  });

  it('that the API server did not look at keeps its slot, and is decided on again', async () => {
    const { ledger, clock, updates, sent, answer, state, reasons } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'refused', reason: undefined, message: 'too many requests' });
    assert.deepEqual([state('n1'), ledger.get('n1')?.refused, reasons()], ['reserved', undefined, []]);
    assert.equal(updates.update('n1', 'delete', 'outdated') - clock.now(), 1_000);
    await clock.advance(1_000);
    updates.update('n1', 'delete', 'outdated');
    assert.equal(sent.length, 2);
  });

  it('is executed and recorded as the kind of write that was decided', async () => {
    const { ledger, clock, updates, sent, answer, state, acted, reasons } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'update-in-place', 'outdated');
    assert.equal(sent[0]?.what, 'update-in-place');
    await answer({ kind: 'done', pod: podFacts('n1', 'h1', { resourceVersion: '11' }) });
    assert.equal(state('n1'), 'done');
    assert.deepEqual([acted, reasons()], [['updated-in-place'], ['SuccessfulUpdatePodInPlace']]);
  });

  it('that finds no pod was perhaps made by somebody else: an old pod in its place is updated', async () => {
    for (const write of ['update', 'fence'] as const) {
      const { ledger, clock, updates, answer, state } = prepare();
      reserve(ledger, 'n1', clock);
      if (write === 'update') updates.update('n1', 'delete', 'outdated');
      else updates.fence('n1');
      await answer({ kind: 'gone' });
      assert.equal(state('n1'), 'unproven', 'it keeps its slot');
      ledger.setPod({ ...podFacts('n1', 'h1'), uid: 'another' }, clock.now());
      assert.equal(ledger.get('n1')?.status.failure, undefined);
    }
  });

  it('that throws keeps its slot as after a lost response, and backs off', async () => {
    const { ledger, clock, updates, sent, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'surge', 'outdated');
    await settle();
    assert.equal(state('n1'), 'unsure', 'this kind does not support it');
    assert.equal(updates.update('n1', 'delete', 'outdated'), clock.now() + 1_000);
    assert.equal(sent.length, 0);
    await clock.advance(1_000);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'gone' });
    assert.equal(state('n1'), 'unproven');
  });

  it('that deletes a replaced pod needs no slot of its own', async () => {
    const { ledger, clock, updates, sent, answer, state, acted } = prepare();
    const old = podFacts('n1', 'h1');
    updates.deleteOld('n1', old);
    updates.deleteOld('n1', old);
    assert.deepEqual(
      sent.map(({ what }) => what),
      ['delete-old'],
    );
    await answer({ kind: 'later', at: clock.now() + 5_000 });
    assert.equal(updates.deleteOld('n1', old), clock.now() + 5_000);
    assert.equal(sent.length, 1);
    updates.deleteOld('n1', { ...old, resourceVersion: '11' });
    await answer({ kind: 'gone' });
    assert.deepEqual([ledger.get('n1')?.pods, state('n1')], [[], undefined]);
    assert.deepEqual(acted, ['later', 'gone']);
  });

  it('that a hook holds back is retried when the pod has changed, or at the given time', async () => {
    const { ledger, clock, updates, sent, answer, state } = prepare();
    const at = clock.now() + 60_000;
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'later', at });
    assert.equal(state('n1'), 'reserved', 'nothing was sent: the slot can be freed without a fence');
    assert.equal(updates.update('n1', 'delete', 'outdated'), at);
    assert.equal(sent.length, 1);
    await clock.advance(60_000);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'later', at: Number.POSITIVE_INFINITY });
    updates.update('n1', 'delete', 'outdated');
    assert.equal(sent.length, 2);
    ledger.setPod(podFacts('n1', 'h1', { resourceVersion: '11' }), clock.now());
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    assert.equal(sent.length, 3);
  });

  it('on a pod that has changed is reserved again: nothing that was sent before can succeed', async () => {
    const { ledger, clock, updates, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1', { resourceVersion: '12' }) });
    assert.equal(state('n1'), 'reserved');
    assert.equal(ledger.get('n1')?.pods[0]?.facts.resourceVersion, '12');
  });

  it('continues after its first write in the version that the pod has by then', async () => {
    const { ledger, clock, updates, sent, answer, state } = prepare();
    reserve(ledger, 'n1', clock, 'in-place');
    const closed = (resourceVersion: string) => podFacts('n1', 'h1', { resourceVersion, updatingInPlace: true });
    updates.update('n1', 'update-in-place', 'outdated');
    await answer({ kind: 'changed', pod: closed('11'), begun: true });
    assert.equal(state('n1'), 'reserved');
    ledger.setPod(closed('12'), clock.now());
    updates.update('n1', 'update-in-place', 'outdated');
    assert.deepEqual(
      sent.map(({ version }) => version),
      [sent[0]?.version, '12'],
    );
    await answer({ kind: 'changed', pod: closed('12') });
    assert.equal(state('n1'), 'unsure', 'the pod is still the one that the second write was sent for');
  });

  it('has an unknown outcome if the pod is still the one that it was sent for', async () => {
    const { ledger, clock, updates, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1') });
    assert.equal(state('n1'), 'unsure');
  });

  for (const outcome of [
    { kind: 'done', pod: undefined },
    { kind: 'refused', reason: 'Forbidden', message: 'no' },
    { kind: 'unsure', message: 'no response' },
  ] satisfies WriteOutcome[])
    it(`that ends (${outcome.kind}) does not affect another update that has the node's slot by then`, async () => {
      const { ledger, clock, updates, answer, state } = prepare();
      reserve(ledger, 'n1', clock);
      updates.update('n1', 'delete', 'outdated');
      ledger.setPod(podFacts('n1', 'h1', { resourceVersion: '20' }), clock.now());
      ledger.restore(ledger.state, new Map(), new Set(), clock.now());
      reserve(ledger, 'n1', clock);
      await answer(outcome);
      assert.equal(state('n1'), 'reserved');
    });
});

describe('a fence', () => {
  it('frees the slot once it is written, and not before', async () => {
    const { ledger, clock, updates, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.noteEvent('n1', 'taken-over', clock.now());
    updates.fence('n1');
    assert.equal(state('n1'), 'inherited');
    await answer({ kind: 'unsure', message: 'no response' });
    assert.equal(state('n1'), 'inherited');
    await clock.advance(1_000);
    updates.fence('n1');
    await answer({ kind: 'done', pod: undefined });
    assert.equal(state('n1'), undefined);
  });

  it('is not needed if the pod has already changed', async () => {
    const { ledger, clock, updates, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.noteEvent('n1', 'taken-over', clock.now());
    updates.fence('n1');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1') });
    assert.equal(state('n1'), 'inherited', 'it is still the version that the other process would delete');
    updates.fence('n1');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1', { resourceVersion: '12' }) });
    assert.equal(state('n1'), undefined);
  });

  it('finds out that the update was executed', async () => {
    const { ledger, clock, updates, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.noteEvent('n1', 'taken-over', clock.now());
    updates.fence('n1');
    await answer({ kind: 'gone' });
    assert.equal(state('n1'), 'unproven');
    assert.equal(ledger.get('n1')?.pods.length, 0);
  });

  it('that is refused is recorded once', async () => {
    const { ledger, clock, updates, answer, reasons } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.noteEvent('n1', 'taken-over', clock.now());
    for (let round = 0; round < 3; round += 1) {
      updates.fence('n1');
      await answer({ kind: 'refused', reason: 'Forbidden', message: `no ${round}` });
      await clock.advance(60_000);
    }
    assert.deepEqual(reasons(), ['FailedFence']);
  });
});

describe('draining', () => {
  it('waits for responses that come in time', async () => {
    const { ledger, clock, updates, sent, answer, state } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    const stopped = updates.drain(500);
    await clock.advance(400);
    await answer({ kind: 'done', pod: undefined });
    await stopped;
    assert.equal(sent[0]?.signal.aborted, false);
    assert.equal(state('n1'), 'done');
    await clock.advance(1_000);
    assert.equal(sent[0]?.signal.aborted, false, 'its timer ended with it');
  });

  it('aborts the others, and nothing that is sent afterwards', async () => {
    const { ledger, clock, updates, sent, answer } = prepare();
    reserve(ledger, 'n1', clock);
    updates.update('n1', 'delete', 'outdated');
    const stopped = updates.drain(0);
    assert.equal(sent[0]?.signal.aborted, true);
    await answer({ kind: 'unsure', message: 'aborted' });
    await stopped;
    reserve(ledger, 'n2', clock);
    updates.update('n2', 'delete', 'outdated');
    assert.equal(sent[1]?.signal.aborted, false);
  });
});
