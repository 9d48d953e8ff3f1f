import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { eventually } from '../../support/index.ts';
import { agentNamespace, agentRights, agentUser, mintAgentToken, startAgent } from '../agent.ts';
import { mintToken, type RealCluster, startCluster } from '../index.ts';
import { attempts, condition, eventOf, eventsPath, podPath, withARoleTooMany } from './attempts.ts';
import { type Attempt, type Caller, createCaller, type Identity, tryAll } from './caller.ts';
import { isReady, type Pod, prepareRightsFixture, type RightsFixture } from './fixture.ts';

const run = promisify(execFile);

let cluster: RealCluster;
let trial: RightsFixture;
let boundPod: string;
let identities: Record<'token' | 'certificate', Identity>;

/** A certificate by the very commands of the guide, in a shell that has kubectl and openssl. */
const issueCertificate = async (node: string): Promise<Identity> => {
  const guide = await readFile(join(import.meta.dirname, '../../../docs/how-to/agent-systemd.md'), 'utf8');
  const script = [...guide.matchAll(/^```sh issue\n(.+?)^```$/gms)].map(([, block = '']) => block).join('');
  assert.match(script, /^NODE=shop-17$/m);
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-certificate-'));
  try {
    await run('bash', ['-euo', 'pipefail', '-c', script.replace(/^NODE=.+$/m, `NODE=${node}`)], {
      cwd: dir,
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
    });
    const [cert, key] = await Promise.all(['agent.crt', 'agent.key'].map((name) => readFile(join(dir, name), 'utf8')));
    return { cert: cert ?? '', key: key ?? '' };
  } finally {
    await rm(dir, { recursive: true });
  }
};

before(async () => {
  cluster = await startCluster();
  await cluster.addNodes(['node-1', 'node-2']);
  trial = await prepareRightsFixture(cluster);
  const rights = agentRights(cluster.kubeconfig);
  await rights.install();
  await rights.bind(trial.namespace);
  const { token, pod } = await mintAgentToken(cluster.plane, 'node-1');
  boundPod = pod;
  identities = { token: { token }, certificate: await issueCertificate('node-1') };
});
after(() => cluster.stop());

const callerOf = (t: TestContext, identity: Identity): Caller => {
  const caller = createCaller(cluster.plane.access, identity);
  t.after(() => caller.close());
  return caller;
};

const revisions = async (): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(await trial.preconditions()).map(([name, { uid, resourceVersion }]) => [
      name,
      `${uid}/${resourceVersion}`,
    ]),
  );

