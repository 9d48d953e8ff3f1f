import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Announcement, announcementPatch, type NeedUpgrade } from '../facts/need-upgrade.ts';
import type { PodFacts } from '../facts/pod.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { conditionsOf, summaryText } from '../report/conditions.ts';
import { explain } from '../report/explain.ts';
import { replan, ring } from '../testing/staged.ts';
import { benchAt, daemonSetName, START, type Workbench } from '../testing/workbench.ts';

const ota = (nodes: number, change: Partial<Policy> = {}): Workbench => benchAt(nodes, { strategy: 'ota', ...change });

/** The pending announcements by node. */
const pendingAnnouncements = (bench: Workbench): Record<string, string> =>
  Object.fromEntries(
    [...bench.ledger.unannounced()]
      .map(({ name, status }): [string, string] => [
        name,
        typeof status.owner.announcement === 'object'
          ? `${status.owner.announcement.reason} ${status.owner.announcement.revision}`
          : `${status.owner.announcement}`,
      ])
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );

const asCondition = (wanted: Announcement): NeedUpgrade => {
  const { status } = announcementPatch({ uid: 'u', announced: undefined }, wanted, 0) as {
    status: { conditions: NeedUpgrade[] };
  };
  const [condition] = status.conditions;
  return { status: condition?.status ?? '', reason: condition?.reason ?? '', message: condition?.message ?? '' };
};

/** Writes all pending announcements. */
const announce = (bench: Workbench): void => {
  for (const { name, status, pods } of Array.from(bench.ledger.unannounced())) {
    const { facts } = pods.find(({ facts: { terminating } }) => !terminating) ?? {};
    const { announcement: wanted } = status.owner;
    if (!facts || !wanted) throw new Error(`nothing to write on ${name}`);
    const { announced: _, ...rest } = facts;
    const next: PodFacts = { ...rest, ...(wanted !== 'none' && { announced: asCondition(wanted) }) };
    bench.ledger.setPod(next, bench.now());
  }
};

/** The owner's agent deletes the pod, and the native controller creates a new one. */
const byOwner = (bench: Workbench, revision: string, facts: Partial<PodFacts>, ...nodes: string[]): void => {
  for (const node of nodes) {
    bench.change(node, { terminating: true });
    bench.removePod(node);
    bench.start(node, revision, facts);
  }
};

const broken = { ready: false, readyChangedAt: START, trouble: 'crash-loop' } as const;

