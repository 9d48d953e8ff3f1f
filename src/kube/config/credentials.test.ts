import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  createTestAuthority,
  createTestClock,
  eventually,
  type Request,
  type Response,
  sendJson,
  startTestServer,
} from '../../../test/support/index.ts';
import { type CertificateAuthority, nextTurn } from '../../runtime/index.ts';
import { createTestClient, testEnv, testIdentity, testPods } from '../testing/index.ts';
import { type Auth, type ClusterConfig, ConfigError, type ExecPlugin } from './cluster-config.ts';
import { createCredentials } from './credentials.ts';
import { runExecPlugin } from './exec-plugin.ts';

const cluster = { server: 'https://c:6443', certificateAuthority: 'CA', insecureSkipTlsVerify: false };
const setUp = async (t: TestContext) => {
  const dir = await mkdtemp(join(tmpdir(), 'edgeset-credentials-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  const runs = async (): Promise<string[]> =>
    (await readFile(join(dir, 'runs'), 'utf8').catch(() => '')).split('\n').filter(Boolean);
  /** A plugin that notes each run's environment and then does what the script says. */
  const plugin = async (script: string, extra: Partial<ExecPlugin> = {}): Promise<ExecPlugin> => {
    const command = join(dir, 'plugin');
    await writeFile(command, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO|$EXTRA|$#|$1" >> ${dir}/runs\n${script}\n`);
    await chmod(command, 0o755);
    const apiVersion = 'client.authentication.k8s.io/v1';
    return { apiVersion, command, args: [], env: [], provideClusterInfo: false, interactiveMode: 'Never', ...extra };
  };
  return { dir, runs, plugin };
};
const print = (status: object, apiVersion = 'client.authentication.k8s.io/v1'): string =>
  `cat <<'END'\n${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}\nEND`;
const environment = { PATH: process.env.PATH };
const make = (auth: Auth, clock = createTestClock(), reload: () => Auth | undefined = () => undefined) => ({
  clock,
  credentials: createCredentials(testEnv(clock), auth, {
    cluster: () => Promise.resolve(cluster),
    environment,
    terminal: false,
    readFile: (path) => readFile(path, 'utf8'),
    reload: async () => reload(),
  }),
});

test('rereads a token file after ten seconds, and at once after a refusal', async (t) => {
  const { dir } = await setUp(t);
  const path = join(dir, 'token');
  await writeFile(path, 'one\n');
  const { clock, credentials } = make({ token: { from: 'file', path } });
  const first = await credentials.get();
  assert.equal(first.authorization, 'Bearer one');
  await writeFile(path, 'two');
  assert.equal(await credentials.get(), first);
  await clock.advance(10_001);
  const second = await credentials.get();
  assert.equal(second.authorization, 'Bearer two');
  assert.equal(await credentials.renew(second), false, 'nothing new: no use in trying again');
  await writeFile(path, 'three');
  assert.equal(await credentials.renew(second), true);
  assert.equal(await credentials.renew(second), true, 'another call was faster');
  await rm(path);
  await clock.advance(10_001);
  assert.equal(
    (await credentials.get()).authorization,
    'Bearer three',
    'while the file is being replaced the old token serves',
  );
});

test('takes the credentials of the next login after a refusal', async () => {
  const token = (text: string): Auth => ({ token: { from: 'text', text } });
  let now: Auth | undefined;
  const { credentials } = make(token('one'), createTestClock(), () => now);
  const first = await credentials.get();
  assert.equal(await credentials.renew(first), false, 'the configuration is not read again');
  now = token('one');
  assert.equal(await credentials.renew(first), false, 'nobody has logged in');
  now = token('two');
  assert.equal(await credentials.get(), first, 'they are good until they are refused');
  assert.equal(await credentials.renew(first), true);
  assert.equal((await credentials.get()).authorization, 'Bearer two');
});

test('a plugin receives the cluster and its arguments, and its credentials are cached until shortly before they expire', async (t) => {
  const { runs, plugin } = await setUp(t);
  const clock = createTestClock();
  const expirationTimestamp = new Date(clock.now() + 60_000).toISOString();
  const exec = await plugin(print({ token: 'tok', expirationTimestamp }), {
    provideClusterInfo: true,
    args: ['$(touch /tmp/never); a b'],
    env: [{ name: 'EXTRA', value: 'more' }],
    clusterConfig: { audience: 'x' },
  });
  const { credentials } = make({ exec }, clock);
  const all = await Promise.all([credentials.get(), credentials.get()]);
  assert.deepEqual(
    all.map(({ authorization }) => authorization),
    ['Bearer tok', 'Bearer tok'],
  );
  const [line = '', ...others] = await runs();
  assert.equal(others.length, 0, 'two calls at once run it once');
  const [info = '', extra, count, argument] = line.split('|');
  assert.deepEqual([extra, count, argument], ['more', '1', '$(touch /tmp/never); a b']);
  assert.deepEqual(JSON.parse(info), {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: 'https://c:6443', 'certificate-authority-data': btoa('CA'), config: { audience: 'x' } },
    },
  });
  await clock.advance(49_000);
  await credentials.get();
  assert.equal((await runs()).length, 1);
  await clock.advance(2_000);
  const secrets = await credentials.get();
  assert.equal((await runs()).length, 2);
  await clock.advance(1_000);
  assert.equal(await credentials.renew(secrets), false, 'a plugin is not run for every refused request');
  await clock.advance(5_000);
  await credentials.renew(secrets);
  assert.ok((await runs()).length >= 3);
});

test('reports failures of a plugin without its output', async (t) => {
  const { plugin, dir } = await setUp(t);
  const run = async (script: string, extra: Partial<ExecPlugin> = {}, options = {}) =>
    runExecPlugin(testEnv(), await plugin(script, extra), cluster, { environment, terminal: false, ...options });
  const refused = (work: Promise<unknown>, message: RegExp) =>
    assert.rejects(work, (error) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, message);
      assert.doesNotMatch(`${error.message}${String(error.cause)}`, /s3cret/);
      return true;
    });
  await refused(run('echo s3cret; exit 3'), /exit code 3/);
  await refused(run('echo s3cret'), /not JSON/);
  await refused(run(print({ token: 's3cret' }, 'client.authentication.k8s.io/v1beta1')), /apiVersion .*v1beta1, but/);
  await refused(run(print({ s3cret: 1 })), /neither a token nor a client certificate/);
  await refused(run(print({ clientKeyData: 's3cret' })), /only one of clientCertificateData/);
  await refused(run(print({ token: 's3cret', expirationTimestamp: 'soon' })), /status\.expirationTimestamp is wrong/);
  await refused(
    run('', { command: join(dir, 'none'), installHint: 'Get it from us.' }),
    /not found\. Get it from us\./,
  );
  await refused(run('', { interactiveMode: 'Always' }), /terminal/);
  await refused(run('exec sleep 60', {}, { timeoutMs: 100 }), /did not end within 100 ms/);
  await refused(run(`head -c 2000000 /dev/zero`), /more than/);
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error('my reason')), 20);
  await assert.rejects(run('exec sleep 60', {}, { signal: stop.signal }), { message: 'my reason' });
  const pair = await run(print({ clientCertificateData: 'C', clientKeyData: 'K' }));
  assert.deepEqual(pair, { cert: 'C', key: 'K' });
});

