import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ClusterConfig } from './cluster-config.ts';
import { loadClusterConfig } from './load-cluster-config.ts';
import type { ConfigOverrides } from './overrides.ts';

const KUBECONFIG = `
current-context: one
contexts:
- {name: one, context: {cluster: one, user: ann, namespace: shop}}
clusters:
- {name: one, cluster: {server: 'https://one:6443', certificate-authority-data: Q0E=}}
- {name: two, cluster: {server: 'https://two:6443'}}
users:
- {name: ann, user: {client-certificate-data: QQ==, client-key-data: QQ==, as: root, as-groups: [admins]}}
- {name: bob, user: {token: bobs}}
`;

const setUp = async (t: TestContext, text = KUBECONFIG) => {
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-overrides-'));
  t.after(() => rm(dir, { recursive: true }));
  const kubeconfig = join(dir, 'config');
  await writeFile(kubeconfig, text);
  return (overrides: ConfigOverrides): Promise<ClusterConfig> =>
    loadClusterConfig({ kubeconfig, overrides, env: {}, home: dir });
};

const invalid = (work: Promise<unknown>, message: RegExp) => assert.rejects(work, { code: 'InvalidOption', message });

test('a cluster and a user of the kubeconfig replace those of the context', async (t) => {
  const load = await setUp(t);
  const config = await load({ cluster: 'two', user: 'bob' });
  assert.deepEqual(
    [config.server, config.namespace, config.auth],
    ['https://two:6443', 'shop', { token: { from: 'text', text: 'bobs' } }],
  );
  await invalid(load({ cluster: 'three' }), /^--cluster: "three" does not exist in .*config: give one of one, two$/);
  await invalid(load({ user: 'eve' }), /^--user: "eve" does not exist in .*: give one of ann, bob$/);
  const bare = await setUp(t, KUBECONFIG.replace('current-context: one', ''));
  assert.equal((await bare({ cluster: 'two' })).server, 'https://two:6443');
  await assert.rejects(bare({}), /current-context: is not set/);
});

test('a server keeps the credentials and the authority, unless its certificate is not checked', async (t) => {
  const load = await setUp(t);
  const other = await load({ server: 'https://10.0.0.1:6443/' });
  assert.equal(other.server, 'https://10.0.0.1:6443');
  assert.deepEqual(other.certificateAuthority, { from: 'text', text: 'CA' });
  assert.ok(other.auth.certificate);
  const insecure = await load({ insecureSkipTlsVerify: true });
  assert.deepEqual([insecure.insecureSkipTlsVerify, insecure.certificateAuthority], [true, undefined]);
  const trusted = await load({ certificateAuthority: '/ca.pem', tlsServerName: 'api' });
  assert.deepEqual([trusted.certificateAuthority, trusted.tlsServerName], [{ from: 'file', path: '/ca.pem' }, 'api']);
  await invalid(load({ server: '10.0.0.1' }), /^--server: "10\.0\.0\.1" is not a URL/);
  await invalid(load({ insecureSkipTlsVerify: true, certificateAuthority: 'x' }), /conflicts with --certificate-auth/);
});

test('a server is enough where there is no kubeconfig', async () => {
  const home = '/nonexistent';
  const load = (overrides: ConfigOverrides) => loadClusterConfig({ overrides, env: {}, home });
  const { server, namespace, auth } = await load({ server: 'http://127.0.0.1:8001', token: 't' });
  assert.deepEqual(
    [server, namespace, auth],
    ['http://127.0.0.1:8001', 'default', { token: { from: 'text', text: 't' } }],
  );
  await assert.rejects(load({ server: 'http://127.0.0.1:8001', user: 'bob' }), /no cluster is configured/);
  await assert.rejects(load({}), /no cluster is configured/);
});

test('a token replaces the credentials of the user', async (t) => {
  const load = await setUp(t);
  assert.deepEqual((await load({ token: 'mine' })).auth, { token: { from: 'text', text: 'mine' } });
});

test('a client certificate and its key replace the credentials of the user', async (t) => {
  const load = await setUp(t);
  const certificate = { cert: { from: 'file', path: '/me.crt' }, key: { from: 'file', path: '/me.key' } };
  const files = { clientCertificate: '/me.crt', clientKey: '/me.key' };
  assert.deepEqual((await load({ ...files, user: 'bob' })).auth, { certificate });
  assert.deepEqual((await load({ ...files, token: 'mine' })).auth, {
    token: { from: 'text', text: 'mine' },
    certificate,
  });
  await invalid(load({ clientCertificate: 'me.crt' }), /^--client-certificate: requires .* give --client-key FILE$/);
  await invalid(load({ clientKey: 'me.key' }), /^--client-key: requires .* give --client-certificate FILE$/);
});

test('an impersonated user replaces the one of the kubeconfig, with its groups', async (t) => {
  const load = await setUp(t);
  assert.deepEqual((await load({})).impersonate, { user: 'root', groups: ['admins'], extra: {} });
  assert.deepEqual((await load({ as: 'eve', asGroup: ['a', 'b'], asUid: '7' })).impersonate, {
    user: 'eve',
    uid: '7',
    groups: ['a', 'b'],
    extra: {},
  });
  await invalid(load({ asGroup: ['a'] }), /^--as-group: requires --as, the user to impersonate: give --as USER$/);
  await invalid(load({ asUid: '7' }), /^--as-uid: requires --as/);
});
