import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { count } from '../policy/int-or-percent.ts';
import type { Policy } from '../policy/policy.ts';
import { benchAt, START, type Workbench } from '../testing/workbench.ts';
import { ownerStepOf } from './owner.ts';

const DAY_MS = 24 * 3_600_000;

const ota = (nodes: number, change: Partial<Policy> = {}): Workbench => benchAt(nodes, { strategy: 'ota', ...change });

const stepOf = (bench: Workbench, node: string): string => {
  const record = bench.ledger.get(node);
  return (record && ownerStepOf(record.status)) ?? 'none';
};

/** The owner's agent deletes the pod, and the native controller creates a new one. */
const update = (bench: Workbench, node: string, facts: Parameters<Workbench['start']>[2] = {}): void => {
  bench.change(node, { terminating: true });
  bench.removePod(node);
  bench.start(node, 'b', facts);
};

describe('how far an owner is', () => {
  it('is told from the offer to the end, where the manager replaces pods', () => {
    const bench = ota(1, { byApproval: true, maxUnavailable: count(1) });
    assert.equal(stepOf(bench, 'n0'), 'asked');
    bench.change('n0', { approved: 'b' });
    assert.equal(stepOf(bench, 'n0'), 'decided');
    bench.reserve('n0');
    assert.equal(stepOf(bench, 'n0'), 'running');
    update(bench, 'n0', { ready: false });
    assert.equal(stepOf(bench, 'n0'), 'running');
    bench.change('n0', { ready: true, readyChangedAt: bench.now() });
    assert.equal(stepOf(bench, 'n0'), 'done');
    bench.advance(DAY_MS);
    bench.offline('n0');
    assert.equal(bench.phase('n0'), 'offline/offline-current');
    assert.equal(stepOf(bench, 'n0'), 'done', 'offline, and done before');
  });

  it('has no decision between the offer and the update, where owners replace pods', () => {
    const bench = ota(1);
    bench.change('n0', { approved: 'b' });
    assert.equal(stepOf(bench, 'n0'), 'asked');
    bench.change('n0', { terminating: true });
    assert.equal(stepOf(bench, 'n0'), 'running');
  });

  it('ends with a failure of the target', () => {
    const bench = ota(2);
    update(bench, 'n0', { ready: false, readyChangedAt: START, trouble: 'crash-loop' });
    assert.equal(stepOf(bench, 'n0'), 'failed');
  });

  it('is a running update while a node that went offline after it is suspect', () => {
    const bench = ota(2);
    update(bench, 'n0');
    bench.offline('n0');
    assert.equal(bench.phase('n0'), 'offline/suspect');
    assert.equal(stepOf(bench, 'n0'), 'running');
  });

  it('is not told of nodes that are offered nothing', () => {
    const bench = ota(1, { paused: true });
    assert.equal(stepOf(bench, 'n0'), 'none');
    bench.policy({ paused: false });
    assert.equal(stepOf(bench, 'n0'), 'asked');
  });
});
