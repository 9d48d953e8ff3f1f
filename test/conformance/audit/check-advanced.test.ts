import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildHistory } from './history-builder.ts';

const oneDown = { rollingUpdate: { maxUnavailable: 1 } };
const oneMore = { rollingUpdate: { maxSurge: 1 } };

/** Of an Advanced DaemonSet, whose template has just been changed. */
const advanced = (nodes: number, updateStrategy: object = oneDown) => buildHistory(nodes, { updateStrategy });
type Log = ReturnType<typeof advanced>;

const matches = (log: Log, ...rules: RegExp[]): void => {
  const found = log.judge();
  assert.equal(found.length, rules.length, found.join('\n'));
  for (const [index, rule] of rules.entries()) assert.match(found[index] ?? '', rule);
};

/** Everything that a kubelet and the manager do to bring a pod of a node to the new revision while it runs. */
const inPlace = (log: Log, node: string): Log =>
  log
    .shut(`old-${node}`, node, 'old')
    .wait(5)
    .change(`old-${node}`, node, 'new')
    .wait(500)
    .pod(`old-${node}`, node, 'new', false, { gate: 'shut' })
    .wait(500)
    .pod(`old-${node}`, node, 'new', true, { gate: 'open' });

describe('the judge of Advanced DaemonSets', () => {
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

  it('allows what was in force so shortly before that nobody can have known', () => {
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

  it('finds nothing in changes in place one after the other', () => {
    const log = advanced(3);
    for (const node of ['n0', 'n1', 'n2']) inPlace(log, node).wait(100);
    matches(log);
  });

  it('S1, S2: takes the shutting of a gate for the act, before the pod is seen to be unready', () => {
    matches(advanced(3).shut('old-n0', 'n0', 'old').wait(5).shut('old-n1', 'n1', 'old'), /^S1: .* changed /, /^S2: /);
    matches(
      advanced(3).shut('old-n0', 'n0', 'old').wait(5).change('old-n0', 'n0', 'new').remove('old-n1', 'n1', 'old'),
      /^S1: /,
      /^S2: /,
    );
  });

  it('takes a change of labels alone for an act that harms nobody', () => {
    const log = advanced(3);
    for (const node of ['n0', 'n1']) log.change(`old-${node}`, node, 'new', { gate: 'open' }).wait(5);
    matches(log);
  });

  it('S6: sees a second change of a healthy pod in one rollout', () => {
    matches(inPlace(advanced(2), 'n0').wait(100).shut('old-n0', 'n0', 'new'), /^S5: /, /^S6: /);
  });

  it('S14: sees a pod brought to, or made of, another revision than the target', () => {
    matches(advanced(2).wait(2000).change('old-n0', 'n0', 'older'), /^S14: .* to older while new is the target/);
    const log = advanced(2).pod('old-n0', 'n0', 'old', false, { phase: 'Failed' }).gone('old-n0', 'n0', 'old');
    matches(log.wait(2000).create('again', 'n0', 'old'), /^S14: /);
  });

  it('finds nothing in surges one after the other', () => {
    const log = advanced(2, oneMore);
    for (const node of ['n0', 'n1']) {
      log.create(`new-${node}`, node, 'new').wait(500).pod(`new-${node}`, node, 'new', true).wait(50);
      log.remove(`old-${node}`, node, 'old').wait(500).gone(`old-${node}`, node, 'old').wait(50);
    }
    matches(log);
  });

  it('S10: sees more surges than maxSurge, until one pod is left', () => {
    const started = () => advanced(3, oneMore).create('new-n0', 'n0', 'new').wait(500);
    matches(
      started().create('new-n1', 'n1', 'new'),
      /^S10: .* created pod pod-new-n1 on n1, with updates in flight on n0 and/,
    );
    matches(started().pod('new-n0', 'n0', 'new', true).wait(2000).create('new-n1', 'n1', 'new'), /^S10: /);
    matches(advanced(3).create('new-n0', 'n0', 'new'), /^S10: .* a budget of 0/);
  });

  it('S10: sees three live pods on a node', () => {
    const log = advanced(2, { rollingUpdate: { maxSurge: 2 } });
    matches(
      log.create('new-n0', 'n0', 'new').wait(100).create('more-n0', 'n0', 'new'),
      /^S10: .* beside 2 live pods/,
      /^S6: /,
    );
  });

  it('S10: sees a ready old pod go before the new one is available, and lets one go that is not ready', () => {
    const log = () => advanced(2, oneMore).create('new-n0', 'n0', 'new').wait(2000);
    matches(log().remove('old-n0', 'n0', 'old'), /^S10: .* before the pod beside it was available/);
    matches(log().pod('old-n0', 'n0', 'old', false).remove('old-n0', 'n0', 'old'));
  });

  it('S9: sees acts on pods whose owners have not agreed to just that revision', () => {
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

  it('S9: sees acts while updates are paused, by hand, or left out by the partition', () => {
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

  it('S3: sees an act on a node that has only just come back', () => {
    const log = (ms: number) =>
      advanced(2).node('n0', false).wait(20_000).node('n0', true).wait(ms).remove('old-n0', 'n0', 'old');
    matches(log(3000), /^S3: .* on n0, which had been back for only 3000 ms/);
    matches(log(10_000));
  });

  it('counts what prepares a delete as the act, and not the delete after it', () => {
    const prepared = () => advanced(3).prepare('old-n0', 'n0', 'old').wait(2000);
    matches(prepared().remove('old-n0', 'n0', 'old'));
    matches(prepared().prepare('old-n1', 'n1', 'old'), /^S1: /, /^S2: /);
  });

  it('leaves it to the manager to take away what has ended', () => {
    const log = advanced(3).remove('old-n0', 'n0', 'old').pod('old-n1', 'n1', 'old', false, { phase: 'Failed' });
    matches(log.remove('old-n1', 'n1', 'old').gone('old-n1', 'n1', 'old').create('new-n1', 'n1', 'new'));
  });

  it('takes what was decided on before the template changed for an act of the rollout before', () => {
    const log = advanced(2, oneMore).release('app:v3', 'newer', 3).create('new-n0', 'n0', 'new').wait(500);
    log.pod('new-n0', 'n0', 'new', true).remove('old-n0', 'n0', 'old').gone('old-n0', 'n0', 'old').wait(500);
    matches(log.create('newer-n0', 'n0', 'newer'));
    matches(log.create('newest-n0', 'n0', 'newer'), /^S10: /, /^S6: /);
  });

  it('S6: allows an act where one was taken back before the pod was changed', () => {
    const log = advanced(2).shut('old-n0', 'n0', 'old').wait(500);
    matches(log.open('old-n0', 'n0', 'old').wait(500).shut('old-n0', 'n0', 'old'));
    log.change('old-n0', 'n0', 'new').wait(500).open('old-n0', 'n0', 'new').wait(500);
    matches(log.shut('old-n0', 'n0', 'new'), /^S5: /, /^S6: /);
  });

  it('holds acts against what their own caller can have known', () => {
    const paused = { rollingUpdate: { paused: true } };
    const log = advanced(2).strategy(paused).release('app:v2', 'new', 2).wait(5_000).remove('old-n0', 'n0', 'old');
    matches(log, /^S9: .* paused/);
    assert.deepEqual(log.judge(undefined, { lagMs: () => 6_000 }), []);
  });

  it('takes a creation that was held back for no act', () => {
    const log = advanced(3, oneMore).create('new-n0', 'n0', 'new').wait(5).create('new-n1', 'n1', 'new');
    matches(log, /^S10: /);
    const isLate = ({ name }: { name: string }): number => (name === 'pod-new-n1' ? 6_000 : 0);
    assert.deepEqual(log.judge(undefined, { heldBackMs: isLate }), []);
    matches(log.wait(5).create('new-n2', 'n2', 'new'), /^S10: /, /^S10: /);
  });

  it('tells how often it has held acts against each rule', () => {
    const counts = new Map<string, number>();
    const checked = (rule: string): void => void counts.set(rule, (counts.get(rule) ?? 0) + 1);
    advanced(2).remove('old-n0', 'n0', 'old').judge(undefined, { checked });
    const held = { S1: 1, S2: 1, S3: 1, S4: 1, S5: 1, S6: 1, S9: 1 };
    assert.deepEqual(Object.fromEntries(counts), held);
  });
});