test('retries calls, writes included, with a renewed token after a 401; without one they fail', async (t) => {
  const { dir } = await setUp(t);
  const path = join(dir, 'token');
  await writeFile(path, 'old');
  const server = await startTestServer({ protocol: 'http' }, (request, response) =>
    request.headers.authorization === 'Bearer new'
      ? sendJson(response, { metadata: { name: 'x' } })
      : sendJson(response, { code: 401 }, 401),
  );
  const client = createTestClient(server.url, { auth: { token: { from: 'file', path } } });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  const create = () => client.create(testPods, { metadata: { name: 'x', namespace: 'a' } });
  await assert.rejects(create(), { code: 'Unauthorized', happened: 'no' });
  assert.equal(server.requests.length, 1);
  await writeFile(path, 'new');
  await create();
  assert.equal(server.requests.length, 3);
});

test('a login is noticed after a 401, unless the configuration names another server or context by now', async (t) => {
  let closed = Promise.resolve<unknown>(undefined);
  const server = await startTestServer({ protocol: 'h2', identity: testIdentity }, (request, response) => {
    closed = once(response, 'close');
    if (request.headers.authorization === 'Bearer new') sendJson(response, { metadata: { name: 'x' } });
    else sendJson(response, { message: 'logged out' }, 401);
  });
  const auth: Auth = { token: { from: 'text', text: 'new' } };
  const config = { server: server.url, context: 'shop', namespace: 'a', source: 'test', insecureSkipTlsVerify: true };
  let now: ClusterConfig = { ...config, auth, server: 'http://127.0.0.1:1' };
  const reload = async (): Promise<ClusterConfig> => {
    // As long as a slow disk takes, which the response does not survive unread.
    await closed;
    for (let turns = 0; turns < 100; turns += 1) await nextTurn();
    return now;
  };
  const client = createTestClient(server.url, config, { reload });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  const get = () => client.get(testPods, { namespace: 'a', name: 'x' });
  const refused = { code: 'Unauthorized', message: /: logged out$/ };
  await assert.rejects(get(), refused);
  now = { ...config, auth, context: 'depot' };
  await assert.rejects(get(), refused);
  now = { ...config, auth };
  await get();
});

