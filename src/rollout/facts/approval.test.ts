import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { conditionsOf, summaryText } from '../report/conditions.ts';
import { explain } from '../report/explain.ts';
import { benchAt, type Workbench } from '../testing/workbench.ts';
import { announcementPatch, approvedRevision, UPGRADE_APPROVED } from './need-upgrade.ts';
import type { PodFacts } from './pod.ts';

const broken = { ready: false, trouble: 'crash-loop' } as const;

/** Owners of so many nodes are asked for revision b, which is brought to them from here. */
const asking = (nodes: number, change: Partial<Policy> = {}): Workbench =>
  benchAt(nodes, { strategy: 'ota', byApproval: true, maxUnavailable: count(1), ...change });

const approve = (bench: Workbench, revision: string, ...nodes: string[]): void => {
  for (const node of nodes) bench.change(node, { approved: revision });
};

/** Carries an act out: the pod goes, and another comes. */
const replace = (bench: Workbench, node: string, revision: string, facts: Partial<PodFacts> = {}): void => {
  bench.reserve(node);
  bench.change(node, { terminating: true });
  bench.gone(node);
  bench.start(node, revision, facts);
};

const podWith = (status: string, message: string) => ({
  status: { conditions: [{ type: UPGRADE_APPROVED, status, message }] },
});

describe('an approval', () => {
  it('is for the revision that it names, and for none when it is not True', () => {
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: b2')), 'b2');
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: b2; by uid:0')), 'b2');
    assert.equal(approvedRevision(podWith('False', 'controllerrevision: b2')), undefined);
    assert.equal(approvedRevision(podWith('True', 'controllerrevision: ')), undefined);
    assert.equal(approvedRevision(podWith('True', 'yes')), undefined);
    assert.equal(approvedRevision({}), undefined);
  });

  it('goes with the announcement that it was an answer to', () => {
    const patched = (approved: string | undefined, revision: string | undefined): unknown => {
      const wanted = revision === undefined ? 'none' : ({ reason: 'NewRevision', revision } as const);
      const pod = { uid: 'u', announced: undefined, ...(approved !== undefined && { approved }) };
      const { status } = announcementPatch(pod, wanted, 0) as { status: { conditions: unknown[] } };
      return status.conditions.slice(1);
    };
    const removed = [{ type: UPGRADE_APPROVED, $patch: 'delete' }];
    assert.deepEqual(patched('b', 'b'), []);
    assert.deepEqual(patched(undefined, 'c'), []);
    assert.deepEqual(patched('b', 'c'), removed);
    assert.deepEqual(patched('b', undefined), removed);
  });
});

describe('owners who agree to what is done from here', () => {
  it('are waited for, and none but theirs is acted on', () => {
    const bench = asking(3, { maxUnavailable: count(3) });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(summaryText(bench.ledger, bench.decide().summary), 'Waiting for 3 owners');
    approve(bench, 'b', 'n1');
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    assert.equal(summaryText(bench.ledger, bench.decide().summary), 'Waiting for 2 owners');
  });

  it('are asked for each revision anew', () => {
    const bench = asking(2);
    approve(bench, 'a0', 'n0');
    approve(bench, 'b', 'n1');
    bench.target('c');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(bench.ledger.tally.ownersAsked, 2);
  });

  it('keep to the budget together, those whose pods are down already among them', () => {
    const bench = asking(4);
    approve(bench, 'b', 'n0', 'n1', 'n2');
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
    replace(bench, 'n0', 'b', { ready: false });
    assert.deepEqual(bench.nodesOf('reserve'), [], 'one at a time');
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.deepEqual(bench.nodesOf('reserve'), ['n1']);
    bench.change('n3', { ready: false });
    assert.deepEqual(bench.nodesOf('reserve'), [], 'the one that nobody agreed to is down, and counts');
  });

  it('whose word is gone by the time of the act are not acted for: the slot is given back', () => {
    const bench = asking(1);
    approve(bench, 'b', 'n0');
    bench.reserve('n0');
    assert.deepEqual(bench.nodesOf('delete'), ['n0']);
    const { approved: _, ...rest } = bench.last('n0') ?? assert.fail();
    bench.ledger.setPod({ ...rest, resourceVersion: '900' }, bench.now());
    assert.deepEqual(bench.nodesOf('release'), ['n0']);
  });

  it('are told when there is nothing more to be done for them than to wait', () => {
    const bench = asking(2);
    const reconciling = (): boolean | undefined =>
      conditionsOf(bench.ledger, bench.decide().summary).find(({ type }) => type === 'Reconciling')?.status;
    approve(bench, 'b', 'n0', 'n1');
    for (const node of ['n0', 'n1'])
      bench.change(node, {
        announced: { status: 'True', reason: 'NewRevision', message: 'controllerrevision: b' },
      });
    assert.equal(reconciling(), true);
    const record = bench.ledger.get('n1') ?? assert.fail();
    const { what } = explain(record, bench.ledger.policy, bench.decide().summary.hold, bench.now());
    assert.match(what, /its owner has approved the target, and waits for a free slot of the budget/);
  });

  it('meet the breaker: a version that fails is offered no more, and not brought to those who agreed', () => {
    const bench = asking(5, { maxUnavailable: count(3), failureThreshold: count(2) });
    approve(bench, 'b', 'n0', 'n1', 'n2', 'n3');
    for (const node of ['n0', 'n1']) replace(bench, node, 'b', broken);
    const { actions } = bench.decide();
    assert.equal(actions[0]?.type, 'halt');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    assert.equal(bench.ledger.state.acted, 2, 'each counts once');
  });

  it('may delete the pod themselves', () => {
    const bench = asking(2);
    bench.change('n0', { terminating: true });
    bench.gone('n0');
    bench.start('n0', 'b');
    assert.equal(bench.ledger.state.acted, 1);
    assert.equal(bench.ledger.get('n0')?.status.phase, 'updated');
  });

  it('are not acted for where the policy leaves their node alone or stops all', () => {
    const bench = asking(2, { partition: count(2) });
    approve(bench, 'b', 'n0', 'n1');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.policy({ partition: count(0), paused: true });
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.policy({ paused: false });
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('are acted for once their node has been back for the settle time', () => {
    const bench = asking(1, { settleMs: 10_000 });
    approve(bench, 'b', 'n0');
    bench.offline('n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.online('n0');
    assert.deepEqual(bench.nodesOf('reserve'), []);
    bench.pass(10_000);
    assert.deepEqual(bench.nodesOf('reserve'), ['n0']);
  });

  it('have their pod changed in place, or a new one beside it, as the policy says', () => {
    const inPlace = asking(1, { inPlace: true });
    inPlace.target('c', 'a');
    inPlace.change('n0', { hasInPlaceGate: true, approved: 'c' });
    assert.partialDeepStrictEqual(inPlace.decide().actions[0], { type: 'reserve', kind: 'in-place' });
    const surging = asking(1, { maxUnavailable: count(0), maxSurge: count(1) });
    approve(surging, 'b', 'n0');
    assert.partialDeepStrictEqual(surging.decide().actions[0], { type: 'reserve', kind: 'surge' });
  });
});
