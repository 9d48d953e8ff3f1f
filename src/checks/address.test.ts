import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type AddressRules, chooseAddress, parseAddress, shownAddress } from './address.ts';
import { sayProblem } from './types.ts';

const chosen = (address: string | undefined, clusterPlan: boolean, rules: Partial<AddressRules> = {}): string => {
  const result = chooseAddress(address, clusterPlan, { prometheusAddress: undefined, allowedAddresses: [], ...rules });
  return result.ok ? `${result.address.origin}${result.address.path}` : `refused: ${sayProblem(result)}`;
};

describe('parseAddress', () => {
  for (const [text, expected] of [
    ['http://prom:9090', 'http://prom:9090'],
    ['https://Prom.example.org:443/', 'https://prom.example.org'],
    ['https://prom/a/b.c/', 'https://prom/a/b.c'],
    ['https://prom/a/../b', 'https://prom/b'],
    ['http://[::1]:9090', 'http://[::1]:9090'],
  ] as const)
    it(`reads ${text}`, () => {
      const parsed = parseAddress(text);
      assert.equal(parsed.ok && `${parsed.address.origin}${parsed.address.path}`, expected);
    });

  for (const text of [
    '',
    'prom:9090',
    'ftp://prom',
    'file:///etc/passwd',
    'http://user:secret@prom',
    'http://secret\n@prom:x',
    'https://prom?x=1',
    'https://prom/#x',
    'https://prom/a/..%2fadmin',
    'https://prom/a//b',
    'https://prom/a;b',
  ])
    it(`refuses "${text}", without its credentials`, () => {
      const parsed = parseAddress(text);
      assert.equal(parsed.ok, false);
      assert.doesNotMatch(parsed.ok ? '' : `${shownAddress(text)} ${sayProblem(parsed)}`, /secret/);
    });
});

describe('a plan of a namespace', () => {
  it("asks the manager's Prometheus, also when it names it", () => {
    const rules = { prometheusAddress: 'http://prom:9090/tenant' };
    assert.equal(chosen(undefined, false, rules), 'http://prom:9090/tenant');
    assert.equal(chosen('http://prom:9090/tenant/', false, rules), 'http://prom:9090/tenant');
    assert.match(chosen('http://prom:9090/', false, rules), /^refused: .*--allowed-check-addresses/);
    assert.match(chosen('http://prom:9090/tenant/other', false, rules), /^refused/);
  });

  it('asks nobody else, unless a flag allows it', () => {
    assert.match(chosen('http://169.254.169.254', false), /^refused: .*--allowed-check-addresses/);
    assert.match(chosen(undefined, false), /^refused: .*--prometheus-address/);
    const rules = { allowedAddresses: ['https://prom.example.org/team', 'http://thanos:10902'] };
    assert.equal(chosen('https://prom.example.org/team', false, rules), 'https://prom.example.org/team');
    assert.equal(chosen('https://prom.example.org/team/a', false, rules), 'https://prom.example.org/team/a');
    assert.equal(chosen('http://thanos:10902/any', false, rules), 'http://thanos:10902/any');
    for (const address of [
      'https://prom.example.org/teams',
      'https://prom.example.org/team/../admin',
      'https://prom.example.org/team/%2e%2e/admin',
      'https://prom.example.org/',
      'http://prom.example.org/team',
      'https://prom.example.org:8443/team',
      'http://thanos:10902@evil.example',
      'http://thanos',
    ])
      assert.match(chosen(address, false, rules), /^refused/, address);
  });
});

it('a plan of the cluster asks the server that it names, or the Prometheus of the manager', () => {
  assert.equal(chosen('http://anywhere:1', true), 'http://anywhere:1');
  assert.equal(chosen(undefined, true, { prometheusAddress: 'http://prom:9090' }), 'http://prom:9090');
  assert.match(chosen(undefined, true), /set it, or the manager's flag --prometheus-address/);
});
