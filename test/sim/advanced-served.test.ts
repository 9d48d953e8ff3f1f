import { after, describe } from 'node:test';
import { advancedDaemonSetCrd, createAdvancedKind } from '../../src/advanced/index.ts';
import { createController } from '../../src/controller/index.ts';
import { createEventRecorder } from '../../src/kube/index.ts';
import { customResourceDefinitions } from '../../src/resources/index.ts';
import { daemonRolloutCrd } from '../../src/rollout/index.ts';
import { createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { createEmbeddedCluster, machineryClient } from '../../src/sim/index.ts';
import { describeServed, type HandStage } from '../conformance/advanced/index.ts';

const STEP_MS = 50;
const LIMIT_MS = 120_000;

describe('Advanced DaemonSets and their controller, on the embedded cluster', () => {
  const stopping = new AbortController();
  after(() => stopping.abort(new Error('the tests are over')));

  /** An embedded cluster of its own for each test, in virtual time, and a controller for it. */
  const open = async (): Promise<HandStage> => {
    const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const env = { clock, random: Math.random, log: silentLogger };
    const { machinery, addNode } = createEmbeddedCluster({
      env,
      delays: { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 },
    });
    const client = machineryClient(machinery);
    await client.create(customResourceDefinitions, advancedDaemonSetCrd);
    await client.create(customResourceDefinitions, daemonRolloutCrd);
    const nodes = ['node-1', 'node-2', 'node-3'];
    for (const name of nodes) addNode(name, { labels: { case: 'default' } });
    await clock.advance(2000);
    const events = createEventRecorder({
      client,
      env,
      reportingController: 'edgeset.io/manager',
      reportingInstance: 'test',
    });
    const controller = createController(createAdvancedKind(), { client, env, events, identity: 'test' });
    const { signal } = stopping;
    Promise.all([events.run(signal), controller.run(signal), controller.lead(signal)]).catch(() => undefined);
    return {
      client,
      namespace: 'default',
      nodes,
      now: () => clock.now(),
      async until(what, probe) {
        for (const end = clock.now() + LIMIT_MS; clock.now() < end; await clock.advance(STEP_MS)) {
          const found = await probe();
          if (found !== undefined) return found;
        }
        throw new Error(`waited ${LIMIT_MS} ms in vain until ${what}`);
      },
    };
  };

  describeServed(open);
});
