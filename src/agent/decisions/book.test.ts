import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { createVirtualClock, type Env, silentLogger } from '../../runtime/index.ts';
import { createDisk, diskError } from '../journal/testing/disk.ts';
import type { Caller, Choice, DecisionAct } from '../types.ts';
import { openDecisionBook } from './book.ts';
import type { DecisionBook, DecisionInput } from './types.ts';

const base = mkdtempSync(path.join(tmpdir(), 'edgeset-book-'));
after(() => rmSync(base, { recursive: true, force: true }));

const clock = createVirtualClock(Date.parse('2026-11-21T12:00:00Z'));
const env: Env = { clock, random: () => 0.5, log: silentLogger };
const owner: Caller = { identity: 'uid:0', via: 'loopback' };
const till = { namespace: 'shop', daemonSet: 'till' };
const now: Choice = { choice: 'approve', when: { type: 'now' } };
const reject: Choice = { choice: 'reject' };
const input = (more: Partial<DecisionInput> = {}): DecisionInput => ({
  ...till,
  revision: 'r2',
  choice: now,
  by: owner,
  fromRevision: 'r1',
  ...more,
});
const act: Omit<DecisionAct, 'startedAt'> = {
  kind: 'delete',
  pod: 'till-x',
  podUid: 'u1',
  fromRevision: 'r1',
  toRevision: 'r2',
};

let count = 0;
let dir = '';
beforeEach(() => {
  count += 1;
  dir = path.join(base, String(count));
});

const open = (): Promise<DecisionBook> => openDecisionBook({ dir, env });

/** What the next process finds. */
const reopened = async (book: DecisionBook): Promise<DecisionBook> => {
  await book.close();
  return open();
};

