import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refuseServeFlags, resolveServeOptions, type ServeFlags } from './options.ts';

const given: ServeFlags = { listen: ':8443', insecureHttp: true };
const resolve = (flags: object) => resolveServeOptions({ ...given, ...flags }, { terminal: false });
const tls = { insecureHttp: false, tlsCertFile: '/tls.crt', tlsPrivateKeyFile: '/tls.key' };

describe('the flags of a dashboard for others', () => {
  it('have defaults', () => {
    const { listen, tls: files, namespaces, health, logLevel, logFormat } = resolve({});
    assert.deepEqual(
      { listen, files, namespaces, health, logLevel, logFormat },
      {
        listen: { host: undefined, port: 8443 },
        files: undefined,
        namespaces: undefined,
        health: undefined,
        logLevel: 'info',
        logFormat: 'json',
      },
    );
    assert.deepEqual(resolve({ namespaces: 'shop,depot' }).namespaces, ['shop', 'depot']);
    assert.equal(resolve({}).isProxy('10.0.0.1'), false);
    assert.equal(resolve({ trustedProxies: 'fd00::/8, 10.0.0.0/8' }).isProxy('10.0.0.1'), true);
    assert.equal(resolve(tls).tls?.certFile, '/tls.crt');
    assert.equal(resolve({}).metrics, undefined);
    assert.deepEqual(resolve({ metricsBindAddress: ':8080' }).metrics, { host: undefined, port: 8080 });
  });

  it('accept loopback names at its own port, and others by HTTPS only', () => {
    const hosts = ['fleet.example.org', 'fleet.example.org:30443'];
    for (const [flags, scheme] of [
      [{}, 'http'],
      [tls, 'https'],
    ] as const) {
      const [own, others] = resolve({ ...flags, allowedHost: hosts }).sites(8443);
      assert.equal(own.scheme, scheme);
      assert.deepEqual([...own.hosts], ['127.0.0.1:8443', 'localhost:8443', '[::1]:8443']);
      assert.equal(others?.scheme, 'https');
      assert.deepEqual([...(others?.hosts ?? [])].toSorted(), [
        'fleet.example.org',
        'fleet.example.org:30443',
        'fleet.example.org:443',
        'fleet.example.org:8443',
      ]);
    }
  });

  for (const [what, flags, says] of [
    ['no certificate', { insecureHttp: false }, /^--listen: needs --tls-cert-file/],
    ['half a certificate', { ...tls, tlsPrivateKeyFile: undefined }, /^--tls-private-key-file: is required/],
    [
      'a certificate for plain HTTP',
      { ...tls, insecureHttp: true },
      /^--insecure-http: conflicts with --tls-cert-file/,
    ],
    ['no address', { listen: '0' }, /^--listen: is 0/],
    ['an address that is none', { listen: 'here' }, /^--listen: "here" is not an address/],
    [
      'an address of metrics that is none',
      { metricsBindAddress: 'x' },
      /^--metrics-bind-address: "x" is not an address/,
    ],
    ['a URL as a host', { allowedHost: ['https://fleet'] }, /^--allowed-host: "https:\/\/fleet" is not a host/],
    ['a namespace that is none', { namespaces: 'Shop' }, /^--namespaces: "Shop" cannot be a name/],
    ['a proxy by its name', { trustedProxies: '10.0.0.0/8,ingress' }, /^--trusted-proxies: "ingress" is not a network/],
    ['an impersonation', { as: 'root' }, /^--as: conflicts with --listen/],
    ['its own port', { port: '1' }, /^--port: conflicts with --listen/],
    ['one namespace', { namespace: 'shop' }, /^--namespace: conflicts with --listen/],
  ] as const)
    it(`refuse ${what}`, () => assert.throws(() => resolve(flags), { code: 'InvalidOption', message: says }));

  it('do nothing for a dashboard of one user, which says so', () => {
    for (const [flags, flag] of [
      [{ allowedHost: ['a'] }, '--allowed-host'],
      [{ insecureHttp: true }, '--insecure-http'],
      [{ logLevel: 'debug' }, '--log-level'],
    ] as const)
      assert.throws(() => refuseServeFlags(flags), { message: `${flag}: needs --listen: give both` });
    refuseServeFlags({ port: '8080', namespace: 'shop' });
  });
});
