import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import {
  type ClusterConfig,
  isKubeError,
  leases,
  loadClusterConfig,
  metadataOf,
  pods,
  runLeaderElection,
} from '../../src/kube/index.ts';
import { type Clients, createClients } from '../../src/leading/index.ts';
import { silentLogger, sleep, systemClock } from '../../src/runtime/index.ts';
import { createTestAuthority, eventually, onBody, sendJson, startTestServer } from '../support/index.ts';
import { type Json, mintToken, type RealCluster, startCluster } from './index.ts';
import { installRights } from './manager.ts';

const FLOW = '/apis/flowcontrol.apiserver.k8s.io/v1';
const env = { clock: systemClock, random: Math.random, log: silentLogger };

let cluster: RealCluster;
let clients: Clients;
let config: ClusterConfig;
let namespace: string;
let token: string;
before(async () => {
  cluster = await startCluster();
  const { api } = cluster.plane;
  namespace = await cluster.createNamespace('flow');
  await installRights(api, namespace);
  const text = await readFile(join(import.meta.dirname, '../../deploy/flow-control.yaml'), 'utf8');
  for (const document of parseAllDocuments(text.replaceAll('edgeset-system', namespace))) {
    const object = document.toJS() as Json & { metadata: { name: string } };
    await api.apply(`${FLOW}/flowschemas/${object.metadata.name}`, object);
  }
  token = await mintToken(api, namespace, 'edgeset-manager');
  const admin = await loadClusterConfig({ kubeconfig: cluster.kubeconfig, env: {} });
  config = { ...admin, auth: { token: { from: 'text', text: token } } };
  clients = createClients(config, { program: 'manager', env, version: 'test' });
});
after(async () => {
  await clients.close();
  await cluster.stop();
});

/** The UID of the FlowSchema that the API server chose for a request. */
const flowSchemaOf = async (path: string): Promise<string> => {
  const { certificateAuthority: authority } = config;
  const ca = authority?.from === 'text' ? authority.text : await readFile(authority?.path ?? '', 'utf8');
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}` };
    request(new URL(path, config.server), { ca, headers }, (response) => {
      response.resume();
      resolve(String(response.headers['x-kubernetes-pf-flowschema-uid']));
    })
      .on('error', reject)
      .end();
  });
};

const leasePath = (): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/edgeset-manager`;

/** Leads with a Lease of this many seconds. */
/** A busy machine may take a second or two for a renewal. */
const LEASE_SECONDS = 6;

/** Whether a Lease that is not renewed from now on would have expired. */
const expiry = () => {
  const end = performance.now() + LEASE_SECONDS * 1_000;
  return (): boolean => performance.now() > end;
};

const lead = (seconds: number) => {
  const terms: string[] = [];
  const stop = new AbortController();
  const done = runLeaderElection(
    {
      client: clients.leaseClient,
      env,
      namespace,
      name: 'edgeset-manager',
      identity: 'one',
      leaseDurationMs: seconds * 1_000,
      renewDeadlineMs: seconds * 1_000 - 1_000,
      retryPeriodMs: 300,
      async onLeading(signal) {
        terms.push('leads');
        await sleep(systemClock, 600_000, signal).catch(() => undefined);
        terms.push('ends');
      },
    },
    stop.signal,
  );
  return {
    terms,
    end: async (): Promise<void> => {
      stop.abort(new Error('over'));
      await done;
    },
  };
};

const renewTime = async (): Promise<number> => {
  const { spec } = await clients.leaseClient.get(leases, { namespace, name: 'edgeset-manager' });
  return Date.parse(spec?.renewTime ?? '');
};

test("deploy/flow-control.yaml gives the Lease its own queue, and the rest of the manager's requests another", async () => {
  const uidOf = async (name: string): Promise<string> => {
    const { metadata, status } = await cluster.plane.api.get<{
      metadata: { uid: string };
      status?: { conditions?: { type: string; status: string }[] };
    }>(`${FLOW}/flowschemas/${name}`);
    assert.equal(status?.conditions?.find(({ type }) => type === 'Dangling')?.status, 'False', name);
    return metadata.uid;
  };
  await eventually(
    'both are in effect',
    async () => {
      const [lease, rest] = [await uidOf('edgeset-leader-election'), await uidOf('edgeset-manager')];
      assert.equal(await flowSchemaOf(leasePath()), lease);
      assert.equal(await flowSchemaOf(`/api/v1/namespaces/${namespace}/pods`), rest);
      assert.equal(await flowSchemaOf('/api/v1/nodes'), rest);
      return true;
    },
    { everyMs: 200 },
  );
});

