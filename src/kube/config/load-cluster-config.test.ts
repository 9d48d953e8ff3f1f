import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ConfigError } from './cluster-config.ts';
import { type LoadOptions, loadClusterConfig } from './load-cluster-config.ts';

const fileOf = (name: string, extra: { cluster?: string; user?: string; context?: string } = {}): string => `
apiVersion: v1
kind: Config
current-context: ${name}
clusters:
- name: ${name}
  cluster:
    server: https://${name}:6443/
    ${extra.cluster ?? ''}
users:
- name: ${name}
  user:
    ${extra.user ?? 'token: t0ken'}
contexts:
- name: ${name}
  context: {cluster: ${name}, user: ${name}${extra.context ?? ''}}
`;

const setUp = async (t: TestContext) => {
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-config-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const write = async (name: string, text: string): Promise<string> => {
    const file = join(dir, name);
    await mkdir(join(file, '..'), { recursive: true });
    await writeFile(file, text);
    return file;
  };
  const load = (options: LoadOptions = {}) =>
    loadClusterConfig({ env: {}, home: join(dir, 'home'), serviceAccountDir: join(dir, 'sa'), ...options });
  return { dir, write, load };
};

const refused = async (work: Promise<unknown>, ...parts: RegExp[]): Promise<void> => {
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    for (const part of parts) assert.match(error.message, part);
    assert.doesNotMatch(error.message, /s3cret/);
    return true;
  });
};

test('finds the cluster for a user without a home directory', { skip: process.getuid?.() !== 0 }, async (t) => {
  const { write } = await setUp(t);
  const file = await write('given', fileOf('given'));
  await chmod(join(file, '..'), 0o755);
  const [load, parse] = ['load-cluster-config.ts', 'kubeconfig.ts'].map((name) => join(import.meta.dirname, name));
  // As a container's user that is a mere number: homedir() throws. Such a one cannot read every checkout.
  const script = `
    const { loadClusterConfig } = await import('${load}');
    await import('${parse}');
    process.setuid(64_999);
    console.log((await loadClusterConfig({ env: {}, kubeconfig: '${file}' })).server);`;
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8', env: {} });
  assert.equal(child.stdout.trim(), 'https://given:6443', child.stderr);
});

test('the flag takes precedence over KUBECONFIG, the pod, and the home directory, in this order', async (t) => {
  const { dir, write, load } = await setUp(t);
  const pod = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  await refused(load(), /--kubeconfig.*KUBECONFIG.*pod.*\.kube\/config/);
  await write('home/.kube/config', fileOf('home'));
  assert.equal((await load()).server, 'https://home:6443');
  await write('sa/token', 'x');
  await write('sa/ca.crt', 'CA');
  await write('sa/namespace', 'edge\n');
  assert.deepEqual(await load({ env: pod }), {
    server: 'https://[fd00::1]:443',
    namespace: 'edge',
    source: 'in-cluster',
    insecureSkipTlsVerify: false,
    auth: { token: { from: 'file', path: join(dir, 'sa/token') } },
    certificateAuthority: { from: 'file', path: join(dir, 'sa/ca.crt') },
  });
  const listed = { ...pod, KUBECONFIG: await write('env', fileOf('env')) };
  assert.equal((await load({ env: listed })).context, 'env');
  const flag = await write('flag', fileOf('flag'));
  assert.equal((await load({ env: listed, kubeconfig: flag })).context, 'flag');
  await assert.rejects(load({ env: listed, kubeconfig: join(dir, 'none') }), {
    code: 'InvalidOption',
    message: `--kubeconfig: "${join(dir, 'none')}" does not exist: give the path of a file, or leave the flag out`,
  });
  await refused(load({ env: { KUBECONFIG: join(dir, 'none') } }), /KUBECONFIG: none of its files exist:/);
});

test('merges files as kubectl does: the first that names something wins, missing files are ignored', async (t) => {
  const { dir, write, load } = await setUp(t);
  const first = await write(
    'one/config',
    fileOf('a', { cluster: 'certificate-authority: ca.pem', context: ', namespace: n1' }),
  );
  const second = await write(
    'two/config',
    fileOf('b', { user: 'tokenFile: ../token' }).replace(
      'clusters:',
      'clusters:\n- {name: a, cluster: {server: "https://late:1"}}',
    ),
  );
  const env = { KUBECONFIG: [join(dir, 'none'), first, second].join(':') };
  const a = await load({ env });
  assert.deepEqual([a.server, a.namespace, a.source], ['https://a:6443', 'n1', first]);
  assert.deepEqual(a.certificateAuthority, { from: 'file', path: join(dir, 'one/ca.pem') });
  const b = await load({ env, context: 'b' });
  assert.deepEqual(b.auth, { token: { from: 'file', path: join(dir, 'token') } });
  assert.equal(b.namespace, 'default');
});

