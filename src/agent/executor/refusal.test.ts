import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StorageError, type StorageErrorCode } from '../decisions/index.ts';
import { app, approveNow, openWithUpdate, responseOf } from '../testing/scenario.ts';
import { authorized, owner } from '../testing/testbed.ts';

describe('a disk that cannot save decisions', () => {
  const codes: [StorageErrorCode, 503 | 507][] = [
    ['NoSpace', 507],
    ['ReadOnly', 503],
    ['Io', 503],
    ['Locked', 503],
  ];
  for (const [code, status] of codes)
    it(`refuses updates with ${status} and the fix, and sends nothing (${code})`, async (t) => {
      const { testbed, agent } = await openWithUpdate(t);
      testbed.failSaves(new StorageError(code, 'cannot save: do this and try again'));
      for (const queue of [false, true]) {
        const { answer } = await responseOf(
          testbed,
          agent.upgrade(testbed.ref(), owner, { queue, reauthorize: authorized }),
        );
        assert.equal(answer.status, status);
        assert.match(answer.text, /could not be saved on this device, and nothing was sent: .*do this and try again$/);
      }
      testbed.cut(true);
      await testbed.advance(1_000);
      const { answer: kept } = await responseOf(
        testbed,
        agent.upgrade(testbed.ref(), owner, { queue: true, reauthorize: authorized }),
      );
      assert.equal(kept.status, status);
      testbed.cut(false);
      const revision = agent.updates()[0]?.target.revision ?? '';
      await assert.rejects(agent.decide(app, revision, approveNow, owner, authorized), { code });
      assert.equal(agent.device().disk.trouble, 'cannot save: do this and try again');
      await testbed.advance(3_600_000);
      assert.equal(testbed.deletes(), 0);

      testbed.failSaves(undefined);
      await agent.decide(app, revision, approveNow, owner, authorized);
      assert.equal(agent.device().disk.trouble, null);
      await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 600_000);
      assert.equal(testbed.deletes(), 1);
    });

  it('does not update because of a deadline, and retries with back-off', async (t) => {
    const { testbed, agent } = await openWithUpdate(t, {
      'edgeset.io/ota-deadline': '2026-11-21T12:30:00Z',
      'edgeset.io/ota-deadline-spread': '1s',
    });
    testbed.failSaves(new StorageError('NoSpace', 'the disk is full: free some space'));
    await testbed.advance(3_600_000);
    assert.equal(testbed.deletes(), 0);
    assert.partialDeepStrictEqual(agent.updates()[0], { state: 'queued', reason: 'NotDurable' });
    const reads = testbed.calls.filter(({ verb }) => verb === 'get').length;
    assert.ok(reads < 100, `${reads} reads in an hour`);
    testbed.failSaves(undefined);
    await testbed.until('it is carried out', () => agent.updates()[0]?.state === 'current', 600_000);
    assert.equal(testbed.deletes(), 1);
  });
});
