import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTestClock, settle } from '../../../test/support/index.ts';
import { createSeatQueue, type LeaveSeat } from './seats.ts';

const setUp = (total: number, perGroup: number, slowMs = 2_000) => {
  const clock = createTestClock();
  const seats = createSeatQueue({ clock, total, perGroup, slowMs });
  const seated: string[] = [];
  const leaves = new Map<string, LeaveSeat>();
  /** Joins as `group/number`. */
  const join = (name: string, signal?: AbortSignal): void => {
    const [group = ''] = name.split('/');
    const sit = (leave: LeaveSeat): void => {
      seated.push(name);
      leaves.set(name, leave);
    };
    seats.acquire(group, signal).then(sit, () => undefined);
  };
  const leave = async (...names: string[]): Promise<void> => {
    for (const name of names) leaves.get(name)?.();
    await settle();
  };
  return { clock, seats, seated, join, leave };
};

test('seats no more than there are, and no more of one group than it may have', async () => {
  const { seated, join, leave } = setUp(4, 3);
  for (const name of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'b/2']) join(name);
  await settle();
  assert.deepEqual(seated, ['a/1', 'a/2', 'a/3', 'b/1']);
  await leave('b/1', 'b/1');
  assert.deepEqual(seated.slice(4), ['b/2'], 'group a has its share; leaving twice frees one seat');
  await leave('a/1');
  assert.deepEqual(seated.slice(5), ['a/4']);
});

test('groups take turns, however many of one group wait', async () => {
  const { seated, join, leave } = setUp(1, 1);
  for (const name of ['a/1', 'a/2', 'a/3', 'b/1', 'c/1']) join(name);
  for (let left = 0; left < 4; left += 1) {
    await settle();
    await leave(seated.at(-1) ?? '');
  }
  assert.deepEqual(seated, ['a/1', 'a/2', 'b/1', 'c/1', 'a/3']);
});

test('what is slow no longer keeps a seat from other groups', async () => {
  const { clock, seated, join, leave } = setUp(4, 3);
  for (const name of ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'c/1', 'd/1', 'e/1', 'f/1']) join(name);
  await clock.advance(1_999);
  assert.deepEqual(seated, ['a/1', 'a/2', 'a/3', 'b/1']);
  await clock.advance(1);
  assert.deepEqual(seated.slice(4), ['c/1', 'd/1', 'e/1', 'f/1'], 'group a keeps its share of three');
  await leave('a/2');
  assert.equal(seated.length, 8, 'four quick ones run');
  await leave('c/1');
  assert.deepEqual(seated.slice(8), ['a/4']);
  await leave(...seated);
  assert.equal(clock.pending, 0);
});

test('a group whose work is refused has fewer seats for a while, and the others have all of theirs', async () => {
  const { clock, seats, seated, join, leave } = setUp(8, 6);
  for (const name of ['a/1', 'a/2', 'a/3', 'a/4', 'a/5']) join(name);
  await settle();
  for (const name of ['a/1', 'a/2', 'a/3']) {
    seats.narrow('a');
    await leave(name);
  }
  for (const name of ['a/6', 'a/7', 'b/1', 'b/2', 'b/3', 'b/4', 'b/5']) join(name);
  await settle();
  assert.deepEqual(seated.slice(5), ['b/1', 'b/2', 'b/3', 'b/4', 'b/5'], 'two of five were not refused, and are there');
  await leave('b/1', 'a/4');
  assert.deepEqual(seated.slice(10), ['a/6']);
  await clock.advance(4_999);
  await leave('b/2');
  assert.equal(seated.length, 11);
  await clock.advance(1);
  await leave('b/3');
  assert.deepEqual(seated.slice(11), ['a/7'], 'one more after five seconds');
  for (let refused = 0; refused < 5; refused += 1) seats.narrow('a');
  join('a/8');
  await leave('a/5', 'a/6');
  assert.equal(seated.length, 12);
  await leave('a/7');
  assert.deepEqual(seated.slice(12), ['a/8'], 'one seat is left to every group');
});

test('who gives up is not seated', async () => {
  const { clock, seated, join, leave } = setUp(1, 1);
  const gone = new AbortController();
  join('a/1');
  join('b/1', gone.signal);
  join('b/2');
  await settle();
  gone.abort(new Error('gone'));
  await leave('a/1');
  join('c/1', gone.signal);
  await settle();
  assert.deepEqual(seated, ['a/1', 'b/2']);
  await leave('b/2');
  assert.equal(clock.pending, 0);
});
