import assert from 'node:assert/strict';
import type { Event } from 'kubernetes-types/events/v1.d.ts';
import { openDecisionStore } from '../../../src/agent/decisions/index.ts';
import { silentLogger, systemClock } from '../../../src/runtime/index.ts';
import { section } from '../kit/index.ts';
import { announced, said, withOwner, writesOf } from './owner.ts';

const utc = ['--time-zone=UTC'];

/** A window of the day, in UTC, that begins and ends this many hours from now. */
const hoursFromNow = (from: number, to: number) => {
  const at = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
  return { type: 'window', from: at(from), to: at(to) };
};

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** A zone, as an offset, whose clocks show this time at that moment. */
const zoneWhere = (hour: number, minute: number, at: number): string => {
  const minuteOfDay = Math.floor(at / MINUTE_MS) % DAY_MINUTES;
  const ahead = (hour * 60 + minute - minuteOfDay + DAY_MINUTES) % DAY_MINUTES;
  const offset = ahead > DAY_MINUTES / 2 ? ahead - DAY_MINUTES : ahead;
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`;
};

/** Sunday first, as `getUTCDay` counts. */
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

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
    'for a window wait, say until when, and are carried out in the minute in which it opens, also past midnight',
    async (c) => {
      const pod = await announced(c);
      // The agent starts, and the owner decides, before.
      const opensAt = Math.ceil((Date.now() + 20_000) / MINUTE_MS) * MINUTE_MS;
      await withOwner(c, { args: [`--time-zone=${zoneWhere(23, 59, opensAt)}`] }, async (owner) => {
        const { revision } = (await owner.untilShown('available')).target;
        const when = { type: 'window', from: '23:59', to: '00:09' };
        const kept = await owner.decide({ revision, decision: 'approve', when });
        assert.equal(kept.status, 202, kept.text);
        const { reason, message } = await owner.untilShown('queued');
        assert.equal(reason, 'OutsideWindow');
        assert.match(message, /between 23:59 and 00:09/);
        assert.ok(Date.now() < opensAt, 'decided before the window opens');
        await c.untilRunning('app:v2', undefined, 180_000);
        const writes = await writesOf(c, owner);
        assert.deepEqual(writes.map(said), [`delete pods ${pod}: 200`]);
        const late = (writes[0]?.receivedAt ?? 0) - opensAt;
        assert.ok(late >= 0 && late < 30_000, `${late} ms after it opened`);
      });
    },
    { nodes: 1 },
  );

  rule(
    'for a window past midnight count its days by the evening, and its end by the morning',
    async (c) => {
      const pod = await announced(c);
      const startedAt = Date.now();
      const zone = zoneWhere(0, 10, startedAt);
      const offsetMs = (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4))) * MINUTE_MS * (zone[0] === '-' ? -1 : 1);
      const today = new Date(startedAt + offsetMs).getUTCDay();
      await withOwner(c, { args: [`--time-zone=${zone}`] }, async (owner) => {
        const { revision } = (await owner.untilShown('available')).target;
        const decide = async (to: string, days: readonly (string | undefined)[]): Promise<void> => {
          const when = { type: 'window', from: '23:30', to, days };
          const kept = await owner.decide({ revision, decision: 'approve', when });
          assert.equal(kept.status, 202, kept.text);
        };
        for (const [to, days] of [
          // It has ended.
          ['00:05', weekdays],
          // It opens this evening, and opened on every evening but the last one.
          ['00:50', weekdays.filter((_, day) => day !== (today + 6) % 7)],
        ] as const) {
          await decide(to, days);
          assert.equal((await owner.untilShown('queued')).reason, 'OutsideWindow', to);
          await c.expectNoUpdatesFor(2);
          assert.deepEqual(await writesOf(c, owner), []);
        }
        await decide('00:50', [weekdays[(today + 6) % 7]]);
        await c.untilRunning('app:v2');
        assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
      });
    },
    { nodes: 1 },
  );

  rule(
    'of a later version of the agent, which this one cannot compute, are kept, reported and not carried out',
    async (c) => {
      const pod = await announced(c);
      await withOwner(c, { args: ['--metrics-bind-address=127.0.0.1:0'] }, async (owner) => {
        const { revision } = (await owner.untilShown('available')).target;
        await owner.onDisk(pod);
        await owner.powerCut(async (dir) => {
          const env = { clock: systemClock, random: Math.random, log: silentLogger };
          const decisions = await openDecisionStore({ dir, env });
          const choice = { choice: 'approve', when: { type: 'full moon' } } as never;
          const by = { identity: 'uid:0', via: 'loopback' } as const;
          const input = { namespace: c.namespace, daemonSet: 'app', revision, choice, by, fromRevision: null };
          await decisions.decide(input);
          await decisions.close();
        });
        const { reason, message } = await owner.untilShown('unknown');
        assert.equal(reason, 'NotComputable');
        assert.match(message, /nothing is done: when to carry out the decision is not known: .*full moon/);
        await c.until('an Event says so', async () => {
          const { items } = await c.api.get<{ items: Event[] }>(
            `/apis/events.k8s.io/v1/namespaces/${c.namespace}/events`,
          );
          return items.some((event) => event.reason === 'UpdateNotComputable' && event.note?.includes('full moon'));
        });
        for (const series of [
          /^edgeset_agent_updates\{state="unknown"\} 1$/m,
          /^edgeset_agent_not_computable\{part="view"\} 1$/m,
        ])
          await c.until(`the metrics say ${series}`, async () => series.test(await owner.metrics()));
        await c.expectNoUpdatesFor(12);
        assert.deepEqual(await writesOf(c, owner), []);
        await owner.untilRecorded('uid:0 Approved');
        const now = await owner.decide({ revision, decision: 'approve' });
        assert.equal(now.status, 202, now.text);
        await c.untilRunning('app:v2');
        assert.deepEqual((await writesOf(c, owner)).map(said), [`delete pods ${pod}: 200`]);
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
        await owner.untilRecorded('agent Deleted');
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

  rule(
    'against a version with a deadline are refused and not offered, except to postpone it',
    async (c) => {
      await announced(c);
      const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString();
      await c.annotate({ 'edgeset.io/ota-deadline': inAWeek });
      await withOwner(c, {}, async (owner) => {
        await c.until('the deadline is known', async () => (await owner.update()).deadline !== null);
        const { target, choices } = await owner.update();
        assert.partialDeepStrictEqual(choices, { approve: true, postpone: true, reject: false });
        const revision = target.revision;
        const rejected = await owner.decide({ revision, decision: 'reject' });
        assert.equal(rejected.status, 409, rejected.text);
        assert.match(rejected.text, /"Required"/);
        const until = new Date(Date.now() + 3_600_000).toISOString();
        assert.equal((await owner.decide({ revision, decision: 'postpone', until })).status, 201);
        await c.change({ metadata: { annotations: { 'edgeset.io/ota-deadline': null } } });
        await c.until('a rejection is offered', async () => (await owner.update()).choices.reject);
        assert.equal((await owner.decide({ revision, decision: 'reject' })).status, 201);
        assert.deepEqual(await writesOf(c, owner), []);
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
