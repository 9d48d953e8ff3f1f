import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { checkOrigin, tcpSite } from './origin.ts';

test('links of other sites lead only where they may, and nothing else of other sites gets there', () => {
  const site = tcpSite('http', 8080, ['127.0.0.1']);
  const check = (linkable: boolean, headers: Record<string, string>, method = 'GET'): number | undefined => {
    const request = new IncomingMessage(new Socket());
    Object.assign(request, { method, headers: { host: '127.0.0.1:8080', 'sec-fetch-site': 'cross-site', ...headers } });
    return checkOrigin(request, site, { linkable })?.status;
  };
  const link = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
  assert.equal(check(true, link), undefined);
  assert.equal(check(false, link), 403);
  assert.equal(check(true, { ...link, host: 'evil.test:8080' }), 421);
  assert.equal(check(true, { ...link, origin: 'http://evil.test' }), 403);
  assert.equal(check(true, { ...link, 'sec-fetch-dest': 'iframe' }), 403);
  assert.equal(check(true, { 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'script' }), 403);
  assert.equal(check(true, link, 'POST'), 403);
});
