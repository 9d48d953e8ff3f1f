import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { OpenCluster } from '../embedded/oracle/cluster.ts';
import { openOnRealCluster } from '../embedded/oracle/real-cluster.ts';
import { runScenario } from '../embedded/oracle/scenario.ts';
import { recorded, scenarios } from '../embedded/oracle/scenarios.ts';
import { type RealCluster, startCluster } from './index.ts';

let cluster: RealCluster;
let open: OpenCluster;
before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['anchor'], {
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  });
  open = openOnRealCluster(cluster);
});
after(() => cluster?.stop());

describe('the real DaemonSet controller still matches its recording', { concurrency: 6 }, () => {
  for (const scenario of scenarios)
    it(scenario.name, { timeout: 120_000 }, async () => {
      assert.deepEqual(await runScenario(open, scenario), recorded[scenario.name]);
    });
});
