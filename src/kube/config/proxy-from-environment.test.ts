import assert from 'node:assert/strict';
import { test } from 'node:test';
import { proxyFromEnvironment } from './proxy-from-environment.ts';

const server = 'https://api.example.com:6443';

test('HTTPS_PROXY applies to https, HTTP_PROXY to http; lower case wins; a bare host is an http proxy', () => {
  assert.equal(proxyFromEnvironment(server, {}), undefined);
  assert.equal(proxyFromEnvironment(server, { HTTP_PROXY: 'http://p:1' }), undefined);
  assert.equal(proxyFromEnvironment(server, { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:1' }), 'http://q:1');
  assert.equal(proxyFromEnvironment('http://a:80', { HTTP_PROXY: 'p:1' }), 'http://p:1');
});

const cases: [string, string, boolean][] = [
  [server, 'example.com', true],
  [server, '.example.com', true],
  [server, '*.example.com', true],
  [server, 'api.example.com:6443', true],
  [server, 'api.example.com:443', false],
  [server, 'ample.com', false],
  [server, 'other.org, *', true],
  ['https://example.com', '.example.com', false],
  ['https://10.1.2.3:6443', '10.0.0.0/8', true],
  ['https://11.1.2.3:6443', '10.0.0.0/8', false],
  ['https://10.1.2.3', '10.1.2.3:443', true],
  ['https://[fd00::1]:6443', 'fd00::/8', true],
  ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
  ['https://[fd00::1]:6443', 'fd00::1', true],
  ['https://localhost:6443', '', true],
  ['https://127.0.0.1:6443', '', true],
];
for (const [url, noProxy, direct] of cases) {
  test(`${url} with NO_PROXY=${noProxy} connects ${direct ? 'directly' : 'through the proxy'}`, () => {
    const proxy = proxyFromEnvironment(url, { HTTPS_PROXY: 'http://p:1', NO_PROXY: noProxy });
    assert.equal(proxy, direct ? undefined : 'http://p:1');
  });
}
