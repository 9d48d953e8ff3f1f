import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as plainGet } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { createTestAuthority } from '../../../test/support/index.ts';
import { silentLogger } from '../../runtime/index.ts';
import { openTokenFile } from '../auth/index.ts';
import { onLoopback, startServer } from './testing/start.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-connections-'));
chmodSync(folder, 0o755);
after(() => rmSync(folder, { recursive: true }));
const run = promisify(execFile);
const NOBODY = 65_534;
const asRoot = { skip: process.getuid?.() !== 0 ? 'only root can be another user' : false };

/**
 * Runs a script as nobody; resolves with a function to stop it, once it has printed something. The script can use `net`,
 * `port`, and `flood(n)`, which keeps opening that many connections.
 */
const nobody = async (t: TestContext, address: string, script: string): Promise<() => void> => {
  const prelude = `const net = require('net'); const port = ${address.split(':')[1]};
    const flood = (n) => { for (let at = 0; at < n; at += 1) {
      const one = () => net.connect(port, '127.0.0.1').on('error', () => {}).on('close', () => setImmediate(one));
      one();
    } };`;
  const child = spawn(process.execPath, ['-e', prelude + script], {
    uid: NOBODY,
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const end = (): void => void child.kill('SIGKILL');
  t.after(end);
  await once(child.stdout, 'data');
  return end;
};

const statusOf = (url: string): Promise<number> =>
  new Promise((resolve) => {
    const ask = url.startsWith('https') ? get : plainGet;
    ask(url, { rejectUnauthorized: false, agent: false } as object, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on('error', () => resolve(0));
  });

describe('callers that are not allowed cannot lock out allowed users', asRoot, () => {
  const tls = {
    certFile: path.join(folder, 'tls.pem'),
    keyFile: path.join(folder, 'tls.key'),
    clientCaFile: undefined,
  };
  const { cert, key } = createTestAuthority().issue('localhost');
  writeFileSync(tls.certFile, cert);
  writeFileSync(tls.keyFile, key, { mode: 0o600 });

  it('with hundreds of connections that reconnect at once', async (t) => {
    const { url, address } = await startServer(t);
    const end = await nobody(t, address, `flood(300); setTimeout(() => console.log('on'), 300);`);
    for (let at = 0; at < 5; at += 1)
      assert.equal((await fetch(`${url}/pods`, { headers: { connection: 'close' } })).status, 200);
    end();
  });

  for (const [what, listen, scheme] of [
    ['that stay silent', onLoopback, 'http'],
    ['that never start the TLS handshake', { ...onLoopback, tls }, 'https'],
  ] as const)
    it(`with connections ${what}`, async (t) => {
      const { address, server } = await startServer(t, { listen });
      // It prints once the connections beyond the limit are closed.
      const script = `let closed = 0;
        for (let at = 0; at < 100; at += 1)
          net.connect(port, '127.0.0.1').on('error', () => {}).on('close', () => { closed += 1; if (closed === 84) console.log('closed'); });`;
      const end = await nobody(t, address, script);
      assert.ok(server.connections <= 16, `${server.connections} connections are held`);
      assert.equal(await statusOf(`${scheme}://${address}/pods`), 200);
      end();
    });

  it('with wrong tokens from many users', async (t) => {
    const file = path.join(folder, 'tokens');
    writeFileSync(file, 'kiosk:a-token-of-the-kiosk\n', { mode: 0o600 });
    const { url } = await startServer(t, {
      auth: { allowedUids: new Set([0]), tokens: openTokenFile(file, silentLogger) },
      limits: { ratePerPool: { perSecond: 0.01, burst: 3 } },
    });
    const wrong = ['-s', '-m', '10', '-w', '%{http_code}', '-o', '/dev/null', '-H', 'Authorization: Bearer wrong'];
    const statuses: string[] = [];
    for (const uid of [4711, 4712, 4713, 4714])
      statuses.push((await run('curl', [...wrong, `${url}/pods`], { uid, cwd: '/' })).stdout);
    assert.deepEqual(statuses, ['403', '403', '403', '429']);
    assert.equal((await fetch(`${url}/pods`)).status, 200);
  });
});
