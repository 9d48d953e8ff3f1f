import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { createApiServer, createInProcessClient } from '../../embedded/index.ts';
import { namespaces, pods, serviceAccounts } from '../kube/index.ts';
import { createVirtualClock, silentLogger } from '../runtime/index.ts';
import { createImageAgents } from './image-agents.ts';

const account = { namespace: 'edgeset-agent', name: 'edgeset-agent' };

const createSetup = (t: TestContext) => {
  const clock = createVirtualClock(1_800_000_000_000);
  const apiServer = createApiServer({ clock, random: () => 0.5 });
  for (const namespace of ['edgeset-agent', 'tenant']) {
    apiServer.create<object>(namespaces, { metadata: { name: namespace } });
    for (const name of ['edgeset-agent', 'other'])
      apiServer.create<object>(serviceAccounts, { metadata: { name, namespace } });
  }
  const client = createInProcessClient(apiServer);
  const agents = createImageAgents({ client, env: { clock, random: () => 0.5, log: silentLogger }, account });
  const stop = new AbortController();
  const running = agents.run(stop.signal);
  t.after(async () => {
    stop.abort();
    await running;
  });
  return {
    clock,
    agents,
    /** A ready pod with the agents' label. */
    add(this: void, namespace: string, serviceAccountName: string, nodeName: string): void {
      const metadata = { name: `agent-${nodeName}`, namespace, labels: { 'edgeset.io/image-agent': 'true' } };
      const spec = { nodeName, serviceAccountName, containers: [{ name: 'agent', image: 'agent:v1' }] };
      apiServer.create<object>(pods, { metadata, spec });
      const conditions = [{ type: 'Ready', status: 'True' }];
      const options = { type: 'strategic', subresource: 'status' } as const;
      apiServer.patch<object>(pods, { namespace, name: metadata.name }, { status: { conditions } }, options);
    },
  };
};

describe('the agents that pull images', () => {
  it('are pods of their namespace and account, and of nobody else', async (t) => {
    const { clock, agents, add } = createSetup(t);
    add('edgeset-agent', 'edgeset-agent', 'n1');
    add('tenant', 'edgeset-agent', 'n2');
    add('edgeset-agent', 'other', 'n3');
    await clock.advance(100);
    assert.equal(agents.isSettled(), true);
    assert.deepEqual(
      ['n1', 'n2', 'n3'].filter((node) => agents.has(node)),
      ['n1'],
    );
  });
});