test('supports every kind of user credential', async (t) => {
  const { dir, write, load } = await setUp(t);
  const authOf = async (user: string) => (await load({ kubeconfig: await write('c', fileOf('a', { user })) })).auth;
  const text = (value: string) => ({ from: 'text', text: value });
  assert.deepEqual(await authOf('{username: u, password: p}'), { basic: { username: 'u', password: 'p' } });
  assert.deepEqual(await authOf(`{client-certificate-data: ${btoa('C')}, client-key: k.pem}`), {
    certificate: { cert: text('C'), key: { from: 'file', path: join(dir, 'k.pem') } },
  });
  assert.deepEqual(await authOf('{token: x, tokenFile: /t}'), { token: { from: 'file', path: '/t' } });
  assert.deepEqual(
    await authOf(
      '{exec: {apiVersion: client.authentication.k8s.io/v1, command: ./get, args: [a], env: [{name: N, value: v}], interactiveMode: Never, provideClusterInfo: true}}',
    ),
    {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: join(dir, 'get'),
        args: ['a'],
        env: [{ name: 'N', value: 'v' }],
        provideClusterInfo: true,
        interactiveMode: 'Never',
      },
    },
  );
  const as = await load({
    kubeconfig: await write(
      'c',
      fileOf('a', { user: '{as: bob, as-groups: [g], as-uid: "1", as-user-extra: {s: [v]}}' }),
    ),
  });
  assert.deepEqual(as.impersonate, { user: 'bob', groups: ['g'], uid: '1', extra: { s: ['v'] } });
  const tls = await load({
    kubeconfig: await write(
      'c',
      fileOf('a', {
        cluster: '{server: "http://h:1/base/", tls-server-name: n, proxy-url: "socks5://p:1080"}'
          .slice(1, -1)
          .replaceAll(', ', '\n    ')
          .replace('server: "http://h:1/base/"\n    ', ''),
      }),
    ),
  });
  assert.deepEqual([tls.tlsServerName, tls.proxyUrl], ['n', 'socks5://p:1080']);
});

test('names an invalid field with its file and what to do, and no secret', async (t) => {
  const { write, load } = await setUp(t);
  const bad = async (text: string, ...parts: RegExp[]): Promise<void> =>
    refused(load({ kubeconfig: await write('bad', text) }), /\/bad: /, ...parts);
  const user = (text: string, ...parts: RegExp[]): Promise<void> => bad(fileOf('a', { user: text }), ...parts);
  await bad('a: [', /is not valid YAML \(line \d+\)/);
  await bad('token: "s3cret\nx: [', /is not valid YAML/);
  await bad('clusters: 3', /clusters: .*array/);
  await bad('{}', /current-context: is not set.*--context/);
  await bad('current-context: x', /contexts: "x" does not exist; found: none/);
  await bad(fileOf('a').replace('cluster: a,', 'cluster: z,'), /contexts\[0\]\.context\.cluster: names "z".*found: a/);
  await bad(
    fileOf('a').replace('https://a:6443/', 'a:6443'),
    /clusters\[0\]\.cluster\.server: must be a URL such as https:/,
  );
  await bad(fileOf('a', { cluster: 'proxy-url: ftp://x' }), /proxy-url: must be a URL such as http:/);
  await bad(
    fileOf('a', { cluster: 'insecure-skip-tls-verify: true\n    certificate-authority: x' }),
    /insecure-skip-tls-verify: conflicts with.*remove one/,
  );
  await user(
    '{auth-provider: {name: gcp, config: {access-token: s3cret}}}',
    /users\[0\]\.user\.auth-provider: was removed.*exec/,
  );
  await user('{client-certificate: c, token: s3cret}', /client-key: is required.*client-key-data/);
  await user('{client-key: c}', /client-certificate: is required/);
  await user('{token: [s3cret]}', /users\[0\]\.user\.token: .*string/);
  await user('{password: s3cret}', /username: is required/);
  await user('{as-groups: [g]}', /as-groups: requires "as"/);
  await user(
    '{client-certificate-data: "%s3cret", client-key: k}',
    /client-certificate-data: must be a base64-encoded/,
  );
  await user(
    '{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}}',
    /exec\.apiVersion: must be .*v1beta1/,
  );
  await user(
    '{exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Sometimes}}',
    /interactiveMode: must be Never/,
  );
});

test('ignores an invalid entry of another context, and accepts empty lists', async (t) => {
  const { write, load } = await setUp(t);
  const file = await write(
    'c',
    `${fileOf('a').replace('users:', 'users:\n- {name: other, user: {token: [1]}}')}\npreferences: {}\nextensions: null`,
  );
  assert.equal((await load({ kubeconfig: file })).context, 'a');
});

test('takes the proxy from the environment unless the kubeconfig has one', async (t) => {
  const { write, load } = await setUp(t);
  const env = { HTTPS_PROXY: 'http://env:3128' };
  assert.equal((await load({ kubeconfig: await write('c', fileOf('a')), env })).proxyUrl, 'http://env:3128');
  const own = await write('c', fileOf('a', { cluster: 'proxy-url: http://own:1' }));
  assert.equal((await load({ kubeconfig: own, env })).proxyUrl, 'http://own:1');
});
