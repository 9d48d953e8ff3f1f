import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedCluster, type HttpsServer, startHttpsServer } from '../../embedded/index.ts';
import { run as edgeset } from '../../src/cli/testing/index.ts';
import { createClient, loadClusterConfig, nodes } from '../../src/kube/index.ts';
import { createLogger, systemClock } from '../../src/runtime/index.ts';
import { noAgentRights, startAgent } from '../cluster/agent.ts';
import { type Api, createApi, orMissing } from '../cluster/api.ts';
import { startManager } from '../cluster/manager.ts';
import { isReady } from '../cluster/nodes.ts';
import { createProcesses } from '../cluster/processes.ts';
import type { Cluster, NodeSpec } from '../conformance/index.ts';
import { openLink } from '../conformance/index.ts';
import { eventually } from '../support/index.ts';
import { createAudit } from './audit.ts';
import { nodeAnnotations } from './node-annotations.ts';

/** As on the tests' real control plane. */
const GRACE_MS = 5000;
const DELAYS = { startMs: 300, stopMs: 200, dieMs: 1500, backOffMs: 1000 };

type Node = Parameters<typeof isReady>[0];

export interface EmbeddedOptions {
  /** A node is unreachable after this many milliseconds of silence; its lease is renewed three times as often. Default 5,000. */
  graceMs?: number;
}

/** The embedded cluster behind the `Cluster` interface: in this process, in real time, over HTTPS. */
export const startEmbeddedCluster = async ({
  graceMs = GRACE_MS,
}: EmbeddedOptions = {}): Promise<Cluster & { readonly api: Api }> => {
  const log = createLogger({
    write: (line) => void process.stderr.write(`${line}\n`),
    now: Date.now,
    level: process.env.EDGESET_TEST_LOG === undefined ? 'error' : 'debug',
  });
  const env = { clock: systemClock, random: Math.random, log };
  const { apiServer, controllers, addNode, close } = createEmbeddedCluster({ env, graceMs, delays: DELAYS });
  const audit = createAudit(apiServer, () => systemClock.now());
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-embedded-'));
  const processes = createProcesses(dir);
  let server: HttpsServer = await startHttpsServer({ apiServer, wallClock: systemClock, audit: audit.hear });
  const port = Number(new URL(server.server).port);
  const access = { server: server.server, ca: server.certificateAuthority, token: server.token };
  const api = createApi(access);
  const kubeconfig = join(dir, 'admin.kubeconfig');
  await writeFile(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  const client = createClient(await loadClusterConfig({ kubeconfig, env: {} }), {
    env,
    userAgent: 'edgeset-test',
    qps: 0,
  });

  const place = { api, access, dir, processes };
  const rights = noAgentRights(place);

  /** Asked in this process: as JSON, a list of 20,000 nodes takes longer than they take to become ready. */
  const whenAll = (what: string, names: readonly string[], test: (node: Node) => boolean): Promise<boolean> =>
    eventually(what, () => names.every((name) => test(apiServer.get<Node>(nodes, { name }))), { everyMs: 50 });
  const annotate = async (names: readonly string[], annotations: Record<string, string | null>): Promise<void> => {
    await Promise.all(names.map((name) => api.patch(`/api/v1/nodes/${name}`, { metadata: { annotations } })));
  };
  const isTainted = ({ spec }: Node): boolean => spec.taints?.some(({ key }) => key.endsWith('/not-ready')) ?? false;

  return {
    api,
    kubeconfig,
    // In this process: a start takes as long as most of what it is asked to do.
    plugin: {
      folder: () => Promise.resolve(join(import.meta.dirname, '..', '..', 'bin')),
      run: (args) => edgeset(args, {}, 'kubectl edgeset'),
    },
    client,
    audit,
    async createNamespace(prefix) {
      const name = `${prefix}-${randomBytes(3).toString('hex')}`;
      await api.post('/api/v1/namespaces', { metadata: { name } });
      return name;
    },
    dropNamespace: async (name) => void (await orMissing(api.delete(`/api/v1/namespaces/${name}`))),
    async addNodes(names, { labels, taints, zone, annotations }: NodeSpec = {}) {
      for (const name of names)
        addNode(name, {
          labels: { ...(zone !== undefined && { 'topology.kubernetes.io/zone': zone }), ...labels },
          ...(taints && { taints }),
          ...(annotations && { annotations }),
        });
      await whenAll(`nodes are ready: ${names.join(', ')}`, names, (node) => isReady(node) && !isTainted(node));
    },
    async removeNodes(names) {
      await Promise.all(names.map((name) => orMissing(api.delete(`/api/v1/nodes/${name}`))));
    },
    async offline(names) {
      await annotate(names, { 'edgeset.io/sim': 'offline' });
      await whenAll(`nodes are not ready: ${names.join(', ')}`, names, (node) => !isReady(node));
    },
    async online(names) {
      await annotate(names, { 'edgeset.io/sim': null });
      await whenAll(`nodes are ready: ${names.join(', ')}`, names, isReady);
    },
    async behave(names, behaviour) {
      await annotate(names, nodeAnnotations(behaviour));
    },
    nativeController: controllers.daemonSets,
    scheduler: controllers.scheduler,
    async restartApiServer() {
      const { certificate, token } = server;
      await server.stop();
      server = await startHttpsServer({
        apiServer,
        wallClock: systemClock,
        audit: audit.hear,
        port,
        certificate,
        token,
      });
    },
    link: () => openLink({ host: '127.0.0.1', port }),
    startManager: (options) => startManager(place, options),
    startAgent: (options) => startAgent(place, rights, options),
    async stop() {
      await client.close();
      await api.close();
      await processes.close();
      close();
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
};
