import assert from 'node:assert/strict';
import { runSuite, section } from '../conformance/kit/index.ts';
import { startCluster } from './index.ts';

const podSpec = (cpu: string) => ({
  containers: [{ name: 'app', image: 'app:v1', resources: { requests: { cpu } } }],
});

// The embedded cluster has no LimitRanges.
const limits = section(
  'A LimitRange',
  (rule) => {
    rule(
      'whose default limit is below the new request: every pod stays in service, and is recreated once the limit is higher',
      async (c) => {
        const path = `/api/v1/namespaces/${c.namespace}/limitranges`;
        const limit = (cpu: string): object => ({ spec: { limits: [{ type: 'Container', default: { cpu } }] } });
        await c.api.create(path, { metadata: { name: 'limits' }, ...limit('500m') });
        await c.rolledOut({
          podSpec: podSpec('200m'),
          rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: 2 },
        });
        const before = (await c.pods()).map(({ uid }) => uid);
        await c.change({ spec: { template: { spec: podSpec('800m') } } });
        const stalled = await c.untilCondition('Stalled');
        assert.equal(stalled.reason, 'FailedCreate');
        assert.match(stalled.message, /must be less than or equal to cpu limit/);
        await c.expectNoUpdatesFor(3);
        assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before.toSorted());
        assert.ok((await c.pods()).every(({ ready }) => ready));
        await c.api.merge(`${path}/limits`, limit('1'));
        await c.untilCondition('Complete', 'True', 120_000);
        assert.deepEqual(
          (await c.pods()).filter(({ uid }) => before.includes(uid)),
          [],
          'a limit of a running pod that the template does not state stays',
        );
      },
      { nodes: 3, budget: 2, refusals: true },
    );
  },
  { kind: 'advanced' },
);

runSuite('Limits of a namespace, on a real control plane', startCluster, limits);
