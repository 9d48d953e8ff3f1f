import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Announcement, announcementPatch, isAnnounced, type NeedUpgrade } from '../facts/need-upgrade.ts';
import type { PodFacts } from '../facts/pod.ts';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { benchAt, START, type Workbench } from '../testing/workbench.ts';

const ota = (nodes: number, change: Partial<Policy> = {}): Workbench => benchAt(nodes, { strategy: 'ota', ...change });

/** What has to be written, by node. */
const unsaid = (bench: Workbench): Record<string, string> =>
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

const asStanding = (wanted: Announcement): NeedUpgrade => {
  const { status } = announcementPatch({ uid: 'u', announced: undefined }, wanted, 0) as {
    status: { conditions: NeedUpgrade[] };
  };
  const [condition] = status.conditions;
  return { status: condition?.status ?? '', reason: condition?.reason ?? '', message: condition?.message ?? '' };
};

/** Writes all that is to be written. */
const announce = (bench: Workbench): void => {
  for (const { name, status, pods } of Array.from(bench.ledger.unannounced())) {
    const { facts } = pods.find(({ facts: { terminating } }) => !terminating) ?? {};
    const { announcement: wanted } = status.owner;
    if (!facts || !wanted) throw new Error(`nothing to write on ${name}`);
    const { announced: _, ...rest } = facts;
    const next: PodFacts = { ...rest, ...(wanted !== 'none' && { announced: asStanding(wanted) }) };
    bench.ledger.setPod(next, bench.now());
  }
};

/** The owner's agent deletes the pod, and the native controller makes a new one. */
const byOwner = (bench: Workbench, revision: string, facts: Partial<PodFacts>, ...nodes: string[]): void => {
  for (const node of nodes) {
    bench.change(node, { terminating: true });
    bench.gone(node);
    bench.start(node, revision, facts);
  }
};

const broken = { ready: false, readyChangedAt: START, trouble: 'crash-loop' } as const;

describe('announcements', () => {
  it('tell an outdated pod of the new revision and a current one that it is up to date', () => {
    const bench = ota(2);
    byOwner(bench, 'b', {}, 'n1');
    assert.deepEqual(unsaid(bench), { n0: 'NewRevision b', n1: 'UpToDate b' });
    assert.deepEqual(
      bench.decide().actions.filter(({ type }) => type === 'announce'),
      [{ type: 'announce', pods: 2 }],
    );
    announce(bench);
    assert.deepEqual(unsaid(bench), {});
    assert.ok(!bench.decide().actions.some(({ type }) => type === 'announce'));
  });

  it('are made again for another revision, also back to an earlier one', () => {
    const bench = ota(1);
    announce(bench);
    bench.target('c');
    assert.deepEqual(unsaid(bench), { n0: 'NewRevision c' });
    announce(bench);
    bench.target('a');
    assert.deepEqual(unsaid(bench), { n0: 'UpToDate a' });
  });

  it('reach offline nodes, returned ones at once, and pods that are broken', () => {
    const bench = ota(3);
    bench.offline('n0', 'n1');
    bench.online('n1');
    bench.change('n2', broken);
    assert.deepEqual(unsaid(bench), { n0: 'NewRevision b', n1: 'NewRevision b', n2: 'NewRevision b' });
    assert.equal(bench.phase('n1'), 'outdated/available');
    assert.equal(bench.ledger.tally.ownersAsked, 3);
  });

  it('leave terminating pods alone, and wait until one of two is gone', () => {
    const bench = ota(2);
    bench.change('n0', { terminating: true });
    bench.start('n1', 'b');
    assert.deepEqual(unsaid(bench), {});
    bench.start('n0', 'b');
    assert.deepEqual(unsaid(bench), { n0: 'UpToDate b' });
  });

  it('are not made while the target is not known', () => {
    const bench = ota(1);
    bench.hold({ kind: 'unobserved' });
    assert.ok(!bench.decide().actions.some(({ type }) => type === 'announce'));
  });

  it('are taken back for what the policy leaves on the old revision, with the reason', () => {
    const bench = ota(4);
    announce(bench);
    bench.node('n0', { selected: false });
    assert.deepEqual(unsaid(bench), { n0: 'NodeSelector b' });
    bench.node('n1', { eligible: false });
    assert.deepEqual(unsaid(bench), { n0: 'NodeSelector b', n1: 'NodeNotEligible b' });
    bench.policy({ partition: count(2) });
    assert.deepEqual(unsaid(bench), { n0: 'NodeSelector b', n1: 'NodeNotEligible b', n2: 'Partition b' });
    bench.policy({ paused: true });
    assert.deepEqual(unsaid(bench), { n0: 'Paused b', n1: 'NodeNotEligible b', n2: 'Paused b', n3: 'Paused b' });
    assert.equal(bench.ledger.tally.ownersAsked, 0);
    assert.equal(bench.decide().summary.hold?.kind, 'paused');
  });

  it('go when the strategy does, whatever holds the rollout', () => {
    const bench = ota(2);
    announce(bench);
    bench.policy({ strategy: 'auto', paused: true });
    assert.deepEqual(unsaid(bench), { n0: 'none', n1: 'none' });
    assert.ok(bench.decide().actions.some(({ type }) => type === 'announce'));
    announce(bench);
    assert.deepEqual(unsaid(bench), {});
  });

  it('are corrected when another has written over them', () => {
    const bench = ota(1);
    announce(bench);
    const { announced = asStanding({ reason: 'UpToDate', revision: 'b' }) } =
      bench.ledger.get('n0')?.pods[0]?.facts ?? {};
    for (const change of [{ status: 'False' }, { reason: 'Other' }, { message: 'controllerrevision: z' }]) {
      bench.change('n0', { announced: { ...announced, ...change } });
      assert.deepEqual(unsaid(bench), { n0: 'NewRevision b' });
    }
  });
});