describe('decision book', () => {
  it('has a decision, also after a restart, until it is settled', async () => {
    let book = await open();
    const decision = await book.decide(input());
    assert.deepEqual(decision, {
      id: 1,
      ...till,
      revision: 'r2',
      decision: now,
      by: owner,
      at: '2026-11-21T12:00:00.000Z',
      state: 'open',
    });
    book = await reopened(book);
    assert.deepEqual(book.current(till), decision);
    assert.deepEqual(book.acting(), []);
    await book.begin(1, act);
    book = await reopened(book);
    assert.equal(book.acting().length, 1);
    assert.deepEqual(book.acting()[0]?.act, { ...act, startedAt: '2026-11-21T12:00:00.000Z' });
    const done = await book.settle(1, 'done', 'Updated', 'The new pod is ready.');
    assert.equal(done.state, 'done');
    book = await reopened(book);
    assert.equal(book.current(till), undefined);
    assert.deepEqual(
      book.history().map(({ what, fromRevision, toRevision }) => [what, fromRevision, toRevision]),
      [
        ['Updated', 'r1', 'r2'],
        ['Deleting', 'r1', 'r2'],
        ['Approved', 'r1', 'r2'],
      ],
    );
    await book.close();
  });

  it('tells a deadline that has passed apart from what an owner agreed to', async () => {
    const book = await open();
    await book.decide(input({ by: { identity: 'agent', via: 'agent' } }));
    assert.deepEqual(
      book.history().map(({ what, who }) => [what, who]),
      [['DeadlineReached', 'agent']],
    );
    await book.close();
  });

  it('takes fifty of the same request at once for one decision', async () => {
    const book = await open();
    const decisions = await Promise.all(Array.from({ length: 50 }, () => book.decide(input())));
    assert.deepEqual(new Set(decisions.map(({ id }) => id)), new Set([1]));
    assert.equal(book.history().length, 1);
    await book.begin(1, act);
    assert.equal((await book.decide(input())).state, 'acting', 'a replay while it is acting does nothing');
    await book.close();
  });

  it('replaces the open decision by a newer one, of the same DaemonSet alone', async () => {
    const book = await open();
    await book.decide(input());
    await book.decide(input({ daemonSet: 'camera' }));
    const second = await book.decide(input({ choice: reject }));
    assert.equal(second.id, 3);
    assert.equal(book.current(till)?.id, 3);
    assert.equal(book.current({ ...till, daemonSet: 'camera' })?.id, 2);
    await assert.rejects(book.begin(1, act), { code: 'NotFound' });
    await book.close();
  });

  it('does not replace what was decided since it was asked for', async () => {
    const book = await open();
    const asOf = book.lastId;
    await book.decide(input({ daemonSet: 'camera', asOf }));
    await book.decide(input({ choice: reject }));
    await assert.rejects(book.decide(input({ asOf })), { code: 'Newer' });
    assert.equal((await book.decide(input({ choice: reject, asOf }))).id, 2, 'the same is the same');
    assert.equal((await book.decide(input({ asOf: book.lastId }))).id, 3);
    await book.close();
  });

  it('begins an act once, and only one that was approved for this revision', async () => {
    const book = await open();
    await book.decide(input({ choice: reject }));
    await assert.rejects(book.begin(1, act), { code: 'NotApproved' });
    await book.decide(input());
    await assert.rejects(book.begin(2, { ...act, toRevision: 'r3' }), { code: 'NotApproved' });
    const begun = await Promise.allSettled([book.begin(2, act), book.begin(2, act), book.begin(2, act)]);
    assert.deepEqual(
      begun.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    await assert.rejects(book.decide(input({ choice: reject })), { code: 'Acting' });
    await assert.rejects(book.decide(input({ revision: 'r3' })), { code: 'Acting' });
    await book.settle(2, 'refused', 'Refused', 'The pod is gone.');
    await assert.rejects(book.settle(2, 'done', 'Updated', ''), { code: 'NotFound' });
    await assert.rejects(book.begin(2, act), { code: 'NotFound' });
    await book.close();
  });

  it('lets a decision wait again whose act was certainly not carried out', async () => {
    let book = await open();
    await book.decide(input());
    await assert.rejects(book.reopen(1, ''), { code: 'NotOpen' });
    await book.begin(1, act);
    await book.reopen(1, 'Nothing was sent.');
    book = await reopened(book);
    assert.equal(book.current(till)?.state, 'open');
    assert.equal(book.current(till)?.act, undefined);
    await book.begin(1, act);
    await book.close();
  });

  it('gives ids that grow for ever, and keeps 500 lines of history within a bound of disk', async () => {
    let book = await open();
    for (let round = 1; round <= 400; round += 1) {
      const { id } = await book.decide(input({ revision: `r${round}`, choice: reject }));
      assert.equal(id, round);
      await book.note({
        ...till,
        who: 'agent',
        what: 'Noted',
        fromRevision: null,
        toRevision: null,
        result: 'x'.repeat(2000),
      });
    }
    assert.equal(book.history().length, 500);
    book = await reopened(book);
    assert.equal(book.history().length, 500);
    assert.equal(book.history()[0]?.what, 'Noted');
    assert.equal(book.history()[0]?.result.length, 500);
    assert.equal((await book.decide(input())).id, 401);
    assert.ok(statSync(path.join(dir, 'decisions', 'decisions.journal')).size < 1024 * 1024);
    await book.close();
  });

  it('tells its listeners of every change once it is durable, also when one of them throws', async () => {
    const book = await open();
    let told = 0;
    book.onChange(() => {
      throw new Error('of a listener');
    });
    const end = book.onChange(() => {
      told += 1;
      assert.equal(book.current(till)?.id, 1);
    });
    await book.decide(input());
    end();
    await book.decide(input({ choice: reject }));
    assert.equal(told, 1);
    await book.close();
  });

  it('tells once when the disk takes nothing, and again when it takes something', async () => {
    const disk = createDisk();
    const lock = { held: () => Promise.resolve(true), release: () => Promise.resolve() };
    const book = await openDecisionBook({ dir: '/state', env, on: { files: disk, lock: () => Promise.resolve(lock) } });
    const seen: (string | undefined)[] = [];
    book.onChange(() => seen.push(book.trouble));
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    for (let tries = 0; tries < 3; tries += 1) await assert.rejects(book.decide(input()), { code: 'NoSpace' });
    assert.equal(seen.length, 1);
    assert.match(seen[0] ?? '', /disk is full: free some space/);
    disk.failure = undefined;
    await book.decide(input());
    assert.deepEqual(seen.slice(1), [undefined]);
    await book.close();
  });

  it('is used by one agent at a time', async () => {
    const book = await open();
    await assert.rejects(open(), { code: 'Locked' });
    await book.close();
  });

  it('tells of damage, and keeps the rest', async () => {
    const book = await open();
    await book.decide(input());
    await book.decide(input({ daemonSet: 'camera' }));
    await book.close();
    const file = path.join(dir, 'decisions', 'decisions.journal');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"till"', '"tilt"'));
    const again = await open();
    assert.match(again.damage ?? '', /damaged/);
    assert.equal(again.current({ ...till, daemonSet: 'camera' })?.id, 2);
    assert.equal((await again.decide(input())).id, 3);
    await again.close();
  });
});
