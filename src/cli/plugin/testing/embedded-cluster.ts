import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before } from 'node:test';
import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import {
  type AuditEvent,
  createEmbeddedCluster,
  createInProcessClient,
  type HttpsServer,
  startHttpsServer,
} from '../../../../embedded/index.ts';
import { daemonRollouts } from '../../../controller/index.ts';
import { controllerRevisions, customResourceDefinitions, daemonSets } from '../../../kube/index.ts';
import { createVirtualClock, silentLogger, systemClock } from '../../../runtime/index.ts';
import { type DaemonRolloutStatus, daemonRolloutCrd, planCrds } from '../../../words/index.ts';
import { type Ran, run } from '../../testing/index.ts';

const HOUR_MS = 3_600_000;
const namespace = 'default';

/** An embedded cluster of two nodes, without a manager. Its clock starts three hours ago and only moves on `settle`. */
export const createEmbeddedTestCluster = (random: () => number) => {
  const clock = createVirtualClock(systemClock.now() - 3 * HOUR_MS);
  const cluster = createEmbeddedCluster({ env: { clock, random, log: silentLogger } });
  const client = createInProcessClient(cluster.apiServer);
  const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-undo-'));
  let server: HttpsServer;
  before(async () => {
    for (const crd of [daemonRolloutCrd, ...planCrds]) await client.create(customResourceDefinitions, crd);
    for (const name of ['node-1', 'node-2']) cluster.addNode(name);
    server = await startHttpsServer({
      apiServer: cluster.apiServer,
      wallClock: systemClock,
      audit: (call) => world.onRequest(call),
    });
    writeFileSync(path.join(dir, 'config'), server.kubeconfig());
  });
  after(async () => {
    cluster.close();
    await server.stop();
    rmSync(dir, { recursive: true });
  });
  /** Lets the controllers and kubelets finish their work. */
  const settle = (): void => clock.run(10_000);
  const get = (name: string): Promise<DaemonSet> => client.get(daemonSets, { namespace, name });

  const world = {
    /** Called for each request to the API server, before its response. */
    onRequest: (_call: AuditEvent): void => {},
    cluster,
    client,
    settle,
    get,
    image: async (name: string): Promise<string | undefined> =>
      (await get(name)).spec?.template.spec?.containers[0]?.image,
    /** A DaemonSet that has had these images, one after the other; it opted in, and all its pods run the first. */
    create: async (
      name: string,
      images: readonly string[],
      metadata: ObjectMeta = {},
      type = 'OnDelete',
    ): Promise<void> => {
      const [image = '', ...later] = images;
      const annotations = { 'apps.openyurt.io/update-strategy': 'auto', ...metadata.annotations };
      await client.create(daemonSets, {
        metadata: { ...metadata, name, namespace, annotations },
        spec: {
          selector: { matchLabels: { app: name } },
          updateStrategy: { type },
          template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } },
        },
      });
      settle();
      for (const next of later) await world.change(name, { spec: world.withImage(next) });
    },
    withImage: (image: string) => ({ template: { spec: { containers: [{ name: 'app', image }] } } }),
    async change(name: string, patch: object, type: 'strategic' | 'merge' = 'strategic'): Promise<void> {
      await client.patch(daemonSets, { namespace, name }, patch, { type });
      settle();
    },
    /** By number. */
    async revisions(name: string): Promise<ControllerRevision[]> {
      const { items } = await client.list(controllerRevisions, { namespace, labelSelector: `app=${name}` });
      return items.toSorted((a, b) => a.revision - b.revision);
    },
    /** What a manager says of the rollout; revisions are given by their number. */
    async status(name: string, status: DaemonRolloutStatus, target: number, lastComplete?: number): Promise<void> {
      const { metadata } = await get(name);
      const revisions = await world.revisions(name);
      const find = (number: number) => {
        const found = revisions.find(({ revision }) => revision === number);
        assert.ok(found, `there is revision ${number}`);
        const hash = found.metadata?.labels?.['controller-revision-hash'] ?? '';
        return { revision: found.metadata?.name ?? '', hash, number };
      };
      const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name, uid: metadata?.uid ?? '', controller: true };
      const made = await client.create(daemonRollouts, {
        apiVersion: 'edgeset.io/v1alpha1',
        kind: 'DaemonRollout',
        metadata: { name, namespace, ownerReferences: [owner] },
      });
      const { number: _, ...complete } = find(lastComplete ?? target);
      const whole = {
        daemonSetGeneration: metadata?.generation ?? 0,
        target: find(target),
        ...(lastComplete !== undefined && { lastComplete: complete }),
        ...status,
      };
      await client.replace(daemonRollouts, { ...made, status: whole }, { subresource: 'status' });
    },
    /** Runs `kubectl edgeset`. */
    run: (...args: string[]): Promise<Ran> =>
      run(args, { environment: { KUBECONFIG: path.join(dir, 'config') }, random }, 'kubectl edgeset'),
  };
  return world;
};
