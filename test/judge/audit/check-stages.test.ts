import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { describe, it } from 'node:test';
import type { DaemonRolloutStage } from '../../../src/words/index.ts';
import { checkStages } from './check-stages.ts';
import { buildHistory } from './history-builder.ts';

const plan = {
  stages: [
    { name: 'lab', nodes: { selector: { matchLabels: { ring: 'lab' } } } },
    { name: 'shop', nodes: { selector: { matchLabels: { ring: 'shop' } } } },
  ],
};
const at = '2026-01-01T00:00:00Z';
const nodes = { total: 1, online: 1, updated: 0 };
const lab: DaemonRolloutStage = { name: 'lab', state: 'Open', nodes, openedAt: at };
const labPassed: DaemonRolloutStage = { ...lab, state: 'Passed', promotedAt: at };
const closed: DaemonRolloutStage = { name: 'shop', state: 'Closed', nodes };
const shop: DaemonRolloutStage = { name: 'shop', state: 'Open', nodes, openedAt: at };

const planned = (name = 'app') => buildHistory(2, { annotations: { 'edgeset.io/rollout-plan': name } });
const history = (spec: object = plan) =>
  planned()
    .label('n0', { ring: 'lab' })
    .label('n1', { ring: 'shop' })
    .plan(spec)
    .stages('new', [lab, closed])
    .wait(5_000);
const judge = ({ records }: { records: Parameters<typeof checkStages>[0] }): string[] =>
  checkStages(records, { namespace: 'edge', daemonSet: 'app' }).map((text) => text.replace(/at \S+ \S+ /, ''));

describe('the stages of a plan, judged by the audit log', () => {
  it('accepts updates of open stages in the order of the plan', () => {
    const checked: string[] = [];
    const { records } = history()
      .remove('old-n0', 'n0', 'old')
      .stages('new', [labPassed, closed])
      .stages('new', [labPassed, shop])
      .remove('old-n1', 'n1', 'old');
    const checks = { checked: (rule: string) => void checked.push(rule) };
    assert.deepEqual(checkStages(records, { namespace: 'edge', daemonSet: 'app', ...checks }), []);
    assert.deepEqual([...new Set(checked)].toSorted(), ['G1', 'G2']);
  });

  it('finds an update of a node whose stage is closed', () => {
    assert.deepEqual(judge(history().remove('old-n1', 'n1', 'old')), [
      'G1: updated app on n1, whose stage shop is closed while only lab are open',
    ]);
  });

  it('knows promotions for one revision only', () => {
    const found = history().stages('new', [labPassed, shop]).stages('newer', [lab, closed]);
    assert.deepEqual(judge(found.remove('old-n1', 'n1', 'old')), [
      'G1: updated app on n1, whose stage shop is closed while only lab are open',
    ]);
  });

  it('judges a request that was carried out late by the status that held when it arrived', () => {
    const { records } = history()
      .stages('new', [labPassed, shop])
      .stages('newer', [lab, closed])
      .remove('old-n1', 'n1', 'old');
    const [next, late] = records.slice(-2);
    assert.ok(next && late);
    assert.deepEqual(judge({ records }).length, 1);
    assert.deepEqual(judge({ records: [...records.slice(0, -1), { ...late, receivedAt: next.receivedAt - 1 }] }), []);
  });

  it('finds an update without a plan, unless the plan was deleted a moment ago', () => {
    assert.deepEqual(judge(history().plan(undefined).remove('old-n0', 'n0', 'old')), []);
    assert.deepEqual(judge(history().plan(undefined).wait(5_000).remove('old-n0', 'n0', 'old')), [
      'G1: updated app on n0, although its rollout plan does not exist, or is invalid',
    ]);
  });

  it('finds a stage that opens too early, and a promotion that is taken back', () => {
    assert.deepEqual(judge(history().stages('new', [lab, shop])), [
      'G2: opened stage shop, although lab had not been promoted',
    ]);
    assert.deepEqual(judge(history().stages('new', [labPassed, closed]).stages('new', [lab, closed])), [
      'G2: took the promotion of stage lab back, which was written',
    ]);
  });

  it('finds an update of a busy node, unless it has become so a moment ago, also on the way back', () => {
    const skipping = { ...plan, skipNodes: { selector: { matchLabels: { job: 'yes' } }, taints: ['job'] } };
    const taints = [{ key: 'job', effect: 'PreferNoSchedule' }];
    const busy = 'G1: updated app on n0, although the plan skips it while it is busy';
    for (const [labels, more] of [
      [{ ring: 'lab', job: 'yes' }, {}],
      [{ ring: 'lab' }, { taints }],
    ] as const) {
      const marked = () => history(skipping).label('n0', labels, more);
      assert.deepEqual(judge(marked().wait(5000).remove('old-n0', 'n0', 'old')), [busy]);
      assert.deepEqual(judge(marked().remove('old-n0', 'n0', 'old')), []);
      const back = marked().wait(5000).stages('old', [lab, closed], { rollback: true });
      assert.deepEqual(judge(back.remove('old-n0', 'n0', 'new')), [busy]);
    }
    const free = history(skipping).label('n0', { ring: 'lab', job: 'yes' }).label('n0', { ring: 'lab', job: 'no' });
    assert.deepEqual(judge(free.wait(5000).remove('old-n0', 'n0', 'old')), []);
  });

  it('finds a busy node in a sample', () => {
    const code = (node: string): string => hash('sha256', `new/${node}`, 'base64url').slice(0, 8);
    const sampled = (labels: Record<string, string>) =>
      history({
        stages: [{ name: 'lab', nodes: { count: 1 } }],
        skipNodes: { selector: { matchLabels: { job: 'yes' } } },
      })
        .label('n0', labels)
        .wait(5000)
        .stages('new', [{ ...lab, sample: code('n0') }]);
    assert.deepEqual(judge(sampled({ job: 'yes' })), [
      'G1: drew the sample of stage lab, which has n0, although the plan skips it while it is busy',
    ]);
    assert.deepEqual(judge(sampled({})), []);
  });

  it('does not stage the way back', () => {
    const back = history().stages('old', [lab, closed], { rollback: true });
    assert.deepEqual(judge(back.remove('old-n1', 'n1', 'new')), []);
  });
});

