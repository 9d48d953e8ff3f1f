import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createTestClock, settle } from '../../test/support/index.ts';
import { silentLogger } from '../runtime/index.ts';
import type { PodVersion, WriteOutcome } from './pod-control.ts';
import { createPodUpdates } from './pod-updates.ts';
import { createRolloutEvents } from './rollout-events.ts';
import { testRef } from './testing/kind.ts';
import { createTestLedger, podFacts, reserve } from './testing/ledger.ts';
import { createTestRecorder } from './testing/recorder.ts';

/** An actor whose requests are answered by hand. */
const prepare = (nodes: readonly string[] = ['n1', 'n2']) => {
  const clock = createTestClock();
  const ledger = createTestLedger(clock, nodes);
  const { recorder, reasons } = createTestRecorder();
  const sent: { what: string; node: string; signal: AbortSignal; answer: (outcome: WriteOutcome) => void }[] = [];
  const send = (what: string) => (node: string, _pod: PodVersion, signal: AbortSignal) => {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>();
    sent.push({ what, node, signal, answer: resolve });
    return promise;
  };
  let ended = 0;
  const acted: string[] = [];
  const actor = createPodUpdates({
    env: { clock, random: () => 0.5, log: silentLogger },
    ledger,
    acts: { delete: send('delete'), change: send('change'), retire: send('retire'), fence: send('fence') },
    events: createRolloutEvents(recorder, testRef),
    metrics: { podWritten: (result) => void acted.push(result) },
    ended: () => void (ended += 1),
  });
  const answer = async (outcome: WriteOutcome, index = sent.length - 1): Promise<void> => {
    sent[index]?.answer(outcome);
    await settle();
  };
  const stage = (node: string): string | undefined => ledger.get(node)?.update?.stage;
  return { clock, ledger, actor, sent, answer, stage, acted, reasons, ended: () => ended };
};

