import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterPowerCut, createDisk, type Disk } from '../storage/testing/disk.ts';
import { testEnv } from '../storage/testing/register.ts';
import type { Caller, Choice, Decision } from '../types.ts';
import { openDecisionStore } from './store.ts';
import type { DecisionStore } from './types.ts';

const owner: Caller = { identity: 'uid:0', via: 'loopback' };
const till = { namespace: 'shop', daemonSet: 'till' };
const now: Choice = { choice: 'approve', when: { type: 'now' } };
const reject: Choice = { choice: 'reject' };

const open = (files: Disk): Promise<DecisionStore> =>
  openDecisionStore({
    dir: '/state',
    env: testEnv,
    disk: {
      files,
      lock: () => Promise.resolve({ held: () => Promise.resolve(true), release: () => Promise.resolve() }),
    },
  });

/** What was acknowledged to the owner, or sent to the cluster, after `at` disk operations. */
type Fact = { at: number } & (
  | { kind: 'answered'; id: number }
  | { kind: 'sent'; id: number }
  | { kind: 'over'; id: number }
);

/** Ten revisions: each is rejected, approved, carried out, and settled; every third write is attempted twice. */
const live = async (): Promise<{ disk: Disk; facts: Fact[] }> => {
  const disk = createDisk();
  const facts: Fact[] = [];
  const decisions = await open(disk);
  const tell = (kind: Fact['kind'], id: number): void => void facts.push({ at: disk.ops.length, kind, id });
  const act = { kind: 'delete', pod: 'till-x', podUid: 'u1', fromRevision: 'old' } as const;
  for (let round = 0; round < 10; round += 1) {
    const input = { ...till, revision: `r${round}`, by: owner, fromRevision: 'old' };
    tell('answered', (await decisions.decide({ ...input, choice: reject })).id);
    const { id } = await decisions.decide({ ...input, choice: now });
    tell('answered', id);
    if (round % 3 === 0) {
      await decisions.begin(id, { ...act, toRevision: input.revision });
      await decisions.reopen(id, 'Nothing was sent.');
    }
    await decisions.begin(id, { ...act, toRevision: input.revision });
    tell('sent', id);
    await decisions.settle(id, 'done', 'Updated', 'The new pod is ready.');
    tell('over', id);
  }
  await decisions.close();
  return { disk, facts };
};

const check = (found: Decision | undefined, lines: number, facts: readonly Fact[], how: string): void => {
  const ids = (kind: Fact['kind']): number[] => facts.filter((fact) => fact.kind === kind).map(({ id }) => id);
  const answered = Math.max(0, ...ids('answered'));
  assert.ok(lines >= ids('answered').length, `${how}: the history has lost a line`);
  if (ids('over').includes(answered))
    assert.ok(found === undefined || found.id > answered, `${how}: came back to life`);
  else if (answered > 0) {
    assert.ok(found === undefined || found.id >= answered, `${how}: an older decision is in force`);
    // Once the write may have been sent, the decision must be acting; otherwise it would be sent again.
    if (found?.id === answered && ids('sent').includes(answered)) assert.equal(found.state, 'acting', how);
    if (!ids('sent').includes(answered)) assert.ok(found, `${how}: an answered decision is lost`);
  }
};

describe('the decision store after a power cut', () => {
  it('loses no acknowledged decision and no sent write, with a cut after and within every operation', async () => {
    const { disk, facts } = await live();
    for (let cut = 1; cut <= disk.ops.length; cut += 1) {
      const known = facts.filter(({ at }) => at <= cut);
      const keeps = [() => true, () => false, ...[1, 7, 60, 200].map((bytes) => () => (byte: number) => byte < bytes)];
      for (const [number, keep] of keeps.entries()) {
        // A cut within the last operation: the facts before it apply.
        const ops = disk.ops.slice(0, cut);
        const decisions = await open(createDisk(afterPowerCut(ops, keep)));
        const how = `cut after operation ${cut}, ${number}`;
        assert.equal(decisions.damage, undefined, how);
        check(decisions.current(till), decisions.history().length, known, how);
        const next = await decisions.decide({
          ...till,
          daemonSet: 'camera',
          revision: 'x',
          choice: now,
          by: owner,
          fromRevision: null,
        });
        assert.ok(next.id > Math.max(0, ...known.map(({ id }) => id)), `${how}: an id was given twice`);
        await decisions.close();
      }
    }
  });
});