/** The plan, whose first stage has these gates. */
const gated = (promote: object) => ({ stages: [{ ...plan.stages[0], promote }, plan.stages[1]] });
const seconds = (count: number): string => new Date(Date.parse(at) + count * 1000).toISOString();
const passedBy = (promotion: NonNullable<DaemonRolloutStage['promotion']>, more: object = {}): DaemonRolloutStage => ({
  ...labPassed,
  coveredAt: at,
  soakUntil: at,
  promotedAt: seconds(60),
  promotion,
  ...more,
});

describe('windows and groups of a plan, judged by the audit log', () => {
  // Updates are made a minute and some seconds after midnight.
  const tokyo = { annotations: { 'edgeset.io/time-zone': 'Asia/Tokyo' } };
  const updateLab = (spec: object): string[] =>
    judge(
      history({ ...plan, ...spec })
        .label('n0', { ring: 'lab' }, tokyo)
        .wait(2000)
        .remove('old-n0', 'n0', 'old'),
    );

  for (const [what, spec, why] of [
    ['a closed window', { windows: [{ from: '03:00', to: '04:00' }] }, 'no window is open'],
    [
      'a closed window in the time zone of the node',
      { windows: [{ from: '00:00', to: '01:00', timeZone: 'node' }] },
      'no window is open',
    ],
    ['a freeze', { freezes: [{ from: '2025-12-24', to: '2026-01-02' }] }, 'a freeze lasts until 2026-01-02'],
  ] as const)
    it(`finds an update that ${what} forbids`, () =>
      assert.deepEqual(updateLab(spec), [`G1: updated app on n0, although ${why}`]));

  it('accepts updates in windows of any time zone', () => {
    assert.deepEqual(updateLab({ windows: [{ from: '09:00', to: '10:00', timeZone: 'node' }] }), []);
    assert.deepEqual(updateLab({ windows: [{ from: '01:00', to: '02:00', timeZone: 'Europe/Berlin' }] }), []);
  });

  it('finds a sample that changes, and one that is too large', () => {
    const sampled = () => history({ stages: [{ name: 'lab', nodes: { count: 1 } }] });
    const first = sampled().stages('new', [{ ...lab, sample: 'aaaaaaaa' }]);
    assert.deepEqual(judge(first.stages('new', [{ ...lab, sample: 'bbbbbbbb' }])), [
      'G1: changed the sample of stage lab, which must stay the same',
    ]);
    assert.deepEqual(judge(sampled().stages('new', [{ ...lab, sample: 'aaaaaaaabbbbbbbb' }])), [
      'G1: drew the sample of stage lab, which has 2 nodes instead of 1',
    ]);
  });

  it('goes by the plan that the DaemonSet names, and asks nothing without one', () => {
    const other = planned('cluster/app').plan(plan).stages('new', [lab, closed]).wait(5000);
    assert.deepEqual(judge(other.remove('old-n0', 'n0', 'old')), [
      'G1: updated app on n0, although its rollout plan does not exist, or is invalid',
    ]);
    assert.deepEqual(judge(buildHistory(2).plan(plan).stages('new', [lab, shop]).remove('old-n1', 'n1', 'old')), []);
  });

  it('finds more updates in a group, or in a stage, than its limit', () => {
    const both = (spec: object): string[] => {
      const sites = planned().label('n0', { site: 'a' }).label('n1', { site: 'a' }).plan(spec);
      return judge(sites.stages('new', []).wait(5000).remove('old-n0', 'n0', 'old').remove('old-n1', 'n1', 'old'));
    };
    assert.deepEqual(both({ maxUnavailablePer: [{ topologyKey: 'site', value: 1 }] }), [
      'G7: updated app on n1, with updates in flight on n0 and a limit of 1 for site=a',
    ]);
    assert.deepEqual(both({ maxUnavailablePer: [{ topologyKey: 'site', value: 2 }] }), []);
    assert.deepEqual(both({ stages: [{ name: 'lab', maxUnavailable: '50%' }] }), [
      'G7: updated app on n1, with updates in flight on n0 and a limit of 1 for stage lab',
    ]);
  });
});

