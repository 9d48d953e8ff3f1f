import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { createEmbeddedCluster, startHttpsServer } from '../../embedded/index.ts';
import { openLink } from '../../test/conformance/link.ts';
import { eventually } from '../../test/support/index.ts';
import { controllerRevisions, createClient, daemonSets, loadClusterConfig, pods } from '../kube/index.ts';
import { announcementPatch } from '../rollout/index.ts';
import { type Env, silentLogger, systemClock } from '../runtime/index.ts';
import { createAgent } from './agent.ts';
import { type DecisionStore, openDecisionStore } from './decisions/index.ts';
import { authorized, owner } from './testing/testbed.ts';

/** The link is slow: calls through it time out and are retried. */

const template = (image: string): object => ({
  metadata: { labels: { app: 'app' } },
  spec: { containers: [{ name: 'app', image }] },
});

/** The agent with real sockets and a real disk, behind a link that can fail. */
const open = async (t: TestContext) => {
  const env: Env = { clock: systemClock, random: Math.random, log: silentLogger };
  const dir = await mkdtemp(path.join(tmpdir(), 'edgeset-link-'));
  const cluster = createEmbeddedCluster({ env, delays: { startMs: 50, stopMs: 50 } });
  const { apiServer } = cluster;
  const hooks: { onDelete?: (() => void) | undefined; afterBegin?: (() => void) | undefined } = {};
  const deletes: number[] = [];
  const server = await startHttpsServer({
    apiServer,
    wallClock: systemClock,
    audit: ({ method, plural, status }) => {
      if (method !== 'DELETE' || plural !== 'pods') return;
      deletes.push(status);
      hooks.onDelete?.();
      hooks.onDelete = undefined;
    },
  });
  const link = await openLink({ host: '127.0.0.1', port: Number(new URL(server.server).port) });
  const kubeconfig = path.join(dir, 'kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig().replaceAll(new URL(server.server).host, `127.0.0.1:${link.port}`), {
    mode: 0o600,
  });
  const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), {
    env,
    userAgent: 'edgeset-agent/test',
  });
  const store = await openDecisionStore({ dir, env });
  const decisions: DecisionStore = {
    ...store,
    get damage() {
      return store.damage;
    },
    get trouble() {
      return store.trouble;
    },
    async begin(id, act) {
      const decision = await store.begin(id, act);
      hooks.afterBegin?.();
      hooks.afterBegin = undefined;
      return decision;
    },
  };
  const agent = createAgent({
    client,
    env,
    events: { event: () => undefined },
    node: 'node-1',
    stateDir: dir,
    timeZone: 'UTC',
    safe: {
      configured: false,
      last: { safe: null, message: '' },
      ask: () => Promise.resolve({ safe: true, message: '' }),
    },
    decisions,
  });
  const ended = new AbortController();
  const running = agent.run(ended.signal);
  t.after(async () => {
    ended.abort(new Error('over'));
    await running;
    await client.close();
    await store.close();
    await link.close();
    cluster.close();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  });

  cluster.addNode('node-1');
  const daemonSet = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'app', namespace: 'default', annotations: { 'apps.openyurt.io/update-strategy': 'ota' } },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'OnDelete' },
      template: template('app:v1'),
    },
  };
  apiServer.create<object>(daemonSets, daemonSet);
  const pod = (): Pod | undefined => apiServer.list<Pod>(pods, { fieldSelector: 'spec.nodeName=node-1' })[0];
  await eventually('the pod runs', () => pod()?.status?.phase === 'Running');
  apiServer.patch(
    daemonSets,
    { namespace: 'default', name: 'app' },
    { spec: { template: template('app:v2') } },
    { type: 'merge' },
  );
  const newest = (): ControllerRevision | undefined =>
    apiServer.list<ControllerRevision>(controllerRevisions).toSorted((a, b) => b.revision - a.revision)[0];
  await eventually('the revision', () => newest()?.revision === 2);
  const revision = newest()?.metadata?.labels?.['controller-revision-hash'] ?? '';
  const ref = { namespace: 'default', name: pod()?.metadata?.name ?? '' };
  const body = announcementPatch(
    { uid: pod()?.metadata?.uid ?? '', announced: undefined },
    { reason: 'NewRevision', revision },
    Date.now(),
  );
  apiServer.patch(pods, ref, body, { type: 'strategic', subresource: 'status' });
  await eventually('the update is there', () => agent.updates()[0]?.state === 'available' && agent.device().connected);
  return {
    agent,
    link,
    hooks,
    deletes,
    ref,
    image: (): string | undefined => pod()?.spec?.containers[0]?.image,
    approve: () =>
      agent.decide(
        { namespace: 'default', daemonSet: 'app' },
        revision,
        { choice: 'approve', when: { type: 'now' } },
        owner,
        authorized,
      ),
    told: () => agent.history().map(({ what }) => what),
  };
};

describe('the agent on a failing link', () => {
  for (const how of ['cut', 'reset'] as const)
    it(`carries out a decision once if the link is ${how} between the decision and the delete`, async (t) => {
      const { agent, link, hooks, deletes, approve, image } = await open(t);
      hooks.afterBegin = () => link[how]();
      await approve();
      await eventually('begun', () => hooks.afterBegin === undefined);
      if (how === 'cut') await eventually('noticed', () => !agent.device().connected);
      link.restore();
      await eventually('the new version runs', () => image() === 'app:v2', { withinMs: 90_000 });
      await eventually('it is told', () => agent.history().some(({ what }) => what === 'Deleted'));
      assert.equal(deletes.filter((status) => status === 200).length, 1);
    });

  for (const how of ['cut', 'reset'] as const)
    it(`determines that the pod was deleted if the link is ${how} before the response`, async (t) => {
      const { agent, link, hooks, deletes, approve, image, told } = await open(t);
      hooks.onDelete = () => link[how]();
      await approve();
      await eventually('deleted', () => deletes.length === 1);
      link.restore();
      await eventually('it is told', () => told().includes('Deleted'), { withinMs: 90_000 });
      await eventually('the new version runs', () => image() === 'app:v2');
      assert.deepEqual(deletes, [200]);
      assert.ok(agent.updates().length > 0);
    });

  it('carries out a decision on a link with a round trip of 3 s that loses packets, and never calls it lost', async (t) => {
    const { agent, link, ref, deletes, approve, image } = await open(t);
    link.slow({ latencyMs: 1_500, lostOneOf: 10 });
    const lost: string[] = [];
    agent.onChange(() => agent.device().connected || lost.push(agent.device().since));
    const answer = await agent.upgrade(ref, owner, { queue: false, reauthorize: authorized });
    assert.equal(answer.status, 503, 'the reads take longer than a caller waits');
    await approve();
    await eventually('the new version runs', () => image() === 'app:v2', { withinMs: 90_000 });
    assert.deepEqual(deletes, [200]);
    assert.deepEqual(lost, []);
  });
});
