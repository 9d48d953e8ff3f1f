import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { it } from 'node:test';
import { clientOf, networkOf, parseProxies } from './client-address.ts';

it('counts an IPv4 address by itself, and all of an IPv6 network as one', () => {
  assert.equal(networkOf('192.0.2.7'), '192.0.2.7');
  assert.equal(networkOf('::ffff:192.0.2.7'), '192.0.2.7');
  assert.equal(networkOf('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::/64');
  assert.equal(networkOf('2001:DB8:1:2::6'), '2001:db8:1:2::/64');
  assert.equal(networkOf('2001:db8::6'), '2001:db8:0:0::/64');
  assert.equal(networkOf('fe80::1%eth0'), 'fe80:0:0:0::/64');
  assert.equal(networkOf('::1'), '0:0:0:0::/64');
  assert.equal(networkOf(''), '');
});

it('believes what trusted proxies say of the caller, and nobody else', () => {
  const isProxy = parseProxies('--trusted-proxies', ['10.0.0.0/8', 'fd00::/8', '192.0.2.1']);
  const client = (remoteAddress: string, forwarded?: string): string =>
    clientOf(
      { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } } as unknown as IncomingMessage,
      isProxy,
    );
  assert.equal(client('198.51.100.1', '203.0.113.1'), '198.51.100.1');
  assert.equal(client('10.1.2.3', '203.0.113.1'), '203.0.113.1');
  assert.equal(client('::ffff:10.1.2.3', '203.0.113.1'), '203.0.113.1');
  assert.equal(client('192.0.2.1', '9.9.9.9, 203.0.113.1,10.0.0.4, fd00::4'), '203.0.113.1', 'callers may add to it');
  for (const odd of [undefined, '', ' , ', 'unknown', '10.0.0.4', '203.0.113.1:80'])
    assert.equal(client('10.1.2.3', odd), '10.1.2.3', `${odd}`);
  assert.equal(client('192.0.2.2', '203.0.113.1'), '192.0.2.2');
});

it('refuses what is no network', () => {
  for (const odd of ['10.0.0.0/33', 'fd00::/129', 'proxy', '10.0.0/8', '10.0.0.0/', '/8', '10.0.0.0/-1'])
    assert.throws(() => parseProxies('--trusted-proxies', [odd]), {
      message: /^--trusted-proxies: ".*" is not a network/,
    });
});