describe('the breaker where owners decide', () => {
  it('says Halted on outdated pods at the threshold, whatever the budget, and takes it back on a resume', () => {
    const bench = ota(6, { maxUnavailable: count(0) });
    byOwner(bench, 'b', broken, 'n0', 'n1');
    announce(bench);
    assert.deepEqual(bench.decide().actions, []);
    assert.equal(bench.ledger.tally.ownersAsked, 4);
    byOwner(bench, 'b', broken, 'n2');
    assert.deepEqual(unsaid(bench), { n2: 'UpToDate b', n3: 'Halted b', n4: 'Halted b', n5: 'Halted b' });
    assert.equal(bench.decide().actions[0]?.type, 'halt');
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    announce(bench);
    assert.equal(bench.decide().summary.hold?.kind, 'halted');
    assert.equal(bench.ledger.tally.ownersAsked, 0);

    bench.ledger.forgive(bench.now());
    bench.ledger.patchState({ halted: undefined, resumed: 'b' }, bench.now());
    assert.deepEqual(unsaid(bench), { n3: 'NewRevision b', n4: 'NewRevision b', n5: 'NewRevision b' });
  });

  it('is freed by another template', () => {
    const bench = ota(4);
    byOwner(bench, 'b', broken, 'n0', 'n1', 'n2');
    bench.ledger.patchState({ halted: { at: bench.now(), reason: 'Failures', nodes: ['n0'] } }, bench.now());
    assert.equal(unsaid(bench)['n3'], 'Halted b');
    bench.target('c');
    assert.deepEqual(new Set(Object.values(unsaid(bench))), new Set(['NewRevision c']));
  });

  it('suspects nodes that fall away soon after their owner updated them, and withholds the update meanwhile', () => {
    const bench = ota(6);
    byOwner(bench, 'b', {}, 'n0', 'n1', 'n2');
    assert.equal(bench.ledger.state.acted, 3);
    bench.pass(60_000);
    bench.offline('n0', 'n1', 'n2');
    announce(bench);
    assert.deepEqual([bench.cause('n0'), bench.cause('n3')], ['suspect', 'available']);
    assert.equal(bench.decide().summary.hold?.kind, 'waiting');
    assert.equal(bench.ledger.tally.ownersAsked, 0);
    bench.online('n0');
    assert.equal(bench.decide().summary.hold?.kind, 'owner');
    assert.deepEqual(unsaid(bench), { n3: 'NewRevision b', n4: 'NewRevision b', n5: 'NewRevision b' });
    bench.offline('n0');
    bench.pass(300_000);
    assert.equal(bench.cause('n1'), 'lost');
    assert.equal(bench.decide().actions[0]?.type, 'halt');
  });

  it('does not suspect nodes that were offline before, fell away late, or run the target since before', () => {
    const bench = ota(4);
    bench.offline('n0');
    byOwner(bench, 'b', {}, 'n0', 'n1');
    bench.pass(301_000);
    bench.offline('n1', 'n2');
    assert.deepEqual(
      ['n0', 'n1', 'n2'].map((name) => bench.cause(name)),
      ['offline-current', 'offline-current', 'offline-outdated'],
    );
    bench.target('a');
    bench.offline('n3');
    assert.equal(bench.cause('n3'), 'offline-current');
  });

  it('suspects by the age of the pod what it did not see itself', () => {
    const bench = ota(1);
    bench.ledger.patchState({ startedAt: START - 10_000 }, bench.now());
    byOwner(bench, 'b', {}, 'n0');
    const { facts } = bench.ledger.get('n0')?.pods[0] ?? {};
    const fresh = benchAt(0, { strategy: 'ota' });
    assert.ok(facts);
    fresh.ledger.restore({ ...bench.ledger.state, acted: 1 }, new Map(), new Set(), START);
    fresh.node('n0');
    fresh.pod('n0', 'b', { createdAt: START - 5_000 });
    fresh.ledger.restore({ ...bench.ledger.state, acted: 1 }, new Map(), new Set(), START);
    fresh.offline('n0');
    assert.equal(fresh.cause('n0'), 'suspect');
  });
});

