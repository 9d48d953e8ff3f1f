import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { parse } from 'yaml';
import { createEmbeddedCluster, createInProcessClient } from '../../embedded/index.ts';
import { clusterRolloutPlans, rolloutPlans } from '../../src/controller/index.ts';
import { customResourceDefinitions, type KubeClient } from '../../src/kube/index.ts';
import { createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { planCrds, type RolloutPlanObject } from '../../src/words/index.ts';
import { blocksOf, readPage } from '../conformance/docs/index.ts';
import { describePlans } from '../conformance/plans/index.ts';

/** Pages with plans in blocks of yaml. */
const PAGES = [
  'docs/how-to/approve-a-stage.md',
  'docs/how-to/limit-nodes-per-site.md',
  'docs/how-to/migrate-to-stages.md',
  'docs/how-to/order-daemonsets.md',
  'docs/how-to/stage-checks.md',
  'docs/how-to/windows-and-freezes.md',
];

describe('rollout plans and approvals, on the embedded cluster', () => {
  let client: KubeClient;
  before(async () => {
    const env = { clock: createVirtualClock(0), random: Math.random, log: silentLogger };
    client = createInProcessClient(createEmbeddedCluster({ env }).apiServer);
    for (const crd of planCrds) await client.create(customResourceDefinitions, crd);
  });
  describePlans(() => ({ client, namespace: 'default' }));

  for (const page of PAGES)
    it(`accepts the plans of ${page}`, async () => {
      const plans = blocksOf(readPage(page))
        .filter(({ language }) => language === 'yaml')
        .map(({ text }) => parse(text) as RolloutPlanObject)
        .filter(({ kind }) => kind === 'RolloutPlan' || kind === 'ClusterRolloutPlan');
      assert.ok(plans.length > 0);
      for (const plan of plans) {
        const resource = plan.kind === 'RolloutPlan' ? rolloutPlans : clusterRolloutPlans;
        const metadata = { ...plan.metadata, ...(plan.kind === 'RolloutPlan' && { namespace: 'default' }) };
        const { spec } = await client.create(resource, { ...plan, metadata }, { dryRun: true });
        // The API server adds defaults, and drops fields that it does not know.
        assert.partialDeepStrictEqual(spec, plan.spec);
      }
    });
});
