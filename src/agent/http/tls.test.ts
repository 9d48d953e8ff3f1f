import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { sendRaw } from './testing/raw-http.ts';
import { onLoopback, startServer } from './testing/start.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'edgeset-tls-'));
after(() => rmSync(folder, { recursive: true }));
const upgradePath = '/openyurt.io/v1/namespaces/shop/pods/till-x7k2p/upgrade';

let files = 0;
const fileOf = (text: string): string => {
  files += 1;
  const file = path.join(folder, `file-${files}`);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
};

const openssl = (command: string): void =>
  void execFileSync('openssl', command.split(' '), { cwd: folder, stdio: 'ignore' });
const NEW_KEY = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes';
const authority = (name: string): void =>
  openssl(`req -x509 ${NEW_KEY} -subj /CN=${name} -keyout ${name}.key -out ${name}.pem -days 2`);
// Not the test kit's CA, because these certificates are for either clients or servers.
const certificate = (name: string, by: string, usage: string): void => {
  const extensions = `subjectAltName=IP:127.0.0.1,DNS:localhost\nextendedKeyUsage=${usage}\n`;
  writeFileSync(path.join(folder, `${name}.ext`), extensions);
  openssl(`req ${NEW_KEY} -subj /CN=${name} -keyout ${name}.key -out ${name}.csr`);
  const signer = `-CA ${by}.pem -CAkey ${by}.key -CAcreateserial`;
  openssl(`x509 -req -in ${name}.csr ${signer} -days 1 -extfile ${name}.ext -out ${name}.pem`);
};
const file = (name: string): string => path.join(folder, name);

describe('mutual TLS', () => {
  authority('ca');
  authority('foreign');
  certificate('server', 'ca', 'serverAuth');
  certificate('kiosk', 'ca', 'clientAuth');
  certificate('stranger', 'foreign', 'clientAuth');

  const start = (t: TestContext) =>
    startServer(t, {
      listen: {
        ...onLoopback,
        tls: { certFile: file('server.pem'), keyFile: file('server.key'), clientCaFile: file('ca.pem') },
      },
      auth: { allowedUids: new Set([4711]), tokens: undefined },
    });
  const send = async (address: string, options: RequestOptions = {}): Promise<{ status: number; peer: string }> => {
    const { promise, resolve, reject } = Promise.withResolvers<{ status: number; peer: string }>();
    const port = Number(address.split(':')[1]);
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path: upgradePath,
        method: 'POST',
        ca: readFileSync(file('ca.pem')),
        agent: false,
        ...options,
      },
      (answer) => {
        answer.resume();
        const { socket } = answer;
        const peer = socket instanceof TLSSocket ? (socket.getPeerX509Certificate()?.serialNumber ?? '') : '';
        resolve({ status: answer.statusCode ?? 0, peer });
      },
    );
    sent.on('error', reject);
    sent.end();
    return promise;
  };
  const holding = (name: string): RequestOptions => {
    return { cert: readFileSync(file(`${name}.pem`)), key: readFileSync(file(`${name}.key`)) };
  };

  it('accepts certificates of the CA, identified by their common name', async (t) => {
    const { address, backend } = await start(t);
    assert.equal((await send(address, holding('kiosk'))).status, 200);
    assert.deepEqual(backend.operations, ['upgrade shop/till-x7k2p by cert:kiosk']);
  });
  it('refuses certificates of other CAs, server certificates, and missing ones', async (t) => {
    const { address, backend } = await start(t);
    assert.equal((await send(address, holding('stranger'))).status, 403);
    assert.equal((await send(address, holding('server'))).status, 403);
    assert.equal((await send(address)).status, 401);
    assert.deepEqual(backend.operations, []);
  });
  it('does not trust all public CAs if the CA file is empty', async (t) => {
    const withCa = (clientCaFile: string) =>
      startServer(t, {
        listen: { ...onLoopback, tls: { certFile: file('server.pem'), keyFile: file('server.key'), clientCaFile } },
      });
    const refused = { code: 'InvalidOption', flag: '--client-ca-file' };
    await assert.rejects(withCa(fileOf('')), { ...refused, message: /contains no certificate/ });
    await assert.rejects(withCa(fileOf('# none')), { ...refused, message: /contains no certificate/ });
    const cut = readFileSync(file('ca.pem'), 'utf8').replace(/\n[^\n]+\n-----END/, '\n-----END');
    await assert.rejects(withCa(fileOf(cut)), { ...refused, message: /cannot parse certificate 1/ });
  });
  it('keeps the previous CA while the new file is empty', async (t) => {
    const authorities = fileOf(readFileSync(file('ca.pem'), 'utf8'));
    const { address } = await startServer(t, {
      listen: {
        ...onLoopback,
        tls: { certFile: file('server.pem'), keyFile: file('server.key'), clientCaFile: authorities },
      },
      auth: { allowedUids: new Set([4711]), tokens: undefined },
      limits: { ratePerCaller: { perSecond: 1000, burst: 1000 }, ratePerPool: { perSecond: 1000, burst: 1000 } },
    });
    writeFileSync(authorities, '');
    const until = Date.now() + 1500;
    while (Date.now() < until) assert.equal((await send(address, holding('kiosk'))).status, 200);
  });
  it('allows no renegotiation', async (t) => {
    const { address } = await start(t);
    const port = Number(address.split(':')[1]);
    const socket = connectTls({
      port,
      maxVersion: 'TLSv1.2',
      rejectUnauthorized: false,
      cert: readFileSync(file('kiosk.pem')),
      key: readFileSync(file('kiosk.key')),
    });
    await once(socket, 'secureConnect');
    const { promise, resolve } = Promise.withResolvers<string>();
    socket.on('error', () => resolve('refused'));
    socket.renegotiate({}, (error) => resolve(error === null ? 'accepted' : 'refused'));
    assert.equal(await promise, 'refused');
    socket.destroy();
  });
  it('supports neither versions before TLS 1.2 nor plain HTTP', async (t) => {
    const { address } = await start(t);
    await assert.rejects(send(address, { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'ALL:@SECLEVEL=0' }));
    assert.deepEqual(await sendRaw(address, `GET /pods HTTP/1.1\r\nHost: ${address}\r\n\r\n`), []);
  });
  it('identifies local users with TLS, too', async (t) => {
    const { address } = await startServer(t, {
      listen: {
        ...onLoopback,
        tls: { certFile: file('server.pem'), keyFile: file('server.key'), clientCaFile: undefined },
      },
    });
    assert.equal((await send(address)).status, 200);
  });
  it('reloads a renewed certificate, and survives a broken one', async (t) => {
    const { address } = await start(t);
    const kiosk = holding('kiosk');
    const first = await send(address, kiosk);
    certificate('server', 'ca', 'serverAuth');
    const deadline = Date.now() + 10_000;
    let next = first;
    while (next.peer === first.peer && Date.now() < deadline) next = await send(address, kiosk).catch(() => first);
    assert.notEqual(next.peer, first.peer);
    writeFileSync(file('server.pem'), 'broken');
    const until = Date.now() + 1500;
    while (Date.now() < until) assert.equal((await send(address, kiosk)).peer, next.peer);
    certificate('server', 'ca', 'serverAuth');
  });
});