test('presents a rotated client certificate on new connections while old streams continue', async (t) => {
  const { dir } = await setUp(t);
  const authority = createTestAuthority();
  const paths = { cert: join(dir, 'c.pem'), key: join(dir, 'k.pem') };
  const install = async (name: string): Promise<void> => {
    const identity = authority.issue(name);
    await writeFile(paths.cert, identity.cert);
    await writeFile(paths.key, identity.key);
  };
  await install('first');
  const peers: (string | undefined)[] = [];
  const server = await startTestServer(
    { protocol: 'h2', identity: authority.issue('server'), clientCa: authority.cert },
    (request, response) => {
      const socket =
        'stream' in request
          ? (request.stream.session?.socket as { getPeerCertificate?(): { subject?: { CN?: string } } })
          : {};
      const peer = socket.getPeerCertificate?.().subject?.CN;
      peers.push(peer);
      if (peer === 'first' && peers.length > 1) sendJson(response, { code: 401 }, 401);
      else sendJson(response, { metadata: { name: 'x' } });
    },
  );
  const certificate = { cert: { from: 'file', path: paths.cert }, key: { from: 'file', path: paths.key } } as const;
  const client = createTestClient(server.url, { auth: { certificate } });
  t.after(async () => {
    await client.close();
    await server.close();
  });
  await client.get(testPods, { namespace: 'a', name: 'x' });
  await install('second');
  await client.get(testPods, { namespace: 'a', name: 'x' });
  assert.deepEqual(peers, ['first', 'first', 'second']);
});

const pod = { metadata: { name: 'x' } };
const x = { namespace: 'a', name: 'x' };

test('trusts a rotated authority without a restart: at once when a connection fails, else within ten seconds', async (t) => {
  const { dir } = await setUp(t);
  const path = join(dir, 'ca.crt');
  const [first, second] = [createTestAuthority('first'), createTestAuthority('second')];
  await writeFile(path, first.cert);
  const answer = (_request: Request, response: Response) => sendJson(response, pod);
  const start = (authority: CertificateAuthority, port = 0) =>
    startTestServer({ protocol: 'h2', identity: authority.issue('server'), port }, answer);
  const clock = createTestClock();
  let server = await start(first);
  const client = createTestClient(
    server.url,
    { certificateAuthority: { from: 'file', path } },
    { env: testEnv(clock), maxRetries: 0 },
  );
  t.after(async () => {
    await client.close();
    await server.close();
  });
  await client.get(testPods, x);

  await server.close();
  server = await start(second, server.port);
  await assert.rejects(client.get(testPods, x), { code: 'Transport' }, 'the new authority is not trusted yet');
  assert.equal(server.requests.length, 0);
  await writeFile(path, second.cert);
  await client.get(testPods, x);
  await client.get(testPods, x);
  assert.equal(server.sessions.size, 1, 'an authority that stays keeps its connection');

  // A connection that is open is replaced, and while the file is missing the authority serves that it held last.
  await writeFile(path, `${second.cert}${first.cert}`);
  await client.get(testPods, x);
  await clock.advance(10_001);
  await client.get(testPods, x);
  await rm(path);
  await clock.advance(10_001);
  await client.get(testPods, x);
  await eventually('the connection that trusts less is closed', () => server.sessions.size === 1);
  await server.close();
  server = await start(first, server.port);
  await eventually('the other authority of the bundle is trusted', () => client.get(testPods, x));
});