describe('announcements', () => {
  it('tell an outdated pod of the new revision, and a current one that it is up to date', () => {
    const bench = ota(2);
    byOwner(bench, 'b', {}, 'n1');
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NewRevision b', n1: 'UpToDate b' });
    assert.deepEqual(
      bench.steps().filter(({ type }) => type === 'announce'),
      [{ type: 'announce', pods: 2 }],
    );
    announce(bench);
    assert.deepEqual(pendingAnnouncements(bench), {});
    assert.ok(!bench.steps().some(({ type }) => type === 'announce'));
  });

  it('are repeated for another revision, even an earlier one', () => {
    const bench = ota(1);
    announce(bench);
    bench.target('c');
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NewRevision c' });
    announce(bench);
    bench.target('a');
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'UpToDate a' });
  });

  it('reach offline nodes, returned nodes at once, and broken pods', () => {
    const bench = ota(3);
    bench.offline('n0', 'n1');
    bench.online('n1');
    bench.change('n2', broken);
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NewRevision b', n1: 'NewRevision b', n2: 'NewRevision b' });
    assert.equal(bench.phase('n1'), 'outdated/available');
    assert.equal(bench.ledger.tally.ownersAsked, 3);
  });

  it('skip terminating pods, and wait until one of two is gone', () => {
    const bench = ota(2);
    bench.change('n0', { terminating: true });
    bench.start('n1', 'b');
    assert.deepEqual(pendingAnnouncements(bench), {});
    bench.start('n0', 'b');
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'UpToDate b' });
  });

  it('are not made while the target is unknown', () => {
    const bench = ota(1);
    bench.hold({ kind: 'unobserved' });
    assert.ok(!bench.steps().some(({ type }) => type === 'announce'));
  });

  it('are withdrawn from nodes that the policy keeps on the old revision, with the reason', () => {
    const bench = ota(4);
    announce(bench);
    bench.node('n0', { selected: false });
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NodeSelector b' });
    bench.node('n1', { eligible: false });
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NodeSelector b', n1: 'NodeNotEligible b' });
    bench.policy({ partition: count(2) });
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NodeSelector b', n1: 'NodeNotEligible b', n2: 'Partition b' });
    bench.policy({ paused: true });
    assert.deepEqual(pendingAnnouncements(bench), {
      n0: 'Paused b',
      n1: 'NodeNotEligible b',
      n2: 'Paused b',
      n3: 'Paused b',
    });
    assert.equal(bench.ledger.tally.ownersAsked, 0);
    assert.equal(bench.decide().summary.hold?.kind, 'paused');
  });

  it('heed the stages of a plan, and nothing else of it', () => {
    const bench = ota(3);
    const windows = [{ from: '12:00', to: '13:00' }];
    replan(bench, { stages: [ring('lab')], windows }, ['lab', 'lab', 'shop']);
    bench.node('n1', { busy: 'the label kured=rebooting' });
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'NewRevision b', n1: 'NewRevision b', n2: 'Staged b' });
    assert.deepEqual(
      ['n0', 'n1', 'n2'].map((name) => bench.phase(name)),
      ['outdated/available', 'outdated/available', 'held/stage'],
    );
    assert.equal(summaryText(bench.ledger, bench.decide().summary), 'Waiting for 2 owners');
  });

  it('are removed with the strategy, whatever holds the rollout', () => {
    const bench = ota(2);
    announce(bench);
    bench.policy({ strategy: 'auto', paused: true });
    assert.deepEqual(pendingAnnouncements(bench), { n0: 'none', n1: 'none' });
    assert.ok(bench.steps().some(({ type }) => type === 'announce'));
    announce(bench);
    assert.deepEqual(pendingAnnouncements(bench), {});
  });

  it('are corrected if something else overwrites them', () => {
    const bench = ota(1);
    announce(bench);
    const { announced = asCondition({ reason: 'UpToDate', revision: 'b' }) } =
      bench.ledger.get('n0')?.pods[0]?.facts ?? {};
    for (const change of [{ status: 'False' }, { reason: 'Other' }, { message: 'controllerrevision: z' }]) {
      bench.change('n0', { announced: { ...announced, ...change } });
      assert.deepEqual(pendingAnnouncements(bench), { n0: 'NewRevision b' });
    }
  });
});