describe('where owners decide', () => {
  it('a node whose owner took the pod away is updating, not missing', () => {
    const bench = ota(2);
    bench.change('n0', { terminating: true });
    assert.equal(bench.phase('n0'), 'updating/terminating');
    bench.gone('n0');
    assert.equal(bench.phase('n0'), 'updating/no-pod-yet');
    bench.start('n0', 'b', { ready: false });
    assert.equal(bench.phase('n0'), 'updating/not-ready');
  });

  it('nothing is reserved or deleted, and what was reserved before is taken back', () => {
    const bench = benchAt(4, { maxUnavailable: count(4) });
    bench.reserve('n0');
    bench.reserve('n1', { stage: 'inherited' });
    bench.policy({ strategy: 'ota' });
    const kinds = bench
      .decide()
      .actions.map((action) => ('node' in action ? `${action.type} ${action.node}` : action.type));
    assert.deepEqual(kinds, ['release n0', 'release n1', 'announce']);
  });

  it('it is complete once every online node runs the target', () => {
    const bench = ota(2);
    bench.offline('n1');
    byOwner(bench, 'b', {}, 'n0');
    assert.equal(bench.decide().summary.complete, true);
    bench.online('n1');
    assert.equal(bench.decide().summary.complete, false);
  });
});

describe('the patch', () => {
  const uid = 'u1';
  const wanted: Announcement = { reason: 'NewRevision', revision: 'b' };

  it('names the pod and touches one condition; its time moves with the status only', () => {
    assert.deepEqual(announcementPatch({ uid, announced: undefined }, wanted, START + 12), {
      metadata: { uid },
      status: {
        conditions: [
          {
            type: 'PodNeedUpgrade',
            status: 'True',
            reason: 'NewRevision',
            message: 'controllerrevision: b',
            lastTransitionTime: '2030-01-01T00:00:00Z',
          },
        ],
      },
    });
    const announced = asStanding(wanted);
    assert.ok(isAnnounced(announced, wanted));
    assert.deepEqual(announcementPatch({ uid, announced }, { ...wanted, reason: 'Halted' }, START), {
      metadata: { uid },
      status: {
        conditions: [{ type: 'PodNeedUpgrade', status: 'True', reason: 'Halted', message: 'controllerrevision: b' }],
      },
    });
  });

  it('takes the condition away by its type', () => {
    assert.deepEqual(announcementPatch({ uid, announced: asStanding(wanted) }, 'none', START), {
      metadata: { uid },
      status: { conditions: [{ type: 'PodNeedUpgrade', $patch: 'delete' }] },
    });
  });
});
