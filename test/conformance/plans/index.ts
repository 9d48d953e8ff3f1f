import assert from 'node:assert/strict';
import { it } from 'node:test';
import { defineResource, type KubeClient, type KubeObject } from '../../../src/kube/index.ts';
import { assertVerdict } from '../kit/index.ts';
import { approvalCases, decision } from './approvals.ts';
import { planCases } from './specs.ts';

export { decision } from './approvals.ts';

type PlanObject = KubeObject & { spec: Record<string, unknown> };

const resource = (plural: string, kind: string, namespaced = true) =>
  defineResource<PlanObject>({ group: 'edgeset.io', version: 'v1alpha1', plural, kind, namespaced });

const rolloutPlans = resource('rolloutplans', 'RolloutPlan');
const clusterRolloutPlans = resource('clusterrolloutplans', 'ClusterRolloutPlan', false);
export const rolloutApprovals = resource('rolloutapprovals', 'RolloutApproval');

/** Registers a test for every spec of the tables. The client may write as anybody: no admission policy is in force. */
export const describePlans = (subject: () => { client: KubeClient; namespace: string }): void => {
  for (const each of planCases)
    it(`${each.refused ? 'refuses' : 'accepts'} ${each.name}`, async () => {
      const { client, namespace } = subject();
      const { spec } = each;
      const name = 'rings';
      await assertVerdict(client.create(rolloutPlans, { metadata: { name, namespace }, spec }, { dryRun: true }), each);
      await assertVerdict(client.create(clusterRolloutPlans, { metadata: { name }, spec }, { dryRun: true }), each);
    });

  for (const each of approvalCases)
    it(`${each.refused ? 'refuses' : 'accepts'} ${each.name}`, () => {
      const { client, namespace } = subject();
      const object = { metadata: { generateName: 'approval-', namespace }, spec: each.spec };
      return assertVerdict(client.create(rolloutApprovals, object, { dryRun: true }), each);
    });

  it('lets a plan be edited, and an approval never', async () => {
    const { client, namespace } = subject();
    const ref = { namespace, name: 'edited' };
    await client.create(rolloutPlans, { metadata: ref, spec: { stages: [{ name: 'lab' }] } });
    const edit = { spec: { stages: [{ name: 'lab' }, { name: 'canary' }] } };
    const edited = await client.patch(rolloutPlans, ref, edit, { type: 'merge' });
    assert.equal(edited.metadata?.generation, 2);

    await client.create(rolloutApprovals, { metadata: ref, spec: decision });
    const other = client.patch(rolloutApprovals, ref, { spec: { stage: 'lab' } }, { type: 'merge' });
    await assertVerdict(other, { refused: ['spec', 'delete the RolloutApproval and create another one'] });
    const labelled = { metadata: { labels: { a: 'b' } } };
    assert.equal((await client.patch(rolloutApprovals, ref, labelled, { type: 'merge' })).spec.stage, 'canary');
  });
};