describe('the breaker with the strategy ota', () => {
  it('announces Halted on outdated pods at the threshold, whatever the budget, and withdraws it on a resume', () => {
    const bench = ota(6, { maxUnavailable: count(0) });
    byOwner(bench, 'b', broken, 'n0', 'n1');
    announce(bench);
    assert.deepEqual(bench.steps(), []);
    assert.equal(bench.ledger.tally.ownersAsked, 4);
    byOwner(bench, 'b', broken, 'n2');
    assert.deepEqual(pendingAnnouncements(bench), { n2: 'UpToDate b', n3: 'Halted b', n4: 'Halted b', n5: 'Halted b' });
    assert.equal(bench.steps()[0]?.type, 'halt');
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    announce(bench);
    assert.equal(bench.decide().summary.hold?.kind, 'halted');
    assert.equal(bench.ledger.tally.ownersAsked, 0);

    bench.ledger.forgive(bench.now());
    bench.ledger.patchState({ halted: undefined, resumed: 'b' }, bench.now());
    assert.deepEqual(pendingAnnouncements(bench), { n3: 'NewRevision b', n4: 'NewRevision b', n5: 'NewRevision b' });
  });

  it('is reset by another template', () => {
    const bench = ota(4);
    byOwner(bench, 'b', broken, 'n0', 'n1', 'n2');
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    assert.equal(pendingAnnouncements(bench)['n3'], 'Halted b');
    bench.target('c');
    assert.deepEqual(new Set(Object.values(pendingAnnouncements(bench))), new Set(['NewRevision c']));
  });

  it('suspects nodes that go offline soon after their owner updated them, and withholds the update in the meantime', () => {
    const bench = ota(6);
    byOwner(bench, 'b', {}, 'n0', 'n1', 'n2');
    assert.equal(bench.ledger.state.updatesStarted, 3);
    bench.advance(60_000);
    bench.offline('n0', 'n1', 'n2');
    announce(bench);
    assert.deepEqual([bench.cause('n0'), bench.cause('n3')], ['suspect', 'available']);
    assert.equal(bench.decide().summary.hold?.kind, 'waiting');
    assert.equal(bench.ledger.tally.ownersAsked, 0);
    bench.online('n0');
    assert.equal(bench.decide().summary.hold?.kind, 'owner');
    assert.deepEqual(pendingAnnouncements(bench), { n3: 'NewRevision b', n4: 'NewRevision b', n5: 'NewRevision b' });
    bench.offline('n0');
    bench.advance(300_000);
    assert.equal(bench.cause('n1'), 'lost');
    assert.equal(bench.steps()[0]?.type, 'halt');
  });

  it('does not suspect nodes that were offline before, went offline late, or already ran the target', () => {
    const bench = ota(4);
    bench.offline('n0');
    byOwner(bench, 'b', {}, 'n0', 'n1');
    bench.advance(301_000);
    bench.offline('n1', 'n2');
    assert.deepEqual(
      ['n0', 'n1', 'n2'].map((name) => bench.cause(name)),
      ['offline-current', 'offline-current', 'offline-outdated'],
    );
    bench.target('a');
    bench.offline('n3');
    assert.equal(bench.cause('n3'), 'offline-current');
  });

  it('suspects by the age of the pod what it did not observe itself', () => {
    const bench = ota(1);
    bench.ledger.patchState({ startedAt: START - 10_000 }, bench.now());
    byOwner(bench, 'b', {}, 'n0');
    const { facts } = bench.ledger.get('n0')?.pods[0] ?? {};
    const fresh = benchAt(0, { strategy: 'ota' });
    assert.ok(facts);
    fresh.ledger.restore({ ...bench.ledger.state, updatesStarted: 1 }, new Map(), new Set(), START);
    fresh.node('n0');
    fresh.pod('n0', 'b', { createdAt: START - 5_000 });
    fresh.ledger.restore({ ...bench.ledger.state, updatesStarted: 1 }, new Map(), new Set(), START);
    fresh.offline('n0');
    assert.equal(fresh.cause('n0'), 'suspect');
  });
});

describe('the strategy ota', () => {
  it('counts a node whose owner deleted the pod as updating, not missing', () => {
    const bench = ota(2);
    bench.change('n0', { terminating: true });
    assert.equal(bench.phase('n0'), 'updating/terminating');
    bench.removePod('n0');
    assert.equal(bench.phase('n0'), 'updating/no-pod-yet');
    bench.start('n0', 'b', { ready: false });
    assert.equal(bench.phase('n0'), 'updating/not-ready');
  });

  it('reserves and deletes nothing, and releases what was reserved before', () => {
    const bench = benchAt(4, { maxUnavailable: count(4) });
    bench.reserve('n0');
    bench.reserve('n1', { state: 'inherited' });
    bench.policy({ strategy: 'ota' });
    const kinds = bench.steps().map((action) => ('node' in action ? `${action.type} ${action.node}` : action.type));
    assert.deepEqual(kinds, ['release n0', 'release n1', 'announce']);
  });

  it('is complete once every online node runs the target', () => {
    const bench = ota(2);
    bench.offline('n1');
    byOwner(bench, 'b', {}, 'n0');
    assert.equal(bench.decide().summary.complete, true);
    bench.online('n1');
    assert.equal(bench.decide().summary.complete, false);
  });
});

/** The owners of `nodes` nodes are asked to approve revision b, and the manager replaces their pods. */
const asking = (nodes: number, change: Partial<Policy> = {}): Workbench =>
  benchAt(nodes, { strategy: 'ota', byApproval: true, maxUnavailable: count(1), ...change });

const approve = (bench: Workbench, revision: string, ...nodes: string[]): void => {
  for (const node of nodes) bench.change(node, { approved: revision });
};

/** Carries out an update: the pod terminates, and another is created. */
const replace = (bench: Workbench, node: string, revision: string, facts: Partial<PodFacts> = {}): void => {
  bench.reserve(node);
  bench.change(node, { terminating: true });
  bench.removePod(node);
  bench.start(node, revision, facts);
};

