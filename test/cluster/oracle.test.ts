import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { play } from '../sim/oracle/play.ts';
import { realStages } from '../sim/oracle/real-stage.ts';
import { recorded } from '../sim/oracle/recorded.ts';
import { situations } from '../sim/oracle/situations.ts';
import type { OpenStage } from '../sim/oracle/stage.ts';
import { type RealCluster, startCluster } from './index.ts';

let cluster: RealCluster;
let open: OpenStage;
before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['anchor'], {
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  });
  open = realStages(cluster);
});
after(() => cluster?.stop());

describe('the real DaemonSet controller still does as was recorded', { concurrency: 6 }, () => {
  for (const situation of situations)
    it(situation.name, { timeout: 120_000 }, async () => {
      assert.deepEqual(await play(open, situation), recorded[situation.name]);
    });
});
