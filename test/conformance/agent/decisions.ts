import assert from 'node:assert/strict';
import { section } from '../kit/index.ts';
import { announced, said, withOwner, writesOf } from './owner.ts';

const utc = ['--time-zone=UTC'];

/** A window of the day, in UTC, that begins and ends so many hours from now. */
const hoursFromNow = (from: number, to: number) => {
  const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return { type: 'window', from: at(from), to: at(to) };
};

/** What an owner decides through the agent's own API. */
export const decisionRules = section('Decisions of the owner', (rule) => {
  rule(
    'for a later time waits, even through a power cut, and is replaced by the next decision',
    async (c) => {
      const pod = await announced(c);
      await withOwner(c, { args: utc }, async (owner) => {
        const { target } = await owner.untilShown('available');
        const { revision } = target;
        const later = { revision, decision: 'approve', when: hoursFromNow(-3, -2) };
        const kept = await owner.decide(later);
        assert.equal(kept.status, 202, kept.text);
        assert.equal((await owner.untilShown('queued')).reason, 'OutsideWindow');
        await owner.powerCut();
        assert.equal((await owner.untilShown('queued')).reason, 'OutsideWindow');
        assert.deepEqual(await owner.decide(later), kept, 'a replay is the same decision');
        assert.deepEqual(await writesOf(c, owner), []);
        const now = await owner.decide({ ...later, when: hoursFromNow(-1, 1) });
        assert.equal(now.status, 202, now.text);
        await c.untilRunning('app:v2');
        assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
        await owner.untilShown('current');
        const over = await owner.decide({ revision, decision: 'approve' });
        assert.equal(over.status, 409, over.text);
      });
    },
    { nodes: 1 },
  );

  rule(
    'against a version applies to that version only: a postponement ends without approval, and the owner is asked about a newer version',
    async (c) => {
      const pod = await announced(c);
      await withOwner(c, {}, async (owner) => {
        const { target } = await owner.untilShown('available');
        const { revision } = target;
        const until = new Date(Date.now() + 10_000).toISOString();
        assert.equal((await owner.decide({ revision, decision: 'postpone', until })).status, 201);
        assert.equal((await owner.update()).state, 'postponed');
        await owner.untilShown('available');
        assert.equal((await owner.decide({ revision, decision: 'reject' })).status, 201);
        assert.equal((await owner.update()).state, 'rejected');
        await c.setImage('app:v3');
        const next = await owner.untilShown('available');
        assert.notEqual(next.target.revision, revision);
        const stale = await owner.decide({ revision, decision: 'approve' });
        assert.equal(stale.status, 409, stale.text);
        assert.deepEqual(await writesOf(c, owner), []);
        assert.equal((await owner.decide({ revision: next.target.revision, decision: 'approve' })).status, 202);
        await c.untilRunning('app:v3');
        assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
      });
    },
    { nodes: 1 },
  );

  rule(
    'is overridden by a deadline, but not by one that was removed before',
    async (c) => {
      const pod = await announced(c);
      await withOwner(c, {}, async (owner) => {
        const { target } = await owner.untilShown('available');
        await owner.decide({ revision: target.revision, decision: 'reject' });
        await c.annotate({
          'edgeset.io/ota-deadline': new Date(Date.now() - 60_000).toISOString(),
          'edgeset.io/ota-deadline-spread': '1s',
        });
        await c.untilRunning('app:v2');
        await owner.untilShown('current');
        assert.ok((await owner.history()).includes('agent Deleted'));
        await c.change({
          metadata: { annotations: { 'edgeset.io/ota-deadline': null } },
          spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v3' }] } } },
        });
        await owner.untilShown('available');
        await c.expectNoUpdatesFor(2);
        await owner.untilShown('available');
        assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
      });
    },
    { nodes: 1 },
  );

  for (const kind of ['native', 'advanced'] as const)
    rule(
      `are made with the release notes of the version at hand, of ${kind} DaemonSets`,
      async (c) => {
        const key = 'edgeset.io/release-notes';
        await announced(c);
        await withOwner(c, {}, async (owner) => {
          const untilRead = (notes: string | null) =>
            c.until(`the owner reads ${JSON.stringify(notes)}`, async () => {
              const { target } = await owner.update();
              return target.images !== null && target.notes === notes;
            });
          await untilRead(null);
          await c.annotate({ [key]: 'Faster.\nThe clock is right.' });
          await c.setImage('app:v3');
          await untilRead('Faster.\nThe clock is right.');
          // It says something about the next version only.
          await c.annotate({ [key]: 'Again faster.' });
          await c.setImage('app:v2');
          await untilRead(null);
          await c.setImage('app:v3');
          await untilRead('Faster.\nThe clock is right.');
        });
      },
      { nodes: 1, kind },
    );
});
