import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as fc from 'fast-check';
import { formatIdle, idleSlots, type RolloutWrite } from './idle.ts';
import type { OccupiedSlot } from './slots.ts';

const occupied = (node: string, requestedAt: number, from: number, to: number, lagMs = 0): OccupiedSlot => ({
  node,
  requestedAt,
  from,
  to,
  lagMs,
  began: from,
  ended: to,
  ours: true,
});

const write = (receivedAt: number, answeredAt: number, ...reserves: string[]): RolloutWrite => ({
  receivedAt,
  answeredAt,
  reserves,
});

it('splits a hand-over by what the slot waits for', () => {
  const all = [occupied('a', 1045, 1050, 7000, 80), occupied('b', 7190, 7240, 13_000, 120)];
  const idle = idleSlots(all, [write(1000, 1040, 'a'), write(7120, 7180, 'b')], { k: 1, startedAt: 900 });
  assert.deepEqual(idle, {
    handOvers: 1,
    mean: { wave: 0, seen: 120, reservation: 60, sent: 10, taken: 50 },
    undelayed: { handOvers: 1, seenMs: 120 },
    lagMs: 100,
    startMs: 150,
    tailMs: 0,
  });
});

/** A slot is free from 7000 on and reserved at 7300; these writes come before. */
const waitAfter = (...earlier: RolloutWrite[]): { wave: number; seen: number } => {
  const all = [occupied('a', 1045, 1050, 7000), occupied('b', 7360, 7400, 13_000)];
  const writes = [write(1000, 1040, 'a'), ...earlier, write(7300, 7350, 'b')];
  const { wave, seen } = idleSlots(all, writes, { k: 1, startedAt: 900 }).mean;
  return { wave, seen };
};

it('calls the 100 ms after a reservation and every unanswered write a wait for the wave', () => {
  assert.deepEqual(waitAfter(write(6899, 6950, 'x')), { wave: 0, seen: 300 });
  assert.deepEqual(waitAfter(write(6970, 7010, 'x')), { wave: 70, seen: 230 });
  assert.deepEqual(waitAfter(write(6970, 7150, 'x')), { wave: 150, seen: 150 }, 'answered late');
  assert.deepEqual(waitAfter(write(6970, 7010)), { wave: 10, seen: 290 }, 'without a reservation');
  assert.deepEqual(waitAfter(write(6970, 7010, 'x'), write(7050, 7060)), { wave: 70, seen: 230 }, 'two at once');
  assert.deepEqual(waitAfter(write(6970, 7010, 'x'), write(7080, 7120, 'y')), { wave: 170, seen: 130 }, 'missed one');
});

it('tells how long a slot that no wave delayed waits to be seen', () => {
  const all = [
    occupied('a', 10, 20, 1000),
    occupied('b', 10, 20, 1050),
    occupied('c', 1050, 1060, 3000),
    occupied('d', 1150, 1160, 3000),
  ];
  const writes = [write(0, 5, 'a', 'b'), write(1030, 1040, 'c'), write(1140, 1145, 'd')];
  const { mean, undelayed } = idleSlots(all, writes, { k: 2, startedAt: 0 });
  assert.deepEqual([mean.wave, mean.seen, undelayed], [40, 20, { handOvers: 1, seenMs: 30 }]);
});

it('gives the slot that was freed first to the node that was reserved first', () => {
  const all = [
    occupied('a', 10, 20, 1000),
    occupied('b', 10, 20, 2000),
    // Reserved first and taken last.
    occupied('c', 2200, 2300, 9000),
    occupied('d', 2150, 2200, 9000),
  ];
  const writes = [write(0, 10, 'a', 'b'), write(1030, 1080, 'c'), write(2050, 2100, 'd')];
  const { mean, handOvers } = idleSlots(all, writes, { k: 2, startedAt: 0 });
  assert.equal(handOvers, 2);
  assert.deepEqual(mean, { wave: 0, seen: 40, reservation: 50, sent: (1120 + 50) / 2, taken: 75 });
});

it('counts nothing below zero where the watch was faster than the answer', () => {
  const all = [occupied('a', 10, 20, 1000), occupied('b', 1005, 1030, 2000)];
  const writes = [write(0, 10, 'a'), write(990, 1010, 'b')];
  const { mean } = idleSlots(all, writes, { k: 1, startedAt: 0 });
  assert.deepEqual(mean, { wave: 0, seen: 0, reservation: 10, sent: 0, taken: 20 });
});

it('leaves out nodes that became unavailable by themselves, and needs no hand-over', () => {
  const all = [occupied('a', 10, 20, 1000), { ...occupied('b', 30, 40, 5000), ours: false }];
  const idle = idleSlots(all, [write(0, 5, 'a')], { k: 2, startedAt: 0 });
  assert.deepEqual([idle.handOvers, idle.mean.seen, idle.startMs, idle.tailMs], [0, 0, 20, 0]);
});

it('accounts, with the time that slots are occupied, for all of the time of k slots', () => {
  const duration = fc.integer({ min: 0, max: 300 });
  const node = fc.record({ unseen: duration, reservation: duration, sent: duration, taken: duration, down: duration });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5 }), fc.array(node, { minLength: 5, maxLength: 40 }), (k, nodes) => {
      const freeAt = Array.from({ length: k }, () => 0);
      const all: OccupiedSlot[] = [];
      const writes: RolloutWrite[] = [];
      for (const [index, { unseen, reservation, sent, taken, down }] of nodes.entries()) {
        const slot = freeAt.indexOf(Math.min(...freeAt));
        const receivedAt = Math.max(writes.at(-1)?.receivedAt ?? 0, (freeAt[slot] ?? 0) + unseen);
        writes.push(write(receivedAt, receivedAt + reservation, `n${index}`));
        const requestedAt = receivedAt + reservation + sent;
        const from = requestedAt + taken;
        freeAt[slot] = from + down;
        all.push(occupied(`n${index}`, requestedAt, from, from + down));
      }
      const idle = idleSlots(all, writes, { k, startedAt: 0 });
      const { wave, seen, reservation, sent, taken } = idle.mean;
      const empty = (wave + seen + reservation + sent + taken) * idle.handOvers + (idle.startMs + idle.tailMs) * k;
      const used = all.reduce((sum, { from, to }) => sum + to - from, 0);
      assert.ok(Math.abs(used + empty - k * Math.max(...freeAt)) < 1e-6);
    }),
  );
});

it('formats the parts in the order of the wait', () => {
  const idle = {
    handOvers: 900,
    mean: { wave: 51, seen: 38, reservation: 62, sent: 14, taken: 47 },
    undelayed: { handOvers: 42, seenMs: 90 },
    lagMs: 85,
    startMs: 310,
    tailMs: 4100,
  };
  const parts =
    'a slot was empty for 212 ms on average (1.9 s of the rollout): 51 ms wave, 38 ms watch and decision (90 ms for the 42 that no wave ' +
    'delayed), 62 ms reservation, 61 ms delete (14 ms of it until the API server received it); ';
  assert.equal(formatIdle(idle, { k: 100, take: 'delete' }), `${parts}start 310 ms, tail 4.1 s`);
  assert.equal(
    formatIdle(idle, { k: 100, take: 'delete', within: 'its create' }),
    `${parts}a node waited 85 ms for its create; start 310 ms, tail 4.1 s`,
  );
});