describe('an act', () => {
  it('is sent once however often it is asked for, and asks for a new decision when it ends', async () => {
    const { ledger, clock, actor, sent, answer, stage, ended } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    actor.carryOut('n1', 'delete');
    assert.equal(sent.length, 1);
    assert.equal(stage('n1'), 'sending');
    await answer({ kind: 'done', pod: podFacts('n1', 'h1', { terminating: true, resourceVersion: '11' }) });
    assert.equal(stage('n1'), 'done');
    assert.equal(ended(), 1);
  });

  it('without a slot is never sent', () => {
    const { actor, sent } = prepare();
    actor.carryOut('n1', 'delete');
    actor.fence('n1');
    assert.equal(sent.length, 0);
  });

  it('is one of 16 in the air at most', async () => {
    const nodes = Array.from({ length: 20 }, (_, index) => `n${index}`);
    const { ledger, clock, actor, sent, answer } = prepare(nodes);
    for (const node of nodes) {
      reserve(ledger, node, clock);
      actor.carryOut(node, 'delete');
    }
    assert.equal(sent.length, 16);
    await answer({ kind: 'gone' }, 0);
    actor.carryOut('n19', 'delete');
    assert.equal(sent.at(-1)?.node, 'n19');
  });

  it('whose answer was lost waits for its turn, twice as long each time, and keeps its slot', async () => {
    const { ledger, clock, actor, sent, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    const waits: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      actor.carryOut('n1', 'delete');
      await answer({ kind: 'unsure', message: 'no answer' });
      assert.equal(stage('n1'), 'unsure');
      waits.push(actor.nextTryAt() - clock.now());
      actor.carryOut('n1', 'delete');
      assert.equal(sent.length, round + 1);
      await clock.advance(waits.at(-1) ?? 0);
    }
    assert.deepEqual(waits, [1_000, 2_000, 4_000]);
  });

  it('that is refused gives its slot back, unless an earlier try may still succeed', async () => {
    const { ledger, clock, actor, answer, stage, reasons } = prepare();
    const refused: WriteOutcome = { kind: 'refused', reason: 'Forbidden', message: 'no' };
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    await answer(refused);
    assert.equal(stage('n1'), undefined);
    assert.equal(ledger.get('n1')?.refused?.message, 'no');
    reserve(ledger, 'n2', clock);
    actor.carryOut('n2', 'delete');
    await answer({ kind: 'unsure', message: 'no answer' });
    await clock.advance(1_000);
    actor.carryOut('n2', 'delete');
    await answer(refused);
    assert.equal(stage('n2'), 'unsure');
    assert.deepEqual(reasons(), ['FailedDelete', 'FailedDelete']);
  });

  it('is carried out, and told, by the deed that was decided', async () => {
    const { ledger, clock, actor, sent, answer, stage, acted, reasons } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'change');
    assert.equal(sent[0]?.what, 'change');
    await answer({ kind: 'done', pod: podFacts('n1', 'h1', { resourceVersion: '11' }) });
    assert.equal(stage('n1'), 'done');
    assert.deepEqual([acted, reasons()], [['updated-in-place'], ['SuccessfulUpdatePodInPlace']]);
  });

  it('that ends by a defect keeps its slot as after a lost answer, and waits for its turn', async () => {
    const { ledger, clock, actor, sent, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'surge');
    await settle();
    assert.equal(stage('n1'), 'unsure', 'this kind does not support it');
    assert.equal(actor.nextTryAt(), clock.now() + 1_000);
    actor.carryOut('n1', 'delete');
    assert.equal(sent.length, 0);
    await clock.advance(1_000);
    actor.carryOut('n1', 'delete');
    await answer({ kind: 'gone' });
    assert.equal(stage('n1'), 'done');
  });

  it('of an old pod that is retired needs no slot of its own', async () => {
    const { ledger, clock, actor, sent, answer, stage, acted } = prepare();
    const old = podFacts('n1', 'h1');
    actor.retire('n1', old);
    actor.retire('n1', old);
    assert.deepEqual(
      sent.map(({ what }) => what),
      ['retire'],
    );
    await answer({ kind: 'later', at: clock.now() + 5_000 });
    actor.retire('n1', old);
    assert.equal(sent.length, 1);
    assert.equal(actor.retireAt('n1', old), clock.now() + 5_000);
    actor.retire('n1', { ...old, resourceVersion: '11' });
    await answer({ kind: 'gone' });
    assert.deepEqual([ledger.get('n1')?.pods, stage('n1')], [[], undefined]);
    assert.deepEqual(acted, ['later', 'gone']);
  });

  it('in which somebody else has a part first is tried again when the pod has changed, or in its time', async () => {
    const { ledger, clock, actor, sent, answer, stage } = prepare();
    const at = clock.now() + 60_000;
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    await answer({ kind: 'later', at });
    assert.equal(stage('n1'), 'reserved', 'nothing was sent: the slot may be given back without a fence');
    actor.carryOut('n1', 'delete');
    assert.equal(sent.length, 1);
    assert.equal(actor.nextTryAt(), at);
    await clock.advance(60_000);
    actor.carryOut('n1', 'delete');
    await answer({ kind: 'later', at: Number.POSITIVE_INFINITY });
    actor.carryOut('n1', 'delete');
    assert.equal(sent.length, 2);
    ledger.setPod(podFacts('n1', 'h1', { resourceVersion: '11' }), clock.now());
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    assert.equal(sent.length, 3);
  });

  it('on a pod that changed is reserved anew; nothing that was sent before can succeed', async () => {
    const { ledger, clock, actor, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1', { resourceVersion: '12' }) });
    assert.equal(stage('n1'), 'reserved');
    assert.equal(ledger.get('n1')?.pods[0]?.facts.resourceVersion, '12');
  });

  it('is of unknown fate when the pod is still the one that it was sent for', async () => {
    const { ledger, clock, actor, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1') });
    assert.equal(stage('n1'), 'unsure');
  });

  for (const outcome of [
    { kind: 'done', pod: undefined },
    { kind: 'refused', reason: 'Forbidden', message: 'no' },
    { kind: 'unsure', message: 'no answer' },
  ] satisfies WriteOutcome[])
    it(`that ends (${outcome.kind}) says nothing about another that has its node's slot by then`, async () => {
      const { ledger, clock, actor, answer, stage } = prepare();
      reserve(ledger, 'n1', clock);
      actor.carryOut('n1', 'delete');
      ledger.setPod(podFacts('n1', 'h1', { resourceVersion: '20' }), clock.now());
      ledger.restore(ledger.state, new Map(), new Set(), clock.now());
      reserve(ledger, 'n1', clock);
      await answer(outcome);
      assert.equal(stage('n1'), 'reserved');
    });
});

describe('a fence', () => {
  it('gives the slot back once it is written, and not before', async () => {
    const { ledger, clock, actor, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.setStage('n1', 'inherited', clock.now());
    actor.fence('n1');
    assert.equal(stage('n1'), 'inherited');
    await answer({ kind: 'unsure', message: 'no answer' });
    assert.equal(stage('n1'), 'inherited');
    await clock.advance(1_000);
    actor.fence('n1');
    await answer({ kind: 'done', pod: undefined });
    assert.equal(stage('n1'), undefined);
  });

  it('is not needed where the pod has changed already', async () => {
    const { ledger, clock, actor, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.setStage('n1', 'inherited', clock.now());
    actor.fence('n1');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1') });
    assert.equal(stage('n1'), 'inherited', 'it is still what the other one would delete');
    actor.fence('n1');
    await answer({ kind: 'changed', pod: podFacts('n1', 'h1', { resourceVersion: '12' }) });
    assert.equal(stage('n1'), undefined);
  });

  it('finds out that the act was carried out', async () => {
    const { ledger, clock, actor, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.setStage('n1', 'inherited', clock.now());
    actor.fence('n1');
    await answer({ kind: 'gone' });
    assert.equal(stage('n1'), 'done');
    assert.equal(ledger.get('n1')?.pods.length, 0);
  });

  it('that is refused is told, once', async () => {
    const { ledger, clock, actor, answer, reasons } = prepare();
    reserve(ledger, 'n1', clock);
    ledger.setStage('n1', 'inherited', clock.now());
    for (let round = 0; round < 3; round += 1) {
      actor.fence('n1');
      await answer({ kind: 'refused', reason: 'Forbidden', message: `no ${round}` });
      await clock.advance(60_000);
    }
    assert.deepEqual(reasons(), ['FailedFence']);
  });
});

describe('stopping', () => {
  it('waits for answers that come in time', async () => {
    const { ledger, clock, actor, sent, answer, stage } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    const stopped = actor.stop(500);
    await clock.advance(400);
    await answer({ kind: 'done', pod: undefined });
    await stopped;
    assert.equal(sent[0]?.signal.aborted, false);
    assert.equal(stage('n1'), 'done');
    await clock.advance(1_000);
    assert.equal(sent[0]?.signal.aborted, false, 'its patience has ended with it');
  });

  it('gives up the others, and what is sent afterwards is not concerned', async () => {
    const { ledger, clock, actor, sent, answer } = prepare();
    reserve(ledger, 'n1', clock);
    actor.carryOut('n1', 'delete');
    const stopped = actor.stop(0);
    assert.equal(sent[0]?.signal.aborted, true);
    await answer({ kind: 'unsure', message: 'given up' });
    await stopped;
    reserve(ledger, 'n2', clock);
    actor.carryOut('n2', 'delete');
    assert.equal(sent[1]?.signal.aborted, false);
  });
});
