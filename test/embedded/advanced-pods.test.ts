import { describe } from 'node:test';
import { createEmbeddedCluster, createInProcessClient } from '../../embedded/index.ts';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { customResourceDefinitions } from '../../src/kube/index.ts';
import { createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { describeInPlace, describeOwners, type PodTestContext } from '../conformance/advanced/index.ts';

const STEP_MS = 50;
const LIMIT_MS = 120_000;

/** A new embedded cluster in virtual time for each test. */
const open = async (): Promise<PodTestContext> => {
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const { apiServer, addNode } = createEmbeddedCluster({
    env: { clock, random: Math.random, log: silentLogger },
    delays: { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 },
  });
  const client = createInProcessClient(apiServer);
  await client.create(customResourceDefinitions, advancedDaemonSetCrd);
  const nodes = ['node-1', 'node-2'];
  for (const name of nodes) addNode(name, { labels: { case: 'default' } });
  clock.run(2000);
  return {
    client,
    namespace: 'default',
    nodes,
    now: () => clock.now(),
    async until(what, probe) {
      for (const end = clock.now() + LIMIT_MS; clock.now() < end; clock.run(STEP_MS)) {
        const found = await probe();
        if (found !== undefined) return found;
      }
      throw new Error(`timed out after ${LIMIT_MS} ms waiting until ${what}`);
    },
  };
};

describe('Advanced DaemonSets without a manager, on the embedded cluster', () => {
  describeInPlace(open);
  describeOwners(open);
});