describe('an approval', () => {
  it('starts the update of its node and of no other', () => {
    const bench = asking(3, { maxUnavailable: count(3) });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(summaryText(bench.ledger, bench.decide().summary), 'Waiting for 3 owners');
    approve(bench, 'b', 'n1');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    assert.equal(summaryText(bench.ledger, bench.decide().summary), 'Waiting for 2 owners');
  });

  it('counts for one revision only', () => {
    const bench = asking(2);
    approve(bench, 'a0', 'n0');
    approve(bench, 'b', 'n1');
    bench.target('c');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(bench.ledger.tally.ownersAsked, 2);
  });

  it('is subject to the budget, even if the pod is down already', () => {
    const bench = asking(4);
    approve(bench, 'b', 'n0', 'n1', 'n2');
    const [first = '', ...others] = bench.nodesOf('reserve');
    assert.deepEqual(others, []);
    replace(bench, first, 'b', { ready: false });
    assert.deepEqual(bench.nodesOf('reserve'), [], 'one at a time');
    bench.change(first, { ready: true, readyChangedAt: bench.now() });
    assert.equal(bench.nodesOf('reserve').length, 1);
    bench.change('n3', { ready: false });
    assert.deepEqual(bench.nodesOf('reserve'), [], 'the node without an approval is down, and counts');
  });

  it('that is withdrawn before the update starts releases the slot', () => {
    const bench = asking(1);
    approve(bench, 'b', 'n0');
    bench.reserve('n0');
    assert.deepEqual(bench.nodesOf('delete'), ['n0']);
    const { approved: _, ...rest } = bench.last('n0') ?? assert.fail();
    bench.ledger.setPod({ ...rest, resourceVersion: '900' }, bench.now());
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
  });

  it('keeps the condition Reconciling True, and is explained', () => {
    const bench = asking(2);
    const reconciling = (): boolean | undefined =>
      conditionsOf(bench.ledger, bench.decide().summary, daemonSetName).find(({ type }) => type === 'Reconciling')
        ?.status;
    approve(bench, 'b', 'n0', 'n1');
    for (const node of ['n0', 'n1'])
      bench.change(node, {
        announced: { status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' },
      });
    assert.equal(reconciling(), true);
    const record = bench.ledger.get('n1') ?? assert.fail();
    const { what } = explain(record, bench.ledger.policy, bench.decide().summary, bench.now());
    assert.match(what, /its owner has approved the target, and waits for a free slot of the budget/);
  });

  it('has no effect on a halted revision', () => {
    const bench = asking(5, { maxUnavailable: count(3), failureThreshold: count(2) });
    approve(bench, 'b', 'n0', 'n1', 'n2', 'n3');
    for (const node of ['n0', 'n1']) replace(bench, node, 'b', broken);
    const { actions } = bench.decide();
    assert.equal(actions[0]?.type, 'halt');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(bench.ledger.state.updatesStarted, 2, 'each counts once');
  });

  it('is not needed if owners delete the pod themselves', () => {
    const bench = asking(2);
    bench.change('n0', { terminating: true });
    bench.removePod('n0');
    bench.start('n0', 'b');
    assert.equal(bench.ledger.state.updatesStarted, 1);
    assert.equal(bench.ledger.get('n0')?.status.phase, 'updated');
  });

  it('has no effect on a node that the partition keeps, nor while the rollout is paused', () => {
    const bench = asking(2, { partition: count(2) });
    approve(bench, 'b', 'n0', 'n1');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.policy({ partition: count(0), paused: true });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.policy({ paused: false });
    assert.equal(bench.nodesOf('reserve').length, 1);
  });

  it('takes effect once the node has been back for the settle time', () => {
    const bench = asking(1, { settleMs: 10_000 });
    approve(bench, 'b', 'n0');
    bench.offline('n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.online('n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.advance(10_000);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('updates the pod in place or by a surge, as the policy says', () => {
    const inPlace = asking(1, { inPlace: true });
    inPlace.target('c', 'a');
    inPlace.change('n0', { hasInPlaceGate: true, approved: 'c' });
    assert.partialDeepStrictEqual(inPlace.steps()[0], { type: 'reserve', kind: 'in-place' });
    const surging = asking(1, { maxUnavailable: count(0), maxSurge: count(1) });
    approve(surging, 'b', 'n0');
    assert.partialDeepStrictEqual(surging.steps()[0], { type: 'reserve', kind: 'surge' });
  });
});
