import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { createVirtualClock, type Env, silentLogger } from '../../runtime/index.ts';
import { createDisk, diskError } from '../storage/testing/disk.ts';
import type { Caller, Choice, DecisionAct } from '../types.ts';
import { openDecisionStore } from './store.ts';
import type { DecisionInput, DecisionStore } from './types.ts';

const base = mkdtempSync(path.join(tmpdir(), 'edgeset-decisions-'));
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

const open = (): Promise<DecisionStore> => openDecisionStore({ dir, env });

/** Reopens the store like the next process. */
const reopened = async (decisions: DecisionStore): Promise<DecisionStore> => {
  await decisions.close();
  return open();
};

describe('the decision store', () => {
  it('keeps a decision, also after a restart, until it is settled', async () => {
    let decisions = await open();
    const decision = await decisions.decide(input());
    assert.deepEqual(decision, {
      id: 1,
      ...till,
      revision: 'r2',
      decision: now,
      by: owner,
      at: '2026-11-21T12:00:00.000Z',
      state: 'open',
    });
    decisions = await reopened(decisions);
    assert.deepEqual(decisions.current(till), decision);
    assert.deepEqual(decisions.acting(), []);
    await decisions.begin(1, act);
    decisions = await reopened(decisions);
    assert.equal(decisions.acting().length, 1);
    assert.deepEqual(decisions.acting()[0]?.act, { ...act, startedAt: '2026-11-21T12:00:00.000Z' });
    const done = await decisions.settle(1, 'done', 'Updated', 'The new pod is ready.');
    assert.equal(done.state, 'done');
    decisions = await reopened(decisions);
    assert.equal(decisions.current(till), undefined);
    assert.deepEqual(
      decisions.history().map(({ what, fromRevision, toRevision }) => [what, fromRevision, toRevision]),
      [
        ['Updated', 'r1', 'r2'],
        ['Deleting', 'r1', 'r2'],
        ['Approved', 'r1', 'r2'],
      ],
    );
    // So that a page in another language can say it.
    assert.deepEqual(
      decisions.history().map(({ choice }) => choice),
      [undefined, undefined, now],
    );
    await decisions.close();
  });

  it("distinguishes the deadline from an owner's approval in the history", async () => {
    const decisions = await open();
    await decisions.decide(input({ by: { identity: 'agent', via: 'agent' } }));
    assert.deepEqual(
      decisions.history().map(({ what, who, choice }) => [what, who, choice]),
      [['DeadlineReached', 'agent', undefined]],
    );
    await decisions.close();
  });

  it('makes one decision of fifty identical concurrent requests', async () => {
    const decisions = await open();
    const made = await Promise.all(Array.from({ length: 50 }, () => decisions.decide(input())));
    assert.deepEqual(new Set(made.map(({ id }) => id)), new Set([1]));
    assert.equal(decisions.history().length, 1);
    await decisions.begin(1, act);
    assert.equal((await decisions.decide(input())).state, 'acting', 'a replay while it is acting does nothing');
    await decisions.close();
  });

  it('replaces the open decision of the same DaemonSet only', async () => {
    const decisions = await open();
    await decisions.decide(input());
    await decisions.decide(input({ daemonSet: 'camera' }));
    const second = await decisions.decide(input({ choice: reject }));
    assert.equal(second.id, 3);
    assert.equal(decisions.current(till)?.id, 3);
    assert.equal(decisions.current({ ...till, daemonSet: 'camera' })?.id, 2);
    await assert.rejects(decisions.begin(1, act), { code: 'NotFound' });
    await decisions.close();
  });

  it('does not replace a decision that is newer than the request', async () => {
    const decisions = await open();
    const asOf = decisions.lastId;
    await decisions.decide(input({ daemonSet: 'camera', asOf }));
    await decisions.decide(input({ choice: reject }));
    await assert.rejects(decisions.decide(input({ asOf })), { code: 'Newer' });
    assert.equal((await decisions.decide(input({ choice: reject, asOf }))).id, 2, 'the same is the same');
    assert.equal((await decisions.decide(input({ asOf: decisions.lastId }))).id, 3);
    await decisions.close();
  });

  it('begins a write once, and only if this revision was approved', async () => {
    const decisions = await open();
    await decisions.decide(input({ choice: reject }));
    await assert.rejects(decisions.begin(1, act), { code: 'NotApproved' });
    await decisions.decide(input());
    await assert.rejects(decisions.begin(2, { ...act, toRevision: 'r3' }), { code: 'NotApproved' });
    const begun = await Promise.allSettled([decisions.begin(2, act), decisions.begin(2, act), decisions.begin(2, act)]);
    assert.deepEqual(
      begun.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected'],
    );
    await assert.rejects(decisions.decide(input({ choice: reject })), { code: 'Acting' });
    await assert.rejects(decisions.decide(input({ revision: 'r3' })), { code: 'Acting' });
    await decisions.settle(2, 'refused', 'Refused', 'The pod is gone.');
    await assert.rejects(decisions.settle(2, 'done', 'Updated', ''), { code: 'NotFound' });
    await assert.rejects(decisions.begin(2, act), { code: 'NotFound' });
    await decisions.close();
  });

  it('reopens a decision whose write was certainly not carried out', async () => {
    let decisions = await open();
    await decisions.decide(input());
    await assert.rejects(decisions.reopen(1, ''), { code: 'NotOpen' });
    await decisions.begin(1, act);
    await decisions.reopen(1, 'Nothing was sent.');
    decisions = await reopened(decisions);
    assert.equal(decisions.current(till)?.state, 'open');
    assert.equal(decisions.current(till)?.act, undefined);
    await decisions.begin(1, act);
    await decisions.close();
  });

  it('assigns increasing ids, and keeps 500 history entries in bounded disk space', async () => {
    let decisions = await open();
    for (let round = 1; round <= 400; round += 1) {
      const { id } = await decisions.decide(input({ revision: `r${round}`, choice: reject }));
      assert.equal(id, round);
      await decisions.note({
        ...till,
        who: 'agent',
        what: 'Noted',
        fromRevision: null,
        toRevision: null,
        result: 'x'.repeat(2000),
      });
    }
    assert.equal(decisions.history().length, 500);
    decisions = await reopened(decisions);
    assert.equal(decisions.history().length, 500);
    assert.equal(decisions.history()[0]?.what, 'Noted');
    assert.equal(decisions.history()[0]?.result.length, 500);
    assert.equal((await decisions.decide(input())).id, 401);
    assert.ok(statSync(path.join(dir, 'decisions', 'decisions.json')).size < 1024 * 1024);
    await decisions.close();
  });

  it('notifies listeners of every durable change, even if one of them throws', async () => {
    const decisions = await open();
    let told = 0;
    decisions.onChange(() => {
      throw new Error('of a listener');
    });
    const end = decisions.onChange(() => {
      told += 1;
      assert.equal(decisions.current(till)?.id, 1);
    });
    await decisions.decide(input());
    end();
    await decisions.decide(input({ choice: reject }));
    assert.equal(told, 1);
    await decisions.close();
  });

  it('notifies once when saving starts to fail, and again when it works', async () => {
    const disk = createDisk();
    const lock = { held: () => Promise.resolve(true), release: () => Promise.resolve() };
    const decisions = await openDecisionStore({
      dir: '/state',
      env,
      disk: { files: disk, lock: () => Promise.resolve(lock) },
    });
    const seen: (string | undefined)[] = [];
    decisions.onChange(() => seen.push(decisions.trouble));
    disk.failure = (op) => (op.kind === 'write' ? diskError('ENOSPC') : undefined);
    for (let tries = 0; tries < 3; tries += 1) await assert.rejects(decisions.decide(input()), { code: 'NoSpace' });
    assert.equal(seen.length, 1);
    assert.match(seen[0] ?? '', /disk is full: free some space/);
    disk.failure = undefined;
    await decisions.decide(input());
    assert.deepEqual(seen.slice(1), [undefined]);
    await decisions.close();
  });

  it('can be used by one agent at a time', async () => {
    const decisions = await open();
    await assert.rejects(open(), { code: 'Locked' });
    await decisions.close();
  });

  it('reports damage, and keeps what was before', async () => {
    const decisions = await open();
    await decisions.decide(input());
    await decisions.decide(input({ daemonSet: 'camera' }));
    await decisions.close();
    const file = path.join(dir, 'decisions', 'decisions.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"camera"', '"canary"'));
    const again = await open();
    assert.match(again.damage ?? '', /damaged/);
    assert.equal(again.current(till)?.id, 1);
    assert.equal(again.current({ ...till, daemonSet: 'camera' }), undefined);
    await again.close();
  });
});
