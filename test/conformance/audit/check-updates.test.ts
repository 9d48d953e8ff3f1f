import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countWrites } from './check-updates.ts';
import { buildHistory, managerUser } from './history-builder.ts';

describe('the judge', () => {
  it('finds nothing in a rollout that keeps its budget', () => {
    const log = buildHistory(3);
    for (const node of ['n0', 'n1', 'n2']) {
      log.remove(`old-${node}`, node, 'old').wait(500).pod(`new-${node}`, node, 'new', false).wait(500);
      log.pod(`new-${node}`, node, 'new', true).wait(100);
    }
    assert.deepEqual(log.judge(1), []);
  });

  it('S1, S2: sees an act while others are in flight', () => {
    const found = buildHistory(3).remove('old-n0', 'n0', 'old').wait(5).remove('old-n1', 'n1', 'old').judge(1);
    assert.equal(found.length, 2);
    assert.match(found[0]!, /^S1: .* pod-old-n1 on n1, with updates in flight on n0 and a budget of 1/);
    assert.match(found[1]!, /^S2: /);
  });

  it('S1: lets a node be repaired in the slot that it has, and no other take it', () => {
    const broken = buildHistory(3).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old').wait(2000);
    for (const node of ['n0', 'n1']) broken.pod(`bad-${node}`, node, 'new', false);
    broken.release('app:v3', 'newer', 3).wait(2000);
    const rules = (log: typeof broken): string[] => log.judge(2).map((found) => found.slice(0, 2));
    assert.deepEqual(rules(broken.remove('bad-n0', 'n0', 'new')), []);
    assert.equal(broken.judge(1).filter((found) => found.includes('bad-n0')).length, 0);
    assert.deepEqual(rules(broken.remove('old-n2', 'n2', 'old')), ['S1', 'S2']);
  });

  it('S1: knows no act on a node that was made again', () => {
    const log = buildHistory(3).remove('old-n0', 'n0', 'old').vanish('n0').node('n0', true).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('allows as many at once as the budget, also as a percentage', () => {
    const log = buildHistory(4).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old');
    assert.deepEqual(log.judge(2), []);
    assert.deepEqual(log.judge('50%'), []);
    assert.equal(log.judge('25%').length, 2);
  });

  it('counts a new pod as healed only after minReadySeconds', () => {
    const log = (pauseMs: number) =>
      buildHistory(2, { minReadySeconds: 10 })
        .remove('old-n0', 'n0', 'old')
        .pod('new-n0', 'n0', 'new', true)
        .wait(pauseMs)
        .remove('old-n1', 'n1', 'old')
        .judge(1);
    assert.equal(log(9000).length, 2);
    assert.deepEqual(log(10_000), []);
  });

  it('lets a leader act upon what its watch told before the server noted the answer', () => {
    const log = buildHistory(2, { minReadySeconds: 10 })
      .remove('old-n0', 'n0', 'old')
      .answers(300)
      .pod('new-n0', 'n0', 'new', true)
      .answers(0);
    assert.deepEqual(log.wait(10_050).remove('old-n1', 'n1', 'old').judge(1), []);
    const at = buildHistory(2).remove('old-n0', 'n0', 'old').answers(300).pod('new-n0', 'n0', 'new', true).answers(0);
    assert.deepEqual(at.wait(50).remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('takes a node that was well for a moment for healed, and for down since', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').pod('new-n0', 'n0', 'new', true).wait(500);
    log.pod('new-n0', 'n0', 'new', false).pod('old-n1', 'n1', 'old', false).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('frees the slot of a node that went offline after our act', () => {
    const found = buildHistory(2)
      .remove('old-n0', 'n0', 'old')
      .node('n0', false)
      .wait(2000)
      .remove('old-n1', 'n1', 'old')
      .judge(1);
    assert.deepEqual(found, []);
  });

  it('counts it again when it is back and not well', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').node('n0', false).wait(2000).node('n0', true).wait(2000);
    assert.match(log.remove('old-n1', 'n1', 'old').judge(1)[0]!, /^S1/);
  });

  it('S2: sees a healthy pod deleted while others are down for reasons of their own', () => {
    const log = buildHistory(3).pod('old-n0', 'n0', 'old', false).wait(2000).remove('old-n1', 'n1', 'old');
    assert.match(log.judge(1).join('\n'), /^S2: .* on n1, a healthy pod, with n0 down and a budget of 1/);
    assert.deepEqual(log.judge(2), []);
  });

  it('S2: allows what nobody could have known yet', () => {
    assert.deepEqual(
      buildHistory(3).pod('old-n0', 'n0', 'old', false).wait(200).remove('old-n1', 'n1', 'old').judge(1),
      [],
    );
  });

  it('S3: allows a broken pod to be replaced while another is down, within our own acts', () => {
    const log = buildHistory(3).pod('old-n0', 'n0', 'old', false).pod('old-n1', 'n1', 'old', false).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('S4: sees a delete on a node that had not been ready for longer than the lag', () => {
    const log = (ms: number) => buildHistory(2).node('n0', false).wait(ms).remove('old-n0', 'n0', 'old').judge(1);
    assert.match(log(3000).join('\n'), /^S4: .* on n0, which had not been ready for 3000 ms$/);
    assert.deepEqual(log(300), []);
  });

  it('S5: asks for the uid', () => {
    assert.match(
      buildHistory(2).remove('old-n0', 'n0', 'old', { uid: false }).judge(1).join('\n'),
      /^S5: .* without a uid precondition$/,
    );
  });

  it('S5, S6: sees pods of other owners and healthy ones of the target', () => {
    assert.match(buildHistory(2).remove('stranger', 'n0', 'old').judge(1).join('\n'), /does not own$/);
    const log = buildHistory(2)
      .remove('old-n0', 'n0', 'old')
      .pod('new-n0', 'n0', 'new', true)
      .wait(5000)
      .remove('new-n0', 'n0', 'new');
    const found = log.judge(1);
    assert.match(found[0]!, /^S5: .* healthy pod of the target revision new$/);
    assert.match(found[1]!, /^S6: .* second update/);
  });

  it('knows no target between a new template and its revision', () => {
    const log = buildHistory(2);
    log.records.pop();
    assert.deepEqual(log.remove('old-n0', 'n0', 'old').judge(1), []);
  });

  it('allows a second act on a node for a second rollout', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').pod('new-n0', 'n0', 'new', true).wait(5000);
    assert.deepEqual(log.release('app:v1', 'old', 3).wait(1000).remove('new-n0', 'n0', 'new').judge(1), []);
  });

  it("leaves other users' deletes alone, and counts what they leave down", () => {
    const log = buildHistory(3).remove('old-n0', 'n0', 'old', { by: 'admin' });
    assert.deepEqual(log.judge(1), []);
    assert.match(log.wait(3000).remove('old-n1', 'n1', 'old').judge(1).join('\n'), /^S2/);
  });

  it('puts records that were written out of order into the order of their versions', () => {
    const log = buildHistory(2)
      .remove('old-n0', 'n0', 'old')
      .pod('new-n0', 'n0', 'new', true)
      .wait(10)
      .remove('old-n1', 'n1', 'old');
    const last = log.records.splice(-2).toReversed();
    log.records.push(...last);
    assert.deepEqual(log.judge(1), []);
  });

  it('counts writes by verb and resource', () => {
    const { records } = buildHistory(2).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old', { by: 'admin' });
    assert.deepEqual(countWrites(records, { user: (user) => user === managerUser }), { 'delete pods': 1 });
    assert.deepEqual(countWrites(records, { user: (user) => user === managerUser, namespace: 'other' }), {});
  });
});