test('1,500 calls at once do not cost the Lease, and none of them fails', async () => {
  const { terms, end } = lead(LEASE_SECONDS);
  await eventually('it leads', () => terms.length > 0);
  const expired = expiry();
  for (let round = 0; round < 3 || !expired(); round += 1) {
    const names = Array.from({ length: 1_500 }, (_, index) => `x${index}`);
    const outcomes = await Promise.allSettled(names.map((name) => clients.client.get(pods, { namespace, name })));
    const codes = outcomes.map((outcome) =>
      outcome.status === 'rejected' && isKubeError(outcome.reason) ? outcome.reason.code : 'found',
    );
    assert.deepEqual([...new Set(codes)], ['NotFound']);
  }
  const since = Date.now();
  await eventually('it is renewed', async () => (await renewTime()) > since);
  assert.deepEqual(terms, ['leads']);
  await end();
});

test('1,100 watches that end and reconnect together do not cost the Lease', async () => {
  const { terms, end } = lead(LEASE_SECONDS);
  await eventually('it leads', () => terms.length > 0);
  const expired = expiry();
  const stop = new AbortController();
  const { signal } = stop;
  const opened = Array.from({ length: 1_100 }, () => 0);
  const follow = async (index: number): Promise<void> => {
    // The API server ends all of them after two seconds, again and again.
    while (!signal.aborted) {
      const onOpen = (): void => {
        opened[index] = (opened[index] ?? 0) + 1;
      };
      const options = { namespace, labelSelector: `app=a${index}`, timeoutSeconds: 2, signal, onOpen };
      try {
        for await (const { type } of clients.client.watch(pods, options)) assert.equal(type, 'BOOKMARK');
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  };
  const over = Promise.all(opened.map((_, index) => follow(index)));
  await eventually('every watch was opened three times', () => expired() && opened.every((times) => times >= 3), {
    everyMs: 100,
  });
  const since = Date.now();
  await eventually('it is renewed', async () => (await renewTime()) > since);
  stop.abort(new Error('over'));
  await over;
  assert.deepEqual(terms, ['leads']);
  await end();
});

test('a Lease whose renewals are refused with 429 is renewed once they no longer are', async (t) => {
  const { api } = cluster.plane;
  const authority = createTestAuthority('webhook');
  const webhook = await startTestServer(
    { protocol: 'https', identity: authority.issue('webhook') },
    (asked, response) =>
      onBody(asked, (body) => {
        const { request: review } = JSON.parse(body) as { request: { uid: string } };
        const status = { code: 429, reason: 'TooManyRequests', message: 'later' };
        sendJson(response, {
          apiVersion: 'admission.k8s.io/v1',
          kind: 'AdmissionReview',
          response: { uid: review.uid, allowed: false, status },
        });
      }),
  );
  t.after(() => webhook.close());
  const { terms, end } = lead(15);
  await eventually('it leads', () => terms.length > 0);
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/later';
  await api.apply(path, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'later' },
    webhooks: [
      {
        name: 'later.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
        rules: [
          { apiGroups: ['coordination.k8s.io'], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['leases'] },
        ],
        clientConfig: {
          url: `${webhook.url.replace('127.0.0.1', 'localhost')}/`,
          caBundle: Buffer.from(authority.cert).toString('base64'),
        },
      },
    ],
  });
  t.after(() => api.delete(path).catch(() => undefined));
  await eventually('renewals are refused', () => webhook.requests.length >= 10, { everyMs: 50 });
  const last = await renewTime();
  const lease = await clients.leaseClient.get(leases, { namespace, name: 'edgeset-manager' });
  const refused = clients.leaseClient.replace(leases, lease);
  await assert.rejects(refused, { code: 'TooManyRequests', happened: 'no' });
  await clients.client.list(pods, { namespace });
  await api.delete(path);
  await eventually('it is renewed', async () => (await renewTime()) > last, { everyMs: 100 });
  assert.deepEqual(terms, ['leads']);
  await end();
});

test('lists of metadata come without the objects', async () => {
  const { api } = cluster.plane;
  await api.post(`/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: 'app', labels: { app: 'app' } },
    spec: { schedulerName: 'none', containers: [{ name: 'app', image: 'app' }] },
  });
  const { items } = await clients.client.list(metadataOf(pods), { namespace, labelSelector: 'app=app' });
  assert.equal(items[0]?.metadata?.name, 'app');
  assert.equal('spec' in (items[0] ?? {}), false);
  const one = await clients.client.get(metadataOf(pods), { namespace, name: 'app' });
  assert.deepEqual([one.kind, 'spec' in one], ['PartialObjectMetadata', false]);
});
