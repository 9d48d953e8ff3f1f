import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { planWith } from '../../view/testing/index.ts';
import type { PrometheusCheck, RolloutPlanSpec } from '../../words/index.ts';
import { createFakeCluster, observed } from './testing/fake-cluster.ts';

const PLANS = '/apis/edgeset.io/v1alpha1/namespaces/shop/rolloutplans';

describe('an invalid plan, on the command line,', () => {
  const world = createFakeCluster();
  const plan = (name: string, spec: RolloutPlanSpec): void => {
    for (const plural of ['rolloutplans', 'clusterrolloutplans', 'rolloutapprovals']) world.api.plurals.add(plural);
    world.api.put(PLANS, { ...planWith('RolloutPlan', { name, namespace: 'shop' }, []), spec });
  };
  const fleet = (annotations: Record<string, string> = { 'edgeset.io/rollout-plan': 'rings' }): void => {
    world.daemonSet(annotations);
    world.fleet('n1', 'n2');
    world.rollout(observed);
  };
  const checkedBy = (prometheus: PrometheusCheck): RolloutPlanSpec => ({
    stages: [{ name: 'lab', promote: { checks: ['errors'] } }],
    checks: [{ name: 'errors', prometheus }],
  });
  const valid = checkedBy({ query: 'up', condition: 'result.all(r, r > 0.0)' });
  const said = async (...args: string[]): Promise<string> => (await world.output(...args)).replaceAll(/\s+/g, ' ');
  /** What the manager writes. */
  const refusedBy = (message: string) => ({
    ...observed,
    policyHash: '',
    conditions: [
      {
        type: 'Stalled',
        status: 'True' as const,
        reason: 'InvalidPolicy',
        message,
        lastTransitionTime: '2020-01-01T00:00:00Z',
      },
    ],
  });
  const REPORT = 'The rollout policy is not valid. rings: spec.checks[0].prometheus.address "" is not set: set it.';

  it('is judged by what it says, without a manager', async () => {
    plan('rings', checkedBy({ query: 'up', condition: 'results' }));
    fleet();
    const expected =
      /The rollout policy is not valid\. rings: spec\.checks\[0\]\.prometheus\.condition "results" is wrong \(Unknown variable: results\)/;
    assert.match(await said('explain', 'web'), expected);
    assert.match(await said('plan', 'web'), expected);
  });

  it('that only the manager can judge holds as it reports', async () => {
    plan('rings', valid);
    fleet();
    assert.doesNotMatch(await said('explain', 'web'), /The manager reports|not valid/);
    world.rollout(refusedBy(REPORT));
    for (const command of ['explain', 'plan']) {
      const text = await said(command, 'web');
      assert.match(text, /The manager reports: The rollout policy is not valid\. .*address "" is not set: set it\./);
      assert.doesNotMatch(text, /Note: The manager reports/);
    }
    const { hold } = JSON.parse(await world.output('explain', 'web', '-o', 'json')) as { hold?: { kind: string } };
    assert.equal(hold?.kind, 'invalid');
  });

  it('is not what an annotation was invalid for that the dry run replaces', async () => {
    plan('rings', valid);
    fleet({ 'edgeset.io/rollout-plan': 'rings', 'apps.openyurt.io/max-unavailable': 'many' });
    world.rollout(refusedBy('The rollout policy is not valid. apps.openyurt.io/max-unavailable "many" is ...'));
    assert.match(await said('plan', 'web', '--max-unavailable=1'), /The manager would now: open stage lab/);
  });

  it('that leads in a cycle is named, without a manager; one that waits for a member is not invalid', async () => {
    plan('rings', { after: [{ name: 'driver' }] });
    plan('back', { after: [{ name: 'web' }] });
    fleet();
    const sets = '/apis/apps/v1/namespaces/shop/daemonsets';
    const web = JSON.parse(world.api.text(`${sets}/web`)) as { metadata: { annotations: object } };
    const driver = (after: string): void => {
      const annotations = { ...web.metadata.annotations, 'edgeset.io/rollout-plan': after };
      world.api.put(sets, { ...web, metadata: { ...web.metadata, name: 'driver', uid: 'uid-driver', annotations } });
    };
    driver('back');
    const cycle =
      /rings: spec\.after "web after driver after web" is a cycle in which each DaemonSet waits for the next/;
    assert.match(await said('explain', 'web'), cycle);
    assert.match(await said('plan', 'web'), cycle);
    plan('self', { after: [{ name: 'driver' }] });
    driver('self');
    assert.match(await said('explain', 'driver'), /"driver after driver" is a cycle/);
    assert.doesNotMatch(await said('explain', 'web'), /cycle/);
  });
});