for (const by of ['token', 'certificate'] as const) {
  test(`by its ${by} an agent is refused everything that is not its own, and nothing changes`, async (t) => {
    const { namespace, unboundNamespace, pods } = trial;
    const untouched = await revisions();
    const list = attempts(namespace, unboundNamespace, pods, await trial.preconditions());
    await tryAll(t, callerOf(t, identities[by]), list);
    assert.deepEqual(await revisions(), untouched);
  });

  test(`by its ${by} an agent reads, reports, tells, and replaces the pod that is its own`, async (t) => {
    const { namespace } = trial;
    const caller = callerOf(t, identities[by]);
    const read = await caller.call({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods?fieldSelector=spec.nodeName%3Dnode-1`,
    });
    assert.equal(read.status, 200, read.message);
    const items = read.body.items as Pod[];
    const mine = items.find(({ metadata }) => metadata.labels?.app === 'app')?.metadata.name ?? '';
    await trial.announce(mine, 'True', 'NewRevision');
    for (const body of [
      condition('PodImageReady', 'False', 'PullingImage'),
      condition('UpgradeApproved', 'False', 'Withdrawn'),
      condition('UpgradeApproved', 'True', 'OwnerApproved'),
    ]) {
      const report = await caller.call({ method: 'PATCH', path: podPath(namespace, mine, '/status'), body });
      assert.equal(report.status, 200, report.message);
    }
    const written = await caller.call({
      method: 'POST',
      path: eventsPath(namespace),
      body: eventOf(namespace, 'node-1'),
    });
    assert.equal(written.status, 201, written.message);
    const { name } = written.body.metadata as { name: string };
    const event = { method: 'PATCH', path: `${eventsPath(namespace)}/${name}`, patch: 'merge-patch' } as const;
    const series = { count: 2, lastObservedTime: '2026-11-21T17:00:00.000000Z' };
    const repeated = { series, count: 2, lastTimestamp: '2026-11-21T17:00:00Z' };
    const counted = await caller.call({ ...event, body: repeated });
    assert.equal(counted.status, 200, counted.message);
    const relabelled = await caller.call({ ...event, body: { metadata: { labels: { all: 'well' } } } });
    assert.equal(relabelled.status, 403);
    assert.match(relabelled.message, /only the series, the count and the last time may change/);
    const held = await caller.call({ ...event, body: { metadata: { finalizers: ['example.org/keep'] } } });
    assert.equal(held.status, 403);
    assert.match(held.message, /an Event has no finalizers and no ownerReferences/);
    const foreign = await cluster.plane.api.post<{ metadata: { name: string } }>(
      eventsPath(namespace),
      eventOf(namespace, 'node-2'),
    );
    const counting = { ...event, path: `${eventsPath(namespace)}/${foreign.metadata.name}`, body: { series } };
    const taken = await caller.call(counting);
    assert.equal(taken.status, 403);
    assert.match(taken.message, /reportingInstance "node-1"/);

    const path = podPath(namespace, mine);
    const fresh = (await caller.call({ method: 'GET', path })).body.metadata as {
      uid: string;
      resourceVersion: string;
    };
    const preconditions = { uid: fresh.uid, resourceVersion: fresh.resourceVersion };
    const deleted = await caller.call({ method: 'DELETE', path, body: { preconditions } });
    assert.equal(deleted.status, 200, deleted.message);
    // The next identity finds the one that takes its place. Once it is ready, nobody else writes to it.
    trial.pods.mine = await eventually(
      'the pod is replaced',
      async () => {
        const { items: now } = await cluster.plane.api.get<{ items: Pod[] }>(
          `/api/v1/namespaces/${namespace}/pods?labelSelector=app%3Dapp&fieldSelector=spec.nodeName%3Dnode-1`,
        );
        const next = now.find(({ metadata }) => metadata.name !== mine);
        return now.length === 1 && next && isReady(next) && next.metadata.name;
      },
      { everyMs: 50 },
    );
    await trial.announce(trial.pods.mine, 'True', 'NewRevision');
  });
}

test('credentials that name no node are refused every write', async (t) => {
  const { namespace, pods } = trial;
  const list: Attempt[] = [
    { method: 'DELETE', path: podPath(namespace, pods.mine) } as const,
    {
      method: 'PATCH',
      path: podPath(namespace, pods.mine, '/status'),
      body: condition('PodImageReady', 'False', 'PullingImage'),
    } as const,
    { method: 'POST', path: eventsPath(namespace), body: eventOf(namespace, 'node-1') } as const,
  ].map((call) => ({
    what: `${call.method} without a node`,
    call,
    says: /these credentials name no node\. Use the token/,
  }));
  const unbound = await mintToken(cluster.plane.api, agentNamespace, 'edgeset-agent');
  await tryAll(t, callerOf(t, { token: unbound }), list);
  await tryAll(t, callerOf(t, await issueCertificate('')), list);
});

test('a role too many gives an agent nothing on pods', async (t) => {
  const { namespace, pods } = trial;
  const name = 'careless';
  await cluster.plane.api.apply(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: agentUser }],
  });
  const caller = callerOf(t, identities.token);
  await eventually(
    'the role is known',
    async () => {
      return (await caller.call({ method: 'GET', path: '/api/v1/nodes' })).status === 200;
    },
    { everyMs: 50 },
  );
  await tryAll(t, caller, withARoleTooMany(namespace, pods));
  const older = {
    what: 'an Event by the older API',
    call: {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/events`,
      body: {
        metadata: { generateName: 'x.', namespace },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: pods.mine },
        reason: 'Lie',
        message: 'Lie.',
      },
    },
    says: /an Event of this agent is about a DaemonSet/,
  } as const;
  await tryAll(t, caller, [older]);
  await cluster.plane.api.delete(`/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/${name}`);
});

test('an agent whose service account was moved out of the policy says so at its start', async (t) => {
  const moved = await cluster.createNamespace('moved');
  const { api } = cluster.plane;
  await api.post(`/api/v1/namespaces/${moved}/serviceaccounts`, { metadata: { name: 'edgeset-agent' } });
  await api.post(`/apis/rbac.authorization.k8s.io/v1/namespaces/${trial.namespace}/rolebindings`, {
    metadata: { name: 'moved' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edgeset-agent' },
    subjects: [{ kind: 'ServiceAccount', name: 'edgeset-agent', namespace: moved }],
  });
  const args = ['--metrics-bind-address=127.0.0.1:0'];
  const options = { node: 'node-1', namespace: trial.namespace, args };
  const agent = await startAgent(cluster.plane, agentRights(cluster.kubeconfig), options, moved);
  t.after(() => agent.stop());
  await eventually(
    'its log says so at its start',
    async () => (await agent.log()).includes('no admission policy restricts this agent: it updates no pod'),
    { everyMs: 100 },
  );
  await eventually('its metrics say so', async () => {
    const [, metrics] = /"serving metrics","address":"([^"]+)"/.exec(await agent.log()) ?? [];
    return /^edgeset_agent_unrestricted 1$/m.test(await (await fetch(`http://${metrics}/metrics`)).text());
  });
});

