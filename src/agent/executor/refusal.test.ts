import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JournalError, type JournalErrorCode } from '../decisions/index.ts';
import { answerOf, newWorld, offered } from '../testing/drive.ts';
import { authorized, owner } from '../testing/world.ts';
import type { Choice } from '../types.ts';

const app = { namespace: 'default', daemonSet: 'app' };
const now: Choice = { choice: 'approve', when: { type: 'now' } };

describe('a disk that takes no decision', () => {
  const codes: [JournalErrorCode, 503 | 507][] = [
    ['NoSpace', 507],
    ['ReadOnly', 503],
    ['Io', 503],
    ['Locked', 503],
  ];
  for (const [code, status] of codes)
    it(`has updates refused with ${status} and the cure, and nothing sent (${code})`, async (t) => {
      const world = await newWorld(t);
      const agent = await offered(world);
      world.records.failure = new JournalError(code, 'cannot save: do this and try again');
      for (const queue of [false, true]) {
        const { answer } = await answerOf(world, agent.upgrade(world.ref(), owner, { queue, reauthorize: authorized }));
        assert.equal(answer.status, status);
        assert.match(answer.text, /could not be saved on this device, and nothing was sent: .*do this and try again$/);
      }
      world.cut(true);
      await world.advance(1_000);
      const { answer: kept } = await answerOf(
        world,
        agent.upgrade(world.ref(), owner, { queue: true, reauthorize: authorized }),
      );
      assert.equal(kept.status, status);
      world.cut(false);
      const revision = agent.updates()[0]?.target.revision ?? '';
      await assert.rejects(agent.decide(app, revision, now, owner, authorized), { code });
      assert.equal(agent.device().disk.trouble, 'cannot save: do this and try again');
      await world.advance(3_600_000);
      assert.equal(world.deletes(), 0);

      world.records.failure = undefined;
      assert.equal(agent.device().disk.trouble, null);
      await agent.decide(app, revision, now, owner, authorized);
      await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 600_000);
      assert.equal(world.deletes(), 1);
    });

  it('has no deadline act, and does not wear itself out trying', async (t) => {
    const world = await newWorld(t);
    const agent = await offered(world, {
      'edgeset.io/ota-deadline': '2026-11-21T12:30:00Z',
      'edgeset.io/ota-deadline-spread': '1s',
    });
    world.records.failure = new JournalError('NoSpace', 'the disk is full: free some space');
    await world.advance(3_600_000);
    assert.equal(world.deletes(), 0);
    assert.partialDeepStrictEqual(agent.updates()[0], { state: 'queued', reason: 'NotDurable' });
    const reads = world.calls.filter(({ verb }) => verb === 'get').length;
    assert.ok(reads < 100, `${reads} reads in an hour`);
    world.records.failure = undefined;
    await world.until('it is carried out', () => agent.updates()[0]?.state === 'current', 600_000);
    assert.equal(world.deletes(), 1);
  });
});
