import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buildHistory } from './history-builder.ts';

type Log = ReturnType<typeof buildHistory>;

const matches = (log: Log, ...rules: RegExp[]): void => {
  const found = log.judge(1);
  assert.equal(found.length, rules.length, found.join('\n'));
  for (const [index, rule] of rules.entries()) assert.match(found[index] ?? '', rule);
};

/** A node that was updated, and whose new pod is an old one: its controller did not know the new template yet. */
const oldAgain = (): Log =>
  buildHistory(1)
    .remove('old-n0', 'n0', 'old')
    .gone('old-n0', 'n0', 'old')
    .pod('again-n0', 'n0', 'old', true)
    .wait(5000);

/** A surge on n0 and one on n1, and then another template and policy. */
const surgesBefore = (updateStrategy: object): Log =>
  buildHistory(3, { updateStrategy: { rollingUpdate: { maxSurge: 2 } } })
    .create('new-n0', 'n0', 'new')
    .create('new-n1', 'n1', 'new')
    .strategy(updateStrategy)
    .release('app:v3', 'newer', 3)
    .wait(2000);

describe('a second update of a node, by the audit log', () => {
  it('S6: is reported for a healthy pod', () => {
    matches(oldAgain().remove('again-n0', 'n0', 'old'), /^S6: .* pod-again-n0 .* second update there/);
  });

  it('S6: is permitted once where somebody has deleted the pod, or it has failed, and no more', () => {
    const deleted = oldAgain().remove('again-n0', 'n0', 'old', { by: 'admin' });
    const failed = oldAgain().pod('again-n0', 'n0', 'old', false, { phase: 'Failed' });
    for (const log of [deleted, failed]) {
      log.gone('again-n0', 'n0', 'old').pod('third-n0', 'n0', 'old', true).wait(5000);
      matches(log.remove('third-n0', 'n0', 'old'));
      log.gone('third-n0', 'n0', 'old').pod('fourth-n0', 'n0', 'old', true).wait(5000);
      matches(log.remove('fourth-n0', 'n0', 'old'), /^S6: .* pod-fourth-n0 /);
    }
  });

  it('S6: is permitted once, however long the pod that somebody has deleted terminates', () => {
    const log = oldAgain().remove('again-n0', 'n0', 'old', { by: 'admin' }).wait(5000);
    log.pod('third-n0', 'n0', 'old', true).wait(5000).remove('third-n0', 'n0', 'old').gone('third-n0', 'n0', 'old');
    log.pod('again-n0', 'n0', 'old', false, { deleting: true }).pod('fourth-n0', 'n0', 'old', true).wait(5000);
    matches(log.remove('fourth-n0', 'n0', 'old'), /^S6: .* pod-fourth-n0 /);
  });

  it('S6: is reported for the pod that the first one brought, where somebody has deleted another one beside it', () => {
    const twin = oldAgain()
      .pod('twin-n0', 'n0', 'old', true)
      .wait(5000)
      .remove('twin-n0', 'n0', 'old', { by: 'admin' });
    matches(twin.wait(5000).remove('again-n0', 'n0', 'old'), /^S6: .* pod-again-n0 /);
    const surge = buildHistory(2, { updateStrategy: { rollingUpdate: { maxSurge: 1 } } }).create('new-n0', 'n0', 'new');
    surge.wait(500).pod('new-n0', 'n0', 'new', true).wait(500).remove('old-n0', 'n0', 'old', { by: 'admin' });
    surge.gone('old-n0', 'n0', 'old').wait(2000).create('more-n0', 'n0', 'new');
    matches(surge, /^S5: /, /^S6: /);
  });

  it('S6: is reported where the response to the delete was lost: it was the caller, and nobody else', () => {
    const log = oldAgain().remove('again-n0', 'n0', 'old', { lost: true }).gone('again-n0', 'n0', 'old');
    log.pod('third-n0', 'n0', 'old', true).wait(5000).remove('third-n0', 'n0', 'old');
    matches(log, /^S6: .* pod-third-n0 /);
  });

  it('S1: takes the slot of the node once the budget has been lowered, for a broken pod only', () => {
    const log = (ready: boolean): Log =>
      buildHistory(3, { updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } })
        .remove('old-n0', 'n0', 'old')
        .remove('old-n1', 'n1', 'old')
        .strategy({ rollingUpdate: { maxUnavailable: 1 } })
        .release('app:v3', 'newer', 3)
        .wait(2000)
        .node('n0', false)
        .pod('new-n0', 'n0', 'new', ready)
        .wait(300)
        .remove('new-n0', 'n0', 'new');
    matches(log(false));
    matches(log(true), /^S1: .* pod-new-n0 on n0, with updates in flight on n1 and a budget of 1/, /^S2: /);
  });

  it('S1: takes no slot from the surge on its node once the budget has been lowered', () => {
    matches(
      surgesBefore({ rollingUpdate: { maxUnavailable: 1 } }).shut('old-n0', 'n0', 'old'),
      /^S1: .* pod-old-n0 on n0, with updates in flight on n1 and a budget of 1/,
    );
    matches(surgesBefore({ rollingUpdate: { maxUnavailable: 2 } }).shut('old-n0', 'n0', 'old'));
  });

  it('S1: permits a repair of the pod that an update broke before its Node was created again', () => {
    const gate = { gate: 'shut' } as const;
    const log = ({ pod = 'old-n0', heals = '' } = {}) => {
      const broken = buildHistory(4, { updateStrategy: { rollingUpdate: { maxUnavailable: 1 } } }).change(
        'old-n0',
        'n0',
        'new',
      );
      const heal = () => broken.pod('old-n0', 'n0', 'new', true, { gate: 'open' }).wait(500);
      if (heals === 'before') heal();
      broken.pod('old-n0', 'n0', 'new', false, gate).node('n0', false).wait(20_000);
      broken.change('old-n1', 'n1', 'new').pod('old-n1', 'n1', 'new', false, gate);
      broken.vanish('n0').node('n0', true).release('app:v3', 'newer', 3).wait(20_000);
      if (heals === 'after') heal().pod('old-n0', 'n0', 'new', false, gate).wait(20_000);
      if (pod !== 'old-n0') broken.gone('old-n0', 'n0', 'new').pod(pod, 'n0', 'new', false, gate).wait(2000);
      return broken.change(pod, 'n0', 'newer');
    };
    matches(log());
    matches(log({ pod: 'another' }), /^S1: .* in flight on n1 and a budget of 1/);
    matches(log({ heals: 'before' }), /^S1: .* in flight on n1 and a budget of 1/);
    matches(log({ heals: 'after' }), /^S1: .* in flight on n1 and a budget of 1/);
  });
});