test('the audit log marks what the policy refused', async () => {
  const lines = (await readFile(cluster.plane.auditLog, 'utf8')).split('\n');
  const marked = lines.filter((line) => line.includes('"validation.policy.admission.k8s.io/validation_failure"'));
  assert.ok(marked.some((line) => line.includes(agentUser) && line.includes('these credentials are for node')));
  assert.ok(marked.some((line) => line.includes('edgeset:agent:node-1')));
});

test('the folder installs an agent on every node, and the options beside it fit', async () => {
  const kubectl = (...args: string[]) =>
    run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, ...args], { cwd: join(import.meta.dirname, '../../..') });
  await kubectl('apply', '-k', 'deploy/agent');
  await kubectl('apply', '-f', 'deploy/agent/access/read-node.yaml');
  await kubectl('apply', '-f', 'deploy/agent/access/in-all-namespaces.yaml', '--dry-run=server');
  await eventually(
    'the agents run',
    async () => {
      const path = `/apis/apps/v1/namespaces/${agentNamespace}/daemonsets/edgeset-agent`;
      const { status } = await cluster.plane.api.get<{ status: Record<string, number> }>(path);
      return status.desiredNumberScheduled === 2 && status.numberReady === 2;
    },
    { everyMs: 100 },
  );
});

test('an agent with the flag for it shows the sizes of images and the names, by its Node, which it may not write', async (t) => {
  const { api } = cluster.plane;
  const images = [{ names: ['docker.io/library/app:v1'], sizeBytes: 48_000_000 }];
  const annotations = { 'edgeset.io/display-name': 'Shop 1', 'edgeset.io/administrator': '+49 30 1234567' };
  await api.patch('/api/v1/nodes/node-1/status', { status: { images } }, 'merge-patch');
  await api.patch('/api/v1/nodes/node-1', { metadata: { annotations } }, 'merge-patch');
  const options = { node: 'node-1', namespace: trial.namespace, args: ['--read-node'] };
  const agent = await startAgent(cluster.plane, agentRights(cluster.kubeconfig), options);
  t.after(() => agent.stop());
  const updates = async () =>
    ((await (await fetch(`${agent.url}/edgeset.io/v1/updates`)).json()) as { items: { size: object }[] }).items;
  const [{ size } = { size: {} }] = await eventually(
    'a size is shown',
    async () => {
      const shown = (await updates()).filter((update) => Object.values(update.size).some((bytes) => bytes !== null));
      return shown.length > 0 && shown;
    },
    { everyMs: 100 },
  );
  assert.deepEqual(size, { running: 48_000_000, target: null });
  const device = (await (await fetch(`${agent.url}/edgeset.io/v1/device`)).json()) as object;
  assert.partialDeepStrictEqual(device, { node: 'node-1', displayName: 'Shop 1', administrator: '+49 30 1234567' });
});

test('a token dies with the pod that it is bound to', async (t) => {
  const caller = callerOf(t, identities.token);
  const read = { method: 'GET', path: `/api/v1/namespaces/${trial.namespace}/pods` } as const;
  assert.equal((await caller.call(read)).status, 200);
  await cluster.plane.api.delete(boundPod, { gracePeriodSeconds: 0 });
  // The API server remembers for ten seconds which user a token stood for.
  const refused = await eventually(
    'the token is refused',
    async () => {
      const answer = await caller.call(read);
      return answer.status !== 200 && answer;
    },
    { everyMs: 250 },
  );
  assert.equal(refused.status, 401, refused.message);
});

test('writes of a device whose certificate was revoked are refused', async (t) => {
  const text = await readFile(join(import.meta.dirname, '../../../deploy/agent/access/revoked.yaml'), 'utf8');
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-revoked-'));
  t.after(() => rm(dir, { recursive: true }));
  const file = join(dir, 'revoked.yaml');
  await writeFile(file, text.replace('name-of-a-stolen-node', 'node-1'));
  await run('kubectl', [`--kubeconfig=${cluster.kubeconfig}`, 'apply', '-f', file]);
  const caller = callerOf(t, identities.certificate);
  const tell = { method: 'POST', path: eventsPath(trial.namespace) } as const;
  const refused = await eventually(
    'the revocation is in force',
    async () => {
      const answer = await caller.call({ ...tell, body: eventOf(trial.namespace, 'node-1') });
      return answer.status === 403 && answer;
    },
    { everyMs: 100 },
  );
  assert.match(refused.message, /the certificate of this node was revoked/);
});
