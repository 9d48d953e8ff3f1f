import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { silentLogger } from '../../runtime/index.ts';
import { openTokenFile } from '../auth/index.ts';
import { createAgentServer } from './server.ts';
import { createFakeBackend } from './testing/fake-backend.ts';
import { sendRaw } from './testing/raw-http.ts';
import { onLoopback, startServer } from './testing/start.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-auth-'));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));
const me = process.getuid?.() ?? -1;
const NOBODY = 65_534;
const asRoot = { skip: me !== 0 ? 'only root can be another user' : false };
const upgradePath = '/openyurt.io/v1/namespaces/shop/pods/till-x7k2p/upgrade';

let files = 0;
const fileOf = (text: string): string => {
  files += 1;
  const file = path.join(folder, `file-${files}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
};

/** Runs curl as another user; resolves with status and body. */
const curlAs = async (uid: number, ...args: string[]): Promise<{ status: number; body: string }> => {
  const child = spawn('curl', ['-sS', '-m', '10', '-w', '\n%{http_code}', ...args], { uid, cwd: '/' });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  await once(child, 'close');
  const at = out.lastIndexOf('\n');
  return { status: Number(out.slice(at + 1)), body: out.slice(0, at) };
};

describe('local users', () => {
  it('that are not allowed are refused on every path', asRoot, async (t) => {
    const { url, backend } = await startServer(t);
    for (const [method, target] of [
      ['GET', '/pods'],
      ['POST', upgradePath],
      ['GET', '/edgeset.io/v1/updates'],
      ['GET', '/nothing'],
    ] as const) {
      const { status, body } = await curlAs(NOBODY, '-X', method, url + target);
      assert.equal(status, 403, target);
      assert.match(body, /WrongUser/);
    }
    assert.deepEqual(backend.operations, []);
    assert.equal((await curlAs(0, '-X', 'POST', url + upgradePath)).status, 200);
  });

  it('that are allowed are identified by uid', asRoot, async (t) => {
    const { url, backend } = await startServer(t, { auth: { allowedUids: new Set([4711]), tokens: undefined } });
    assert.equal((await curlAs(4711, '-X', 'POST', url + upgradePath)).status, 200);
    assert.equal((await curlAs(0, '-X', 'POST', url + upgradePath)).status, 403);
    assert.deepEqual(backend.operations, ['upgrade shop/till-x7k2p by uid:4711']);
  });

  it('are identified on every loopback address', async (t) => {
    for (const host of ['127.0.0.1', '127.0.0.2', '::1', 'localhost']) {
      const { url } = await startServer(t, { listen: { ...onLoopback, tcp: { host, port: 0 } } });
      assert.equal((await fetch(`${url}/pods`)).status, 200, host);
    }
  });

  it('that closed their socket before the update are refused', async (t) => {
    const { address, backend } = await startServer(t);
    const socket = connect(Number(address.split(':')[1]), '127.0.0.1');
    const asked = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const authorized = Promise.withResolvers<string>();
    backend.beforeReauthorize = async () => {
      asked.resolve();
      await gone.promise;
    };
    const upgrade = backend.upgrade.bind(backend);
    backend.upgrade = async (...args) => {
      const answer = await upgrade(...args);
      authorized.resolve(answer.text);
      return answer;
    };
    socket.write(`POST ${upgradePath} HTTP/1.1\r\nHost: ${address}\r\n\r\n`);
    await asked.promise;
    socket.destroy();
    await once(socket, 'close');
    gone.resolve();
    assert.match(await authorized.promise, /the caller has gone/);
    assert.deepEqual(backend.operations, []);
  });
});

describe('bearer tokens', () => {
  const tokens = openTokenFile(fileOf('kiosk:a-token-of-the-kiosk\n'), silentLogger);
  const start = (t: TestContext) => startServer(t, { auth: { allowedUids: new Set([4711]), tokens } });

  it('identify their owner by name', async (t) => {
    const { url, backend } = await start(t);
    const headers = { authorization: 'Bearer a-token-of-the-kiosk' };
    assert.equal((await fetch(url + upgradePath, { method: 'POST', headers })).status, 200);
    assert.deepEqual(backend.operations, ['upgrade shop/till-x7k2p by token:kiosk']);
  });
  it('are required if missing, and refused if wrong, also from an allowed user', async (t) => {
    const { url, backend } = await start(t);
    const missing = await fetch(url + upgradePath, { method: 'POST' });
    assert.equal(missing.status, 401);
    assert.match(missing.headers.get('www-authenticate') ?? '', /^Bearer /);
    for (const authorization of [
      'Bearer wrong-token-0123456789',
      'Bearer ',
      'Basic YTpi',
      'a-token-of-the-kiosk',
      'Bearer a-token-of-the-kiosk, Bearer x',
    ]) {
      const wrong = await fetch(url + upgradePath, { method: 'POST', headers: { authorization } });
      assert.equal(wrong.status, 403, authorization);
    }
    assert.deepEqual(backend.operations, []);
  });
  it('cannot be guessed quickly: the rate limit applies to the right one, too', async (t) => {
    const { url } = await startServer(t, {
      auth: { allowedUids: new Set(), tokens },
      // However slow the machine is, no sixth token comes back.
      limits: { ratePerCaller: { perSecond: 0.001, burst: 5 } },
    });
    const ask = async (token: string): Promise<number> =>
      (await fetch(`${url}/pods`, { headers: { authorization: `Bearer ${token}` } })).status;
    const guesses: number[] = [];
    for (let at = 0; at < 8; at += 1) guesses.push(await ask(`guess-number-${at}-is-this`));
    assert.deepEqual(guesses.slice(0, 6), [403, 403, 403, 403, 403, 429]);
    assert.equal(await ask('a-token-of-the-kiosk'), 429);
  });
});

const file = (name: string): string => path.join(folder, name);

describe('a Unix socket', () => {
  const listen = (name: string) => ({ ...onLoopback, tcp: undefined, unixSocket: file(name) });
  it('is only accessible to its owner if no one else is allowed', asRoot, async (t) => {
    const { backend } = await startServer(t, { listen: listen('own.sock') });
    assert.equal(statSync(file('own.sock')).mode & 0o777, 0o600);
    const args = ['-X', 'POST', '--unix-socket', file('own.sock'), `http://localhost${upgradePath}`];
    assert.equal((await curlAs(0, ...args)).status, 200);
    assert.equal((await curlAs(NOBODY, ...args)).status, 0);
    assert.deepEqual(backend.operations, ['upgrade shop/till-x7k2p by uid:0']);
  });
  it('asks the kernel who calls if other users are allowed', asRoot, async (t) => {
    const { backend } = await startServer(t, {
      listen: listen('all.sock'),
      auth: { allowedUids: new Set([0, 4711]), tokens: undefined },
    });
    const args = ['-X', 'POST', '--unix-socket', file('all.sock'), `http://localhost${upgradePath}`];
    assert.equal((await curlAs(4711, ...args)).status, 200);
    assert.equal((await curlAs(NOBODY, ...args)).status, 403);
    assert.deepEqual(backend.operations, ['upgrade shop/till-x7k2p by uid:4711']);
  });
  it('accepts the host localhost only', async (t) => {
    await startServer(t, { listen: listen('host.sock') });
    for (const [host, wanted] of [
      ['localhost', 200],
      ['evil.example', 421],
    ] as const) {
      const [answer] = await sendRaw(
        file('host.sock'),
        `GET /pods HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      );
      assert.equal(answer?.status, wanted);
    }
  });
  it('replaces a stale socket, and nothing else', async (t) => {
    const stale = createServer();
    await new Promise<void>((resolve) => stale.listen(file('stale.sock'), resolve));
    execFileSync('mv', [file('stale.sock'), file('left.sock')]);
    await new Promise((resolve) => stale.close(resolve));
    const { server } = await startServer(t, { listen: listen('left.sock') });
    const again = (name: string) =>
      createAgentServer({
        backend: createFakeBackend(),
        env: {
          clock: { now: () => 0, timer: () => ({ cancel: () => undefined }) },
          random: () => 0,
          log: silentLogger,
        },
        listen: listen(name),
        auth: { allowedUids: new Set([me]), tokens: undefined },
        page: () => Promise.resolve([]),
        version: '0',
      });
    await assert.rejects(again('left.sock'), {
      code: 'InvalidOption',
      flag: '--unix-socket',
      message: /another process serves/,
    });
    await assert.rejects(again(path.basename(fileOf(''))), { code: 'InvalidOption', message: /is not a socket/ });
    await assert.rejects(again('no/such/folder.sock'), { code: 'InvalidOption', message: /cannot listen/ });
    mkdirSync(file('open'));
    chmodSync(file('open'), 0o777);
    await assert.rejects(again('open/agent.sock'), { code: 'InvalidOption', message: /any user can replace/ });
    await assert.rejects(again('x'.repeat(120)), { code: 'InvalidOption', message: /shorter path/ });
    await server.close();
    assert.ok(!existsSync(file('left.sock')), 'it is taken away at the end');
  });
});
