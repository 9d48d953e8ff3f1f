import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { raw, sendRaw } from './testing/raw-http.ts';
import { onLoopback, startServer } from './testing/start.ts';

const upgradePath = '/openyurt.io/v1/namespaces/shop/pods/till-x7k2p/upgrade';

describe('foreign requests', () => {
  it('with another host name are misdirected', async (t) => {
    const { address, backend } = await startServer(t);
    const port = address.split(':')[1] ?? '';
    const status = async (host: string | undefined): Promise<number | undefined> => {
      const head = [`POST ${upgradePath} HTTP/1.1`, ...(host === undefined ? [] : [`Host: ${host}`])];
      return (await sendRaw(address, [...head, 'Connection: close', '', ''].join('\r\n')))[0]?.status;
    };
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LocalHost:${port}`, `[::1]:${port}`])
      assert.equal(await status(host), 200, host);
    const acts = backend.operations.length;
    for (const host of [
      `evil.example:${port}`,
      '127.0.0.1',
      'localhost:1',
      `localhost.:${port}`,
      `127.0.0.1:${port}.evil.example`,
      `127.1:${port}`,
      `user@localhost:${port}`,
      `localhost.evil.example:${port}`,
      `127.0.0.1.:${port}`,
      '',
      undefined,
    ])
      assert.equal(await status(host), 421, `Host: ${host}`);
    assert.equal(backend.operations.length, acts);
  });

  it('with an allowed host name are served', async (t) => {
    const { address } = await startServer(t, {
      listen: { ...onLoopback, allowedHosts: ['till.shop', 'proxy.example:80'] },
    });
    const port = address.split(':')[1] ?? '';
    for (const [host, wanted] of [
      [`till.shop:${port}`, 200],
      ['till.shop', 421],
      ['proxy.example', 200],
      ['proxy.example:80', 200],
      [`proxy.example:${port}`, 421],
    ] as const) {
      const [answer] = await sendRaw(address, `GET /pods HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      assert.equal(answer?.status, wanted, host);
    }
  });

  it('from other origins are refused, including other ports and null', async (t) => {
    const { address, backend } = await startServer(t);
    const port = Number(address.split(':')[1]);
    for (const header of [
      'Origin: https://evil.example',
      'Origin: null',
      `Origin: http://localhost:${port}`,
      `Origin: https://${address}`,
      `Origin: http://127.0.0.1:${port + 1}`,
      'Sec-Fetch-Site: cross-site',
      'Sec-Fetch-Site: same-site',
      'Sec-Fetch-Site: x',
    ]) {
      const [answer] = await raw(address, `POST ${upgradePath}`, [header]);
      assert.equal(answer?.status, 403, header);
    }
    assert.deepEqual(backend.operations, []);
    for (const header of [`Origin: http://${address}`, 'Sec-Fetch-Site: same-origin', 'Sec-Fetch-Site: none'])
      assert.equal((await raw(address, `POST ${upgradePath}`, [header]))[0]?.status, 200, header);
  });
});

