import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { type ClusterFacts, type ClusterUpdate, type ReachDecision, reachOf } from './index.ts';

const terms = { settleMs: 10_000, suspectWindowMs: 300_000 };
const MINUTE = 60_000;
/** When the cluster was last in contact; the next contact was due two minutes later. */
const LAST = 100 * MINUTE;
const gone = { state: 'gone', lastContact: LAST, dueBy: LAST + 2 * MINUTE } as const;
const NOW = LAST + 1000 * MINUTE;

const update = (at: number | undefined, change: Partial<ClusterUpdate> = {}): ClusterUpdate => ({
  name: 'work',
  at,
  finished: false,
  failed: false,
  ...change,
});

const decide = (facts: Partial<ClusterFacts>, now = NOW): ReachDecision =>
  reachOf({ contact: gone, updates: [], label: undefined, ...facts }, terms, now);

const causeOf = (facts: Partial<ClusterFacts>): string => {
  const { reach, cause } = decide(facts);
  return `${reach}: ${cause}`;
};

describe('a cluster in contact', () => {
  const contact = { state: 'available', since: NOW } as const;
  const away = { reach: 'away', at: undefined } as const;

  test('is settling until it has been available for the settle time', () => {
    assert.deepEqual(decide({ contact, label: away }, NOW + 9_999), {
      reach: 'settling',
      cause: 'returned',
      changesAt: NOW + 10_000,
    });
    assert.deepEqual(decide({ contact, label: away }, NOW + 10_000), { reach: 'online', cause: 'available' });
  });

  test('keeps the place that it has in a ring while it settles', () => {
    for (const reach of ['online', 'suspect'] as const)
      assert.equal(decide({ contact, label: { reach, at: undefined } }).reach, reach);
    assert.equal(decide({ contact }).reach, 'online');
  });

  test('is settling as if it had just come back if its clock is ahead', () => {
    const ahead = { state: 'available', since: NOW + 10 * MINUTE } as const;
    assert.equal(decide({ contact: ahead, label: away }).changesAt, NOW + 10_000);
  });

  test('is no suspect, whatever it was given', () => {
    const label = { reach: 'suspect', at: NOW } as const;
    const since = NOW - MINUTE;
    assert.equal(decide({ contact: { ...contact, since }, updates: [update(NOW - 1)], label }).reach, 'online');
  });
});

describe('a cluster that is away', () => {
  test('is away if it never reported, but not if it has a place in a ring', () => {
    const contact = { state: 'never' } as const;
    assert.equal(causeOf({ contact, updates: [update(NOW)] }), 'away: never-seen');
    for (const [reach, expected] of [
      ['settling', 'away'],
      ['online', 'online'],
      ['suspect', 'suspect'],
    ] as const)
      assert.equal(causeOf({ contact, label: { reach, at: undefined } }), `${expected}: never-seen`);
  });

  test('is away without an update', () => {
    assert.equal(causeOf({}), 'away: went-away');
  });

  test('is a suspect if it went away within the suspect window after an update, finished or not', () => {
    for (const finished of [false, true]) {
      const at = LAST - 5 * MINUTE;
      assert.equal(causeOf({ updates: [update(at, { finished })] }), 'suspect: soon-after-update');
      assert.equal(causeOf({ updates: [update(at - 1, { finished })] }), 'away: went-away');
    }
  });

  test('stays a suspect for good, and names the update', () => {
    const suspicious = update(LAST - MINUTE, { name: 'till' });
    const decision = decide({ updates: [update(0, { finished: true }), suspicious] }, NOW * 1000);
    assert.deepEqual(decision, { reach: 'suspect', cause: 'soon-after-update', update: suspicious });
  });

  test('may have received an update until its next contact was due, and none after that', () => {
    assert.equal(causeOf({ updates: [update(gone.dueBy)] }), 'suspect: soon-after-update');
    assert.equal(causeOf({ updates: [update(gone.dueBy + 1)] }), 'away: went-away');
  });

  test('is no longer a suspect once another version takes the place of the suspicious one', () => {
    const label = { reach: 'suspect', at: LAST + 5 * MINUTE } as const;
    assert.equal(causeOf({ label, updates: [update(NOW)] }), 'away: went-away');
  });

  test('is still a suspect by another object that was not changed', () => {
    assert.equal(causeOf({ updates: [update(NOW), update(LAST)] }), 'suspect: soon-after-update');
  });

  test('is a suspect if the update had waited for it to come back', () => {
    const at = LAST - 60 * MINUTE;
    const label = { reach: 'online', at: LAST - 4 * MINUTE } as const;
    assert.equal(causeOf({ label, updates: [update(at)] }), 'suspect: soon-after-update');
    assert.equal(causeOf({ label, updates: [update(at, { finished: true })] }), 'away: went-away');
    const long = { ...label, at: LAST - 6 * MINUTE };
    assert.equal(causeOf({ label: long, updates: [update(at)] }), 'away: went-away');
    assert.equal(causeOf({ label: long, backAt: label.at, updates: [update(at)] }), 'suspect: soon-after-update');
    assert.equal(causeOf({ label: { ...label, at: undefined }, updates: [update(at)] }), 'suspect: soon-after-update');
  });

  test('stays a suspect of that update once its label says so, as the time of its return is then gone', () => {
    const at = LAST - 60 * MINUTE;
    const label = { reach: 'suspect', at: LAST + 5 * MINUTE } as const;
    assert.equal(causeOf({ label, updates: [update(at)] }), 'suspect: still-suspect');
    assert.equal(causeOf({ label, updates: [update(at, { finished: true })] }), 'away: went-away');
    assert.equal(causeOf({ label: { ...label, reach: 'away' }, updates: [update(at)] }), 'away: went-away');
  });

  test('is a suspect however long ago its update failed there, until another one takes its place', () => {
    const at = LAST - 600 * MINUTE;
    assert.equal(causeOf({ updates: [update(at, { failed: true })] }), 'suspect: failed-update');
    assert.equal(causeOf({ updates: [update(gone.dueBy + 1, { failed: true })] }), 'away: went-away');
  });

  test('is a suspect if an unfinished update has no time', () => {
    assert.equal(causeOf({ updates: [update(undefined)] }), 'suspect: unknown-update-time');
    assert.equal(causeOf({ updates: [update(Number.NaN)] }), 'suspect: unknown-update-time');
    assert.equal(causeOf({ updates: [update(undefined, { finished: true })] }), 'away: went-away');
  });
});

test('a suspect stays one over restarts until it is back or its update is replaced', () => {
  const time = fc.integer({ min: LAST - 20 * MINUTE, max: LAST + 20 * MINUTE });
  const updates = fc.array(
    fc.record({ name: fc.constant('work'), at: time, finished: fc.boolean(), failed: fc.boolean() }),
    {
      maxLength: 4,
    },
  );
  const labels = fc.option(fc.record({ reach: fc.constantFrom('online', 'settling', 'away'), at: time }), {
    nil: undefined,
  });
  fc.assert(
    fc.property(updates, labels, fc.nat(), (given, label, later) => {
      const first = decide({ updates: given, label });
      const again = decide({ updates: given, label: { reach: first.reach, at: NOW } }, NOW + later);
      assert.equal(again.reach, first.reach);
    }),
  );
});
