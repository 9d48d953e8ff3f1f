import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createTestAuthority, eventually, startTestServer, type TestServer } from '../support/index.ts';
import { autoDaemonSet } from './auto-daemon-set.ts';
import { type RealCluster, startCluster } from './index.ts';

/** More than the workers of a controller. */
const HOSTILE = 30;

let cluster: RealCluster;
let webhook: TestServer;
before(async () => {
  const authority = createTestAuthority('webhook');
  // It takes every question and answers none: the API server waits for as long as the configuration says.
  webhook = await startTestServer({ protocol: 'https', identity: authority.issue('webhook') }, () => undefined);
  cluster = await startCluster();
  await cluster.plane.api.apply('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hangs', {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'hangs' },
    webhooks: [
      {
        name: 'hangs.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        failurePolicy: 'Fail',
        timeoutSeconds: 30,
        namespaceSelector: { matchLabels: { hostile: 'true' } },
        rules: [
          {
            // Not pods: the native DaemonSet controller's two workers would hang, too.
            apiGroups: ['edgeset.io', '', 'events.k8s.io'],
            apiVersions: ['*'],
            operations: ['CREATE', 'UPDATE', 'DELETE'],
            resources: ['daemonrollouts', 'daemonrollouts/status', 'events'],
          },
        ],
        clientConfig: {
          url: `${webhook.url.replace('127.0.0.1', 'localhost')}/`,
          caBundle: Buffer.from(authority.cert).toString('base64'),
        },
      },
    ],
  });
});
after(async () => {
  await webhook.close();
  await cluster.stop();
});

test('a webhook that hangs in one namespace delays no rollout in another', async () => {
  const { api } = cluster.plane;
  await cluster.addNodes(['n1', 'n2']);
  const [hostile, good] = [await cluster.createNamespace('hostile'), await cluster.createNamespace('good')];
  const path = (namespace: string, name: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets/${name}`;
  const names = Array.from({ length: HOSTILE }, (_, index) => `hostile-${index}`);
  for (const name of names) await api.apply(path(hostile, name), autoDaemonSet(name, 'app:v1'));
  await api.apply(path(good, 'app'), autoDaemonSet('app', 'app:v1'));
  const created = async (): Promise<boolean> => {
    const { items } = await api.get<{ items: { status?: { numberAvailable?: number } }[] }>('/apis/apps/v1/daemonsets');
    return items.every(({ status }) => status?.numberAvailable === 2);
  };
  await eventually('all pods are available', created, { everyMs: 200 });
  await api.apply(`/api/v1/namespaces/${hostile}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: hostile, labels: { hostile: 'true' } },
  });
  const manager = await cluster.startManager({ namespace: good, args: ['--leader-elect=false'] });
  const isComplete = async (): Promise<boolean> => {
    const { metadata, status } = await api.get<{
      metadata: { generation: number };
      status?: { observedGeneration?: number; updatedNumberScheduled?: number; numberAvailable?: number };
    }>(path(good, 'app'));
    return (
      status?.observedGeneration === metadata.generation &&
      status.updatedNumberScheduled === 2 &&
      status.numberAvailable === 2
    );
  };
  await eventually('writes to the hostile namespace hang', () => webhook.requests.length >= 4, {
    everyMs: 50,
  }).catch(async (cause) => {
    throw new Error(await manager.log(), { cause });
  });
  for (const image of ['app:v2', 'app:v3']) {
    await api.apply(path(good, 'app'), autoDaemonSet('app', image));
    await eventually(`${image} is rolled out`, isComplete, { everyMs: 100 }).catch(async (cause) => {
      throw new Error(await manager.log(), { cause });
    });
  }
  await eventually('its Events are written', async () => {
    const { items } = await api.get<{ items: { reason: string }[] }>(`/api/v1/namespaces/${good}/events`);
    return items.some(({ reason }) => reason === 'RolloutCompleted');
  });
  assert.equal((await fetch(`${manager.probes}/readyz`)).status, 200);
  await manager.stop();
});
