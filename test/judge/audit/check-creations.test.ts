import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkCreations } from './check-creations.ts';
import { buildHistory } from './history-builder.ts';

const plan = {
  stages: [
    { name: 'lab', nodes: { selector: { matchLabels: { ring: 'lab' } } } },
    { name: 'shop', nodes: { selector: { matchLabels: { ring: 'shop' } } } },
  ],
};
const at = '2026-01-01T00:00:00Z';
const nodes = { total: 1, online: 1, updated: 0 };
const lab = { name: 'lab', state: 'Open', nodes, openedAt: at };
const closed = { name: 'shop', state: 'Closed', nodes };
const shop = { name: 'shop', state: 'Open', nodes, openedAt: at };
const passed = { ...lab, state: 'Passed', promotedAt: at };
const complete = { lastComplete: { revision: 'app-old', hash: 'old' } };
const rolling = { rollingUpdate: { maxUnavailable: '100%' } };

type Log = ReturnType<typeof buildHistory>;
const judge = ({ records }: Log): string[] =>
  checkCreations(records, { namespace: 'edge', daemonSet: 'app', rollout: 'app' }).map((text) =>
    text.replace(/at \S+ \S+ /, ''),
  );
/** n0 is in the open stage, n1 and n2 in the closed one; the pod of n1 is gone. */
const history = (spec: object = plan, status: object = complete): Log =>
  buildHistory(3, { annotations: { 'edgeset.io/rollout-plan': 'app' }, updateStrategy: rolling })
    .label('n0', { ring: 'lab' })
    .label('n1', { ring: 'shop' })
    .label('n2', { ring: 'shop' })
    .plan(spec)
    .stages('new', [lab, closed], status)
    .wait(5_000)
    .gone('old-n1', 'n1', 'old')
    .wait(100);
const CLOSED = 'G9: created a pod on n1, of the target, whose stage shop is closed while only lab are open';

describe('the revision of pods that a manager creates, judged by the audit log', () => {
  it('is the one that was last complete where the stage is closed', () => {
    assert.deepEqual(judge(history().create('again', 'n1', 'old')), []);
    assert.deepEqual(judge(history().create('again', 'n1', 'new')), [CLOSED]);
    assert.deepEqual(judge(history().create('again', 'n1', 'older')), [
      'G9: created a pod on n1, of older, although old was last complete',
    ]);
  });

  it('is the target where the stage is open', () => {
    const open = () => history().stages('new', [passed, shop], complete).wait(5_000);
    assert.deepEqual(judge(open().create('again', 'n1', 'new')), []);
    assert.deepEqual(judge(open().create('again', 'n1', 'old')), [
      'S14: created a pod on n1, bringing it to old while new is the target',
    ]);
  });

  it('is the target where no older revision was complete, or somebody deleted it', () => {
    assert.deepEqual(judge(history(plan, {}).create('again', 'n1', 'new')), []);
    const by = (user: string): Log => {
      const log = history();
      const [last] = log.records.slice(-1);
      assert.ok(last);
      log.records.push({
        ...last,
        user,
        verb: 'delete',
        group: 'apps',
        resource: 'controllerrevisions',
        name: 'app-old',
        response: { kind: 'Status', metadata: {} },
      });
      return log.create('again', 'n1', 'new');
    };
    assert.deepEqual(judge(by('admin')), []);
    assert.deepEqual(judge(by('system:serviceaccount:edge:edgeset-manager')), [CLOSED], 'history that was pruned');
  });

  it('is the target where that ran before, or an update has begun', () => {
    const ran = history().pod('x', 'n1', 'new', true).wait(5_000).gone('x', 'n1', 'new');
    assert.deepEqual(judge(ran.create('again', 'n1', 'new')), []);
    const begun = history().remove('old-n2', 'n2', 'old').gone('old-n2', 'n2', 'old').wait(2_000);
    assert.deepEqual(judge(begun.create('again', 'n2', 'new')), []);
  });

  it('is the older one also in windows that are closed, and without the plan', () => {
    const windows = { windows: [{ from: '03:00', to: '04:00' }] };
    assert.deepEqual(judge(history(windows).create('again', 'n1', 'old')), []);
    assert.deepEqual(judge(history(windows).create('again', 'n1', 'new')), [
      'G9: created a pod on n1, of the target, although no window is open',
    ]);
    const missing = () => history().plan(undefined).wait(5_000);
    assert.deepEqual(judge(missing().create('again', 'n1', 'old')), []);
    assert.deepEqual(judge(missing().create('again', 'n1', 'new')), [
      'G9: created a pod on n1, of the target, although its rollout plan does not exist, or is invalid',
    ]);
  });

  it('is the target without a plan, and the older one where the DaemonSet asks for it', () => {
    const selector = { matchLabels: { ring: 'lab' } };
    const without = (recreate?: string, more: object = { selector }): Log =>
      buildHistory(3, {
        annotations: recreate === undefined ? {} : { 'edgeset.io/recreate': recreate },
        updateStrategy: { rollingUpdate: { maxUnavailable: '100%', ...more } },
      })
        .label('n1', { ring: 'shop' })
        .stages('new', [], complete)
        .wait(5_000)
        .gone('old-n1', 'n1', 'old')
        .wait(100);
    assert.deepEqual(judge(without().create('again', 'n1', 'new')), []);
    assert.deepEqual(judge(without().create('again', 'n1', 'old')), [
      'S14: created a pod on n1, bringing it to old while new is the target',
    ]);
    assert.deepEqual(judge(without('held-revision').create('again', 'n1', 'old')), []);
    assert.deepEqual(judge(without('held-revision').create('again', 'n1', 'new')), [
      'G9: created a pod on n1, of the target, which the node selector excludes',
    ]);
    assert.deepEqual(judge(without('held-revision', { partition: 3 }).create('again', 'n1', 'new')), [
      'G9: created a pod on n1, of the target, although the partition permits 0 nodes and 0 run it',
    ]);
  });
});
