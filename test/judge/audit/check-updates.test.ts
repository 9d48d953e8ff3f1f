import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countWrites } from './check-updates.ts';
import { buildHistory, managerUser } from './history-builder.ts';

describe('checkUpdates of native DaemonSets', () => {
  it('accepts a rollout within its budget', () => {
    const log = buildHistory(3);
    for (const node of ['n0', 'n1', 'n2']) {
      log.remove(`old-${node}`, node, 'old').wait(500).pod(`new-${node}`, node, 'new', false).wait(500);
      log.pod(`new-${node}`, node, 'new', true).wait(100);
    }
    assert.deepEqual(log.judge(1), []);
  });

  it('S1, S2: reports an update while others are in flight', () => {
    const found = buildHistory(3).remove('old-n0', 'n0', 'old').wait(5).remove('old-n1', 'n1', 'old').judge(1);
    assert.equal(found.length, 2);
    assert.match(found[0]!, /^S1: .* pod-old-n1 on n1, with updates in flight on n0 and a budget of 1/);
    assert.match(found[1]!, /^S2: /);
  });

  it('S1: permits a repair in the slot of the same node only', () => {
    const broken = buildHistory(3).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old').wait(2000);
    for (const node of ['n0', 'n1']) broken.pod(`bad-${node}`, node, 'new', false);
    broken.release('app:v3', 'newer', 3).wait(2000);
    const rules = (log: typeof broken): string[] => log.judge(2).map((found) => found.slice(0, 2));
    assert.deepEqual(rules(broken.remove('bad-n0', 'n0', 'new')), []);
    assert.equal(broken.judge(1).filter((found) => found.includes('bad-n0')).length, 0);
    assert.deepEqual(rules(broken.remove('old-n2', 'n2', 'old')), ['S1', 'S2']);
  });

  it('S1: does not count an update on a node that was recreated', () => {
    const log = buildHistory(3).remove('old-n0', 'n0', 'old').vanish('n0').node('n0', true).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('permits as many updates at once as the budget, also as a percentage', () => {
    const log = buildHistory(4).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old');
    assert.deepEqual(log.judge(2), []);
    assert.deepEqual(log.judge('50%'), []);
    assert.equal(log.judge('25%').length, 2);
  });

  it('completes an update only after minReadySeconds', () => {
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

  it('permits a leader to act on a watch event before the server logs the response', () => {
    const log = buildHistory(2, { minReadySeconds: 10 })
      .remove('old-n0', 'n0', 'old')
      .answers(300)
      .pod('new-n0', 'n0', 'new', true)
      .answers(0);
    assert.deepEqual(log.wait(10_050).remove('old-n1', 'n1', 'old').judge(1), []);
    const at = buildHistory(2).remove('old-n0', 'n0', 'old').answers(300).pod('new-n0', 'n0', 'new', true).answers(0);
    assert.deepEqual(at.wait(50).remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('completes an update on a node that was available for a moment, and counts it as down since', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').pod('new-n0', 'n0', 'new', true).wait(500);
    log.pod('new-n0', 'n0', 'new', false).pod('old-n1', 'n1', 'old', false).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('frees the slot of a node that went offline after its update', () => {
    const found = buildHistory(2)
      .remove('old-n0', 'n0', 'old')
      .node('n0', false)
      .wait(2000)
      .remove('old-n1', 'n1', 'old')
      .judge(1);
    assert.deepEqual(found, []);
  });

  it('counts the node again when it is back and not available', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').node('n0', false).wait(2000).node('n0', true).wait(2000);
    assert.match(log.remove('old-n1', 'n1', 'old').judge(1)[0]!, /^S1/);
  });

  it('counts what an update for an earlier template broke once its node is settled', () => {
    const log = (ms: number) => {
      const broken = buildHistory(2).remove('old-n0', 'n0', 'old').pod('new-n0', 'n0', 'new', false);
      const back = broken.release('app:v3', 'newer', 3).node('n0', false).wait(2000).node('n0', true);
      return back.wait(ms).remove('old-n1', 'n1', 'old').judge(1).join('\n');
    };
    assert.equal(log(9_000), '');
    assert.match(log(12_000), /^S1/);
  });

  it('S2: reports the delete of a healthy pod while others are down for other reasons', () => {
    const log = buildHistory(3).pod('old-n0', 'n0', 'old', false).wait(2000).remove('old-n1', 'n1', 'old');
    assert.match(log.judge(1).join('\n'), /^S2: .* on n1, a healthy pod, with n0 down and a budget of 1/);
    assert.deepEqual(log.judge(2), []);
  });

  it('S2: ignores what could not have been observed yet', () => {
    assert.deepEqual(
      buildHistory(3).pod('old-n0', 'n0', 'old', false).wait(200).remove('old-n1', 'n1', 'old').judge(1),
      [],
    );
  });

  it('S2: permits replacing a broken pod while another one is down, within S1', () => {
    const log = buildHistory(3).pod('old-n0', 'n0', 'old', false).pod('old-n1', 'n1', 'old', false).wait(2000);
    assert.deepEqual(log.remove('old-n1', 'n1', 'old').judge(1), []);
  });

  it('S4: reports a delete on a node that was NotReady for longer than the lag', () => {
    const log = (ms: number) => buildHistory(2).node('n0', false).wait(ms).remove('old-n0', 'n0', 'old').judge(1);
    assert.match(log(3000).join('\n'), /^S4: .* on n0, which had not been ready for 3000 ms$/);
    assert.deepEqual(log(300), []);
  });

  it('S5: requires the uid', () => {
    assert.match(
      buildHistory(2).remove('old-n0', 'n0', 'old', { uid: false }).judge(1).join('\n'),
      /^S5: .* without a uid precondition$/,
    );
  });

  it('S5, S6: reports pods of other owners and healthy ones of the target', () => {
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

  it('has no target between a new template and its revision', () => {
    const log = buildHistory(2);
    log.records.pop();
    assert.deepEqual(log.remove('old-n0', 'n0', 'old').judge(1), []);
  });

  it('permits a second update of a node in a second rollout', () => {
    const log = buildHistory(2).remove('old-n0', 'n0', 'old').pod('new-n0', 'n0', 'new', true).wait(5000);
    assert.deepEqual(log.release('app:v1', 'old', 3).wait(1000).remove('new-n0', 'n0', 'new').judge(1), []);
  });

  it("ignores other users' deletes, and counts the nodes that they take down", () => {
    const log = buildHistory(3).remove('old-n0', 'n0', 'old', { by: 'admin' });
    assert.deepEqual(log.judge(1), []);
    assert.match(log.wait(3000).remove('old-n1', 'n1', 'old').judge(1).join('\n'), /^S2/);
  });

  it('sorts records by resource version', () => {
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

const oneDown = { rollingUpdate: { maxUnavailable: 1 } };
const oneMore = { rollingUpdate: { maxSurge: 1 } };

/** An Advanced DaemonSet whose template has just been changed. */
const advanced = (nodes: number, updateStrategy: object = oneDown) => buildHistory(nodes, { updateStrategy });
type Log = ReturnType<typeof advanced>;

const matches = (log: Log, ...rules: RegExp[]): void => {
  const found = log.judge();
  assert.equal(found.length, rules.length, found.join('\n'));
  for (const [index, rule] of rules.entries()) assert.match(found[index] ?? '', rule);
};

/** A complete in-place update, by the manager and the kubelet. */
const inPlace = (log: Log, node: string): Log =>
  log
    .shut(`old-${node}`, node, 'old')
    .wait(5)
    .change(`old-${node}`, node, 'new')
    .wait(500)
    .pod(`old-${node}`, node, 'new', false, { gate: 'shut' })
    .wait(500)
    .pod(`old-${node}`, node, 'new', true, { gate: 'open' });

describe('checkUpdates of Advanced DaemonSets', () => {
  it('takes the budget from the spec, a percentage of all nodes', () => {
    const both = (share: unknown) =>
      advanced(4, { rollingUpdate: { maxUnavailable: share } })
        .remove('old-n0', 'n0', 'old')
        .wait(5)
        .remove('old-n1', 'n1', 'old');
    matches(both(1), /^S1: .* a budget of 1/, /^S2: /);
    matches(both('25%'), /^S1: /, /^S2: /);
    matches(both('26%'));
    matches(both(2));
  });

  it('permits what was in force shortly before', () => {
    const log = (ms: number) =>
      advanced(4, { rollingUpdate: { maxUnavailable: 2 } })
        .remove('old-n0', 'n0', 'old')
        .strategy(oneDown)
        .release('app:v2', 'new', 2)
        .wait(ms)
        .remove('old-n1', 'n1', 'old');
    matches(log(300));
    matches(log(3000), /^S1: /, /^S2: /);
  });

  it('accepts in-place updates one after the other', () => {
    const log = advanced(3);
    for (const node of ['n0', 'n1', 'n2']) inPlace(log, node).wait(100);
    matches(log);
  });

  it('S1, S2: counts closing the gate as the update, before the pod is unready', () => {
    matches(advanced(3).shut('old-n0', 'n0', 'old').wait(5).shut('old-n1', 'n1', 'old'), /^S1: .* changed /, /^S2: /);
    matches(
      advanced(3).shut('old-n0', 'n0', 'old').wait(5).change('old-n0', 'n0', 'new').remove('old-n1', 'n1', 'old'),
      /^S1: /,
      /^S2: /,
    );
  });

  it('accepts changes of labels alone', () => {
    const log = advanced(3);
    for (const node of ['n0', 'n1']) log.change(`old-${node}`, node, 'new', { gate: 'open' }).wait(5);
    matches(log);
  });

  it('S6: reports a second change of a healthy pod in one rollout', () => {
    matches(inPlace(advanced(2), 'n0').wait(100).shut('old-n0', 'n0', 'new'), /^S5: /, /^S6: /);
  });

  it('S14: reports a pod that is changed to another revision than the target', () => {
    matches(advanced(2).wait(2000).change('old-n0', 'n0', 'older'), /^S14: .* to older while new is the target/);
  });

  it('accepts surges one after the other', () => {
    const log = advanced(2, oneMore);
    for (const node of ['n0', 'n1']) {
      log.create(`new-${node}`, node, 'new').wait(500).pod(`new-${node}`, node, 'new', true).wait(50);
      log.remove(`old-${node}`, node, 'old').wait(500).gone(`old-${node}`, node, 'old').wait(50);
    }
    matches(log);
  });

  it('S10: reports more surges than maxSurge, until one pod is left', () => {
    const started = () => advanced(3, oneMore).create('new-n0', 'n0', 'new').wait(500);
    matches(
      started().create('new-n1', 'n1', 'new'),
      /^S10: .* created pod pod-new-n1 on n1, with updates in flight on n0 and/,
    );
    matches(started().pod('new-n0', 'n0', 'new', true).wait(2000).create('new-n1', 'n1', 'new'), /^S10: /);
    matches(advanced(3).create('new-n0', 'n0', 'new'), /^S10: .* a budget of 0/);
  });

  it('S10: reports three live pods on a node', () => {
    const log = advanced(2, { rollingUpdate: { maxSurge: 2 } });
    matches(
      log.create('new-n0', 'n0', 'new').wait(100).create('more-n0', 'n0', 'new'),
      /^S10: .* beside 2 live pods/,
      /^S6: /,
    );
  });

  it('S10: reports the delete of a ready old pod before the new one is available, and permits that of an unready one', () => {
    const log = () => advanced(2, oneMore).create('new-n0', 'n0', 'new').wait(2000);
    matches(log().remove('old-n0', 'n0', 'old'), /^S10: .* before the pod beside it was available/);
    matches(log().pod('old-n0', 'n0', 'old', false).remove('old-n0', 'n0', 'old'));
  });

  it('S10: permits the delete of an old pod when the new one stopped being ready only just before', () => {
    const log = (minReadySeconds: number, forMs: number) =>
      buildHistory(2, { updateStrategy: oneMore, minReadySeconds })
        .create('new-n0', 'n0', 'new')
        .pod('new-n0', 'n0', 'new', true)
        .wait(5000)
        .pod('new-n0', 'n0', 'new', false)
        .wait(forMs)
        .remove('old-n0', 'n0', 'old');
    matches(log(5, 900));
    matches(log(5, 1100), /^S10: /);
    matches(log(6, 900), /^S10: /);
  });

  it('S10: permits the delete of an old pod that became ready again only just before', () => {
    const log = (forMs: number) =>
      advanced(2, oneMore)
        .create('new-n0', 'n0', 'new')
        .pod('old-n0', 'n0', 'old', false)
        .wait(5000)
        .pod('old-n0', 'n0', 'old', true)
        .wait(forMs)
        .remove('old-n0', 'n0', 'old');
    matches(log(900));
    matches(log(1100), /^S10: /);
  });

  it('S9: reports updates of pods whose owners have not approved that revision', () => {
    const annotations = { 'apps.openyurt.io/update-strategy': 'ota' };
    const log = (approved?: string) =>
      buildHistory(2, { updateStrategy: { type: 'OnDelete' }, annotations })
        .pod('old-n0', 'n0', 'old', true, approved === undefined ? {} : { approved })
        .wait(2000)
        .remove('old-n0', 'n0', 'old');
    matches(log(), /^S9: .* whose owner has not agreed/);
    matches(log('other'), /^S9: .* whose owner has not agreed/);
    matches(log('new'));
  });

  it('S9: reports updates while paused, with OnDelete, or beyond the partition', () => {
    const after = (updateStrategy: object) => advanced(4, updateStrategy).wait(2000).remove('old-n0', 'n0', 'old');
    matches(after({ type: 'OnDelete' }), /^S9: .* only the user/);
    matches(after({ rollingUpdate: { paused: true } }), /^S9: .* paused/);
    matches(after({ rollingUpdate: { partition: '75%' } }));
    matches(
      after({ rollingUpdate: { partition: '75%' } })
        .pod('new-n0', 'n0', 'new', true)
        .wait(9)
        .remove('old-n1', 'n1', 'old'),
      /^S9: .* permits 1 nodes and 1 were updated/,
    );
  });

  it('S3: reports an update on a node that has only just come back', () => {
    const log = (ms: number) =>
      advanced(2).node('n0', false).wait(20_000).node('n0', true).wait(ms).remove('old-n0', 'n0', 'old');
    matches(log(3000), /^S3: .* on n0, which had been back for only 3000 ms/);
    matches(log(10_000));
  });

  it('counts the preparation of a delete as the update, and not the delete', () => {
    const prepared = () => advanced(3).prepare('old-n0', 'n0', 'old').wait(2000);
    matches(prepared().remove('old-n0', 'n0', 'old'));
    matches(prepared().prepare('old-n1', 'n1', 'old'), /^S1: /, /^S2: /);
  });

  it('permits deleting pods that have ended', () => {
    const log = advanced(3).remove('old-n0', 'n0', 'old').pod('old-n1', 'n1', 'old', false, { phase: 'Failed' });
    matches(log.remove('old-n1', 'n1', 'old').gone('old-n1', 'n1', 'old').create('new-n1', 'n1', 'new'));
  });

  it('attributes a decision from before a template change to the earlier rollout', () => {
    const log = advanced(2, oneMore).release('app:v3', 'newer', 3).create('new-n0', 'n0', 'new').wait(500);
    log.pod('new-n0', 'n0', 'new', true).remove('old-n0', 'n0', 'old').gone('old-n0', 'n0', 'old').wait(500);
    matches(log.create('newer-n0', 'n0', 'newer'));
    matches(log.create('newest-n0', 'n0', 'newer'), /^S10: /, /^S6: /);
  });

  it('S6: permits an update after one that was reverted before the pod was changed', () => {
    const log = advanced(2).shut('old-n0', 'n0', 'old').wait(500);
    matches(log.open('old-n0', 'n0', 'old').wait(500).shut('old-n0', 'n0', 'old'));
    log.change('old-n0', 'n0', 'new').wait(500).open('old-n0', 'n0', 'new').wait(500);
    matches(log.shut('old-n0', 'n0', 'new'), /^S5: /, /^S6: /);
  });

  it('checks updates against what their caller can have observed', () => {
    const paused = { rollingUpdate: { paused: true } };
    const log = advanced(2).strategy(paused).release('app:v2', 'new', 2).wait(5_000).remove('old-n0', 'n0', 'old');
    matches(log, /^S9: .* paused/);
    assert.deepEqual(log.judge(undefined, { lagMs: () => 6_000 }), []);
  });

  it('ignores a creation that was held back', () => {
    const log = advanced(3, oneMore).create('new-n0', 'n0', 'new').wait(5).create('new-n1', 'n1', 'new');
    matches(log, /^S10: /);
    const isLate = ({ name }: { name: string }): number => (name === 'pod-new-n1' ? 6_000 : 0);
    assert.deepEqual(log.judge(undefined, { heldBackMs: isLate }), []);
    matches(log.wait(5).create('new-n2', 'n2', 'new'), /^S10: /, /^S10: /);
  });

  it('counts how often each invariant was checked', () => {
    const counts = new Map<string, number>();
    const checked = (rule: string): void => void counts.set(rule, (counts.get(rule) ?? 0) + 1);
    advanced(2).remove('old-n0', 'n0', 'old').judge(undefined, { checked });
    const held = { S1: 1, S2: 1, S3: 1, S4: 1, S5: 1, S6: 1, S9: 1 };
    assert.deepEqual(Object.fromEntries(counts), held);
  });
});