describe('request-targets', () => {
  it('that normalize to another path are refused', async (t) => {
    const { address, backend } = await startServer(t);
    const upgrade = (namespace: string, pod: string): string =>
      `/openyurt.io/v1/namespaces/${namespace}/pods/${pod}/upgrade`;
    for (const target of [
      '/../pods',
      '/./pods',
      '//pods',
      '/pods//',
      '/pods/..',
      `/pods/..${upgradePath}`,
      `${upgradePath}/`,
      `${upgradePath}/.`,
      upgradePath.replace('/upgrade', '/UPGRADE'),
      upgradePath.replace('openyurt.io', 'openyurt%2eio'),
      upgrade('shop', '..'),
      upgrade('shop', '%252e%252e'),
      upgrade('shop', 'x/../till-x7k2p'),
      upgrade('shop', 'TILL-X7K2P'),
      upgrade('%2e%2e', 'x'),
      upgrade('shop', 'a%2fb'),
      upgrade('shop', 'a%5cb'),
      upgrade('shop', 'a%00'),
      upgrade('shop', 'a\\b'),
      upgrade('kube-system/pods/x/..', 'y'),
      upgrade('Shop', 'x'),
      upgrade('a.b', 'x'),
      upgrade('shop', '-x'),
      upgrade('shop', 'x'.repeat(254)),
      upgrade('x'.repeat(64), 'y'),
      upgrade('shop', 'x;y'),
      `/${'x'.repeat(1024)}`,
      `http://${address}${upgradePath}`,
      `http://evil.example${upgradePath}`,
      '*',
      `${upgradePath}#x`,
      '/pods?\\',
    ]) {
      const [answer] = await raw(address, `POST ${target}`);
      assert.ok([400, 404].includes(answer?.status ?? 0), `${target} ${answer?.status}`);
    }
    for (const bytes of [Buffer.from('/p\u00f6ds', 'utf8'), Buffer.from('/pods\0', 'latin1')]) {
      const tail = Buffer.from(` HTTP/1.1\r\nHost: ${address}\r\nConnection: close\r\n\r\n`);
      const [answer] = await sendRaw(address, Buffer.concat([Buffer.from('GET '), bytes, tail]));
      assert.equal(answer?.status, 400);
    }
    assert.deepEqual(backend.operations, []);
  });
});

describe('framing', () => {
  it('that is ambiguous is refused', async (t) => {
    const { address, backend } = await startServer(t);
    const smuggled = `POST ${upgradePath} HTTP/1.1\r\nHost: ${address}\r\n\r\n`;
    const post = (...headers: string[]): Promise<{ status: number }[]> =>
      raw(address, `POST ${upgradePath}`, headers, `0\r\n\r\n${smuggled}`);
    for (const headers of [
      ['Content-Length: 5', 'Content-Length: 6'],
      ['Content-Length: 5', 'Transfer-Encoding: chunked'],
      ['Transfer-Encoding: chunked, identity'],
      ['Transfer-Encoding: xchunked'],
      ['Transfer-Encoding: \x0bchunked'],
      ['Content-Length: +5'],
      ['Content-Length: -1'],
      ['Content-Length: 0x5'],
      [`Host: ${address}`],
      ['Host: evil.example'],
      ['X: a\rY: b'],
      ['Content-Length : 5'],
      [' folded: x'],
    ]) {
      const answers = await post(...headers);
      assert.ok(answers.length <= 1, 'nothing behind it is read as a request');
      assert.equal(answers[0]?.status ?? 400, 400, headers.join(', '));
    }
    for (const bytes of [
      `POST ${upgradePath}\r\n\r\n`,
      `POST ${upgradePath} HTTP/3.0\r\nHost: ${address}\r\n\r\n`,
      `POST ${upgradePath} HTTP/1.0\r\n\r\n`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      `CONNECT ${address} HTTP/1.1\r\nHost: ${address}\r\n\r\n`,
    ]) {
      const answers = await sendRaw(address, bytes);
      assert.ok(answers.length <= 1 && (answers[0]?.status ?? 400) >= 400, bytes);
    }
    assert.deepEqual(backend.operations, []);
  });

  it('of pipelined requests is kept: one response each, in order', async (t) => {
    const { address, backend } = await startServer(t);
    const one = `POST ${upgradePath} HTTP/1.1\r\nHost: ${address}\r\n\r\n`;
    const last = `GET /pods HTTP/1.1\r\nHost: ${address}\r\nConnection: close\r\n\r\n`;
    const answers = await sendRaw(address, one.repeat(3) + last);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    assert.equal(backend.operations.length, 3);
  });

  it('floods of pipelined requests end the connection', async (t) => {
    const { address } = await startServer(t);
    const one = `GET /pods HTTP/1.1\r\nHost: ${address}\r\n\r\n`;
    const answers = await sendRaw(address, one.repeat(400));
    assert.ok(answers.some(({ status }) => status === 429));
    assert.ok(answers.length < 400);
  });
});
