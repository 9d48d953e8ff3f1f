import assert from 'node:assert/strict';
import type { RolloutApproval } from '../../../src/words/index.ts';
import { budgetKey, type Case, section } from '../kit/index.ts';
import { awaits, createPlan, FRESH_CRD, label, me, ring, stage, untilStage, wide } from '../kit/plans.ts';
import { edgeset, refuses, succeeds } from './run.ts';

const approvals = async (c: Case): Promise<RolloutApproval['spec'][]> => {
  const path = `/apis/edgeset.io/v1alpha1/namespaces/${c.namespace}/rolloutapprovals`;
  return (await c.api.get<{ items: RolloutApproval[] }>(path)).items.map(({ spec }) => spec);
};

const said = async (c: Case, ...args: string[]): Promise<string> => succeeds(await edgeset(c, ...args))[0];

export const deciding = section(
  'approve, promote, undo, set and get',
  (rule) => {
    rule(
      'stages are approved and promoted by name, and the way back is taken, with a dry run of each before',
      async (c) => {
        const [lab = '', canary = ''] = c.nodes;
        await label(c, { ring: 'lab' }, [lab]);
        await label(c, { ring: 'canary' }, [canary]);
        const approval = { required: true };
        await createPlan(c, { stages: [ring('lab', { approval }), ring('canary', { soak: '1h' })] });
        await c.startRollout('app:v2', { annotations: wide });
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        const user = await me(c);

        const approve = ['approve', 'ds/app', '--stage=lab', '--comment=looks good in Lyon'];
        const shown = await said(c, ...approve, '--dry-run=server', '-o', 'yaml');
        assert.match(shown, /comment: looks good in Lyon/);
        await said(c, ...approve, '--dry-run');
        assert.deepEqual(await approvals(c), []);
        assert.match(await said(c, ...approve, '-o', 'name'), /^rolloutapproval\.edgeset\.io\//);
        const hash = (await c.status()).target?.hash ?? '';
        const daemonSet = { apiGroup: 'apps', name: 'app' };
        const made = { daemonSet, revision: hash, stage: 'lab', decision: 'Approve', approvedBy: user };
        assert.deepEqual(await approvals(c), [{ ...made, comment: 'looks good in Lyon' }]);
        await untilStage(c, 'canary', awaits('Soak'), 'soaks');
        assert.equal((await stage(c, 'lab'))?.promotedBy, user);
        refuses(await edgeset(c, 'approve', 'ds/app'), /no stage .* awaits approval/);

        const promote = ['promote', 'ds/app', '--stage', 'canary', '--comment', 'hotfix'];
        await said(c, ...promote, '--dry-run=client');
        assert.equal((await approvals(c)).length, 1);
        const printed = JSON.parse(await said(c, ...promote, '-o', 'json')) as RolloutApproval;
        assert.deepEqual(
          [printed.spec.decision, printed.spec.stage, printed.spec.comment],
          ['Promote', 'canary', 'hotfix'],
        );
        await c.untilComplete('app:v2');
        assert.equal((await stage(c, 'canary'))?.promotion, 'ByHand');

        await c.setImage('app:v3');
        await untilStage(c, 'lab', awaits('Approval'), 'awaits an approval');
        assert.match(await said(c, 'undo', 'ds/app', '--dry-run'), /revision 2 \(app:v2\)/);
        assert.equal((await c.podOn(lab)).image, 'app:v3');
        assert.equal(await said(c, 'undo', 'ds/app', '-o', 'name'), 'daemonset.apps/app\n');
        // No stage holds the way back.
        await c.untilRunning('app:v2');
      },
      { nodes: 3, budget: 3 },
    );

    rule(
      'set changes the budget and the partition, and get and explain list the nodes of a phase',
      async (c) => {
        await c.startRollout('app:v2', { annotations: { 'edgeset.io/paused': 'true' } });
        await c.untilCondition('Paused');
        const set = ['set', 'ds/app', '--max-unavailable', '2', '--partition=1'];
        const annotationsNow = async (): Promise<Record<string, string>> =>
          (await c.daemonSet()).metadata?.annotations ?? {};
        assert.match(await said(c, ...set, '--dry-run=server'), /-> 2.*server dry run/s);
        assert.equal((await annotationsNow())[budgetKey], undefined);
        assert.equal(await said(c, ...set, '-o', 'name'), 'daemonset.apps/app\n');
        const now = await annotationsNow();
        assert.deepEqual([now[budgetKey], now['edgeset.io/partition']], ['2', '1']);
        assert.match(await said(c, 'resume', 'ds/app', '-o', 'yaml', '--dry-run=server'), /paused: "false"|name: app/);
        await said(c, 'resume', 'ds/app', '-o', 'name');
        await c.until('two are updated', async () => (await c.running('app:v2')).length === 2);
        const [held = ''] = c.nodes;
        const updated = await c.running('app:v2');
        const phases = async (...args: string[]): Promise<string[]> =>
          (await said(c, 'get', 'ds/app', '-o', 'name', ...args)).trim().split('\n');
        await c.until('one is held', async () => (await phases('--phase', 'held')).join() === `node/${held}`);
        assert.deepEqual(
          await phases('--phase=updated'),
          updated.map((node) => `node/${node}`),
        );
        const all = await said(c, 'explain', 'ds/app', '--all');
        for (const node of c.nodes) assert.ok(all.includes(node), all);
        const some = await said(c, 'explain', 'ds/app', '--phase=held');
        assert.ok(some.includes(held) && updated.every((node) => !some.includes(node)), some);
        const explained = JSON.parse(await said(c, 'explain', 'ds/app', '-o', 'json')) as object;
        assert.ok(JSON.stringify(explained).includes(held));
        const plan = JSON.parse(await said(c, 'plan', 'ds/app', '-o', 'json', '--unpaused', '--partition=0')) as object;
        assert.ok(JSON.stringify(plan).includes(held));
        const list = await said(c, 'status', '--all-namespaces', '-l', 'app.kubernetes.io/managed-by=edgeset-manager');
        assert.match(list, new RegExp(`^${c.namespace} +app `, 'm'));
        const none = await said(c, 'status', '--all-namespaces', '--selector=no=label');
        assert.ok(!none.includes(c.namespace), none);
        const wideStatus = await said(c, 'status', '-o', 'wide');
        assert.match(wideStatus, /LAST-CHANGE/);
      },
      { nodes: 3, budget: 2 },
    );
  },
  { expected: FRESH_CRD },
);
