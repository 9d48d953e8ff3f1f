import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openEmbeddedCluster } from './oracle/embedded-cluster.ts';
import { runScenario } from './oracle/scenario.ts';
import { recorded, scenarios } from './oracle/scenarios.ts';

describe('the embedded DaemonSet controller matches the recorded real one', () => {
  for (const scenario of scenarios)
    it(scenario.name, async () => {
      assert.deepEqual(await runScenario(openEmbeddedCluster, scenario), recorded[scenario.name]);
    });
});
