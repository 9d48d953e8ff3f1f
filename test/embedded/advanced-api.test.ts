import { before, describe } from 'node:test';
import { createEmbeddedCluster, createInProcessClient } from '../../embedded/index.ts';
import { advancedDaemonSetCrd } from '../../src/kinds/advanced/index.ts';
import { customResourceDefinitions, type KubeClient } from '../../src/kube/index.ts';
import { createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { describeAdvancedApi, describeTemplates } from '../conformance/advanced/index.ts';
import { describeReference } from '../conformance/docs/index.ts';

describe('the API of Advanced DaemonSets, on the embedded cluster', () => {
  let client: KubeClient;
  before(async () => {
    const env = { clock: createVirtualClock(0), random: Math.random, log: silentLogger };
    client = createInProcessClient(createEmbeddedCluster({ env }).apiServer);
    await client.create(customResourceDefinitions, advancedDaemonSetCrd);
  });
  describeAdvancedApi(() => ({ client, namespace: 'default' }));
  describeReference(() => ({ client, namespace: 'default' }));
});

describe('pod template validation on the embedded cluster', () => {
  const clock = createVirtualClock(0);
  const client = createInProcessClient(
    createEmbeddedCluster({ env: { clock, random: Math.random, log: silentLogger } }).apiServer,
  );
  describeTemplates(() => ({
    client,
    namespace: 'default',
    async until(what, probe) {
      for (let tries = 0; tries < 100; tries += 1) {
        const found = await probe();
        if (found !== undefined) return found;
        clock.run(100);
      }
      throw new Error(`timed out waiting until ${what}`);
    },
  }));
});