describe('promotions, judged by the audit log', () => {
  it('finds a stage that is passed while all of its nodes are offline', () => {
    const after = (ready: boolean): string[] =>
      judge(
        history()
          .label('n0', { ring: 'lab' }, { ready })
          .wait(5000)
          .stages('new', [passedBy('Gates'), closed]),
      );
    assert.deepEqual(after(true), []);
    assert.deepEqual(after(false), ['G3: promoted stage lab, of which no node was online']);
  });

  it('finds a stage that is passed without its check, and a halt for a check that has not failed', () => {
    const checked = () => history(gated({ checks: ['errors'] }));
    const result = (state: string) => ({ checks: [{ name: 'errors', state, failures: 0 }] });
    assert.deepEqual(judge(checked().stages('new', [passedBy('Gates', result('Passing')), closed])), []);
    assert.deepEqual(judge(checked().stages('new', [passedBy('Gates', result('NoResult')), closed])), [
      'G4: promoted stage lab, whose check errors was NoResult',
    ]);
    const halted = { halted: { reason: 'CheckFailed' } };
    assert.deepEqual(judge(checked().stages('new', [{ ...lab, ...result('NoResult') }], halted)), [
      'G4: halted the rollout for a check, of which none had failed',
    ]);
  });

  const inSoak = (from: number, until: number): DaemonRolloutStage => ({
    ...lab,
    coveredAt: seconds(from),
    soakUntil: seconds(until),
  });
  /** A soak of a minute has just begun, and the stage's node is well. */
  const begun = (length = 60) =>
    history(gated({ soak: '1m' }))
      .pod('old-n0', 'n0', 'new', true)
      .stages('new', [inSoak(70, 70 + length), closed]);

  it('finds a soak that is too short', () => {
    const over = { coveredAt: seconds(70), soakUntil: seconds(130), promotedAt: seconds(130) };
    const promotedAfter = (ms: number, more: object = {}): string[] =>
      judge(
        begun()
          .wait(ms)
          .stages('new', [passedBy('Gates', { ...over, ...more }), closed]),
      );
    assert.deepEqual(promotedAfter(60_000), []);
    assert.deepEqual(promotedAfter(10_000), ['G5: promoted stage lab, 10000 ms after its soak of 60000 ms began']);
    assert.deepEqual(promotedAfter(60_000, { promotedAt: seconds(129) }), [
      `G5: promoted stage lab, at ${seconds(129)}, before its soak was over at ${seconds(130)}`,
    ]);
    assert.deepEqual(judge(begun(30)), ['G5: let stage lab soak, for 30000 ms instead of 60000 ms']);
  });

  it('finds a soak that begins again although nothing happened to the nodes of its stage', () => {
    const again = [inSoak(80, 140), closed];
    assert.deepEqual(judge(begun().wait(5000).stages('new', again)), [
      `G5: changed the end of the soak of lab from ${seconds(130)} to ${seconds(140)}, although all of its nodes had been well`,
    ]);
    const unwell = begun().pod('old-n0', 'n0', 'new', false).wait(5000).pod('old-n0', 'n0', 'new', true);
    assert.deepEqual(judge(unwell.stages('new', again)), []);
  });

  it('finds a way back that is staged', () => {
    const lastComplete = { lastComplete: { hash: 'old' } };
    const back = (more: object): string[] =>
      judge(
        history()
          .stages('new', [lab, closed], lastComplete)
          .stages('old', [lab, closed], { ...lastComplete, ...more }),
      );
    assert.deepEqual(back({ rollback: true }), []);
    assert.deepEqual(back({}), ['G6: staged the way back to old, the revision that was last complete']);
  });

  it('finds a promotion, and an approval, that nobody made', () => {
    const decision = { revision: 'new', stage: 'lab' };
    const byHand = [passedBy('ByHand', { promotedBy: 'ada' }), closed];
    const promote = { ...decision, decision: 'Promote' };
    assert.deepEqual(judge(history().decide('ada', promote).stages('new', byHand)), []);
    assert.deepEqual(judge(history().decide('bob', promote).stages('new', byHand)), [
      'G8: promoted stage lab, as by ada, who had not promoted it',
    ]);
    const required = () => history(gated({ approval: { required: true } }));
    const approved = [passedBy('Gates', { promotedBy: 'ada' }), closed];
    assert.deepEqual(judge(required().decide('ada', decision).stages('new', approved)), []);
    assert.deepEqual(judge(required().decide('bob', decision).stages('new', approved)), [
      'G8: promoted stage lab, as by ada, who had not approved it',
    ]);
    assert.deepEqual(
      judge(
        required()
          .decide('ada', { ...decision, revision: 'old' })
          .stages('new', approved),
      ),
      ['G8: promoted stage lab, which nobody had approved'],
    );
  });
});
