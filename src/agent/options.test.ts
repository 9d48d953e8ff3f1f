import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OptionError } from '../runtime/index.ts';
import { type AgentFlags, type AgentOptions, type OptionDefaults, resolveAgentOptions } from './options.ts';

const defaults: OptionDefaults = { environment: {}, terminal: false, passwdFile: '/nonexistent' };
const resolve = (flags: AgentFlags = {}, changed: Partial<OptionDefaults> = {}): AgentOptions =>
  resolveAgentOptions({ nodeName: 'node-1', timeZone: 'UTC', ...flags }, { ...defaults, ...changed });

const onLoopback = { tcp: { host: '127.0.0.1', port: 10267 }, tls: undefined, unixSocket: undefined, allowedHosts: [] };

test('without flags, every option has its documented default', () => {
  assert.deepEqual(resolve(), {
    kubeconfig: undefined,
    context: undefined,
    node: 'node-1',
    listen: onLoopback,
    stateDir: '/var/lib/edgeset',
    namespaces: undefined,
    allowedUids: new Set([0]),
    tokenFile: undefined,
    readNode: false,
    safeCheck: undefined,
    timeZone: 'UTC',
    metrics: undefined,
    health: undefined,
    logLevel: 'info',
    logFormat: 'json',
  });
});

test('the node name comes from NODE_NAME, unless the flag is given', () => {
  const environment = { NODE_NAME: 'node-7.example' };
  assert.equal(resolveAgentOptions({ timeZone: 'UTC' }, { ...defaults, environment }).node, 'node-7.example');
  assert.equal(resolve({}, { environment }).node, 'node-1');
});

const tls = { tlsCertFile: 'c', tlsPrivateKeyFile: 'k' };
const tlsFiles = { certFile: 'c', keyFile: 'k', clientCaFile: undefined };

describe('every flag sets its option', () => {
  const cases: [AgentFlags, Partial<Record<keyof AgentOptions, unknown>>][] = [
    [{ kubeconfig: 'k' }, { kubeconfig: 'k' }],
    [{ context: 'c' }, { context: 'c' }],
    [{ nodeName: 'van.fleet' }, { node: 'van.fleet' }],
    [{ listen: '[::1]:7' }, { listen: { ...onLoopback, tcp: { host: '::1', port: 7 } } }],
    [{ listen: 'localhost:7' }, { listen: { ...onLoopback, tcp: { host: 'localhost', port: 7 } } }],
    [{ listen: '0', unixSocket: '/s' }, { listen: { ...onLoopback, tcp: undefined, unixSocket: '/s' } }],
    [
      { listen: ':7', ...tls, tokenFile: 't' },
      { listen: { ...onLoopback, tcp: { host: undefined, port: 7 }, tls: tlsFiles }, tokenFile: 't' },
    ],
    [
      { listen: '10.0.0.1:7', ...tls, clientCaFile: 'a' },
      { listen: { ...onLoopback, tcp: { host: '10.0.0.1', port: 7 }, tls: { ...tlsFiles, clientCaFile: 'a' } } },
    ],
    [{ stateDir: '/d' }, { stateDir: '/d' }],
    [{ stateDir: 'd' }, { stateDir: `${process.cwd()}/d` }],
    [{ namespaces: 'a, b,a' }, { namespaces: ['a', 'b'] }],
    [{ allowUser: ['1000', 'root'] }, { allowedUids: new Set([1000, 0]) }],
    [
      { allowedHost: ['Till.shop', 'proxy:80', '[fe80::1]:8'] },
      { listen: { ...onLoopback, allowedHosts: ['till.shop', 'proxy:80', '[fe80::1]:8'] } },
    ],
    [{ tokenFile: 't' }, { tokenFile: 't' }],
    [{ readNode: true }, { readNode: true }],
    [{ safeCheck: '/usr/bin/parked' }, { safeCheck: '/usr/bin/parked' }],
    [{ safeCheck: 'http://127.0.0.1:9/safe' }, { safeCheck: 'http://127.0.0.1:9/safe' }],
    [{ timeZone: 'europe/berlin' }, { timeZone: 'Europe/Berlin' }],
    [{ metricsBindAddress: ':9' }, { metrics: { host: undefined, port: 9 } }],
    [{ healthProbeBindAddress: '127.0.0.1:9' }, { health: { host: '127.0.0.1', port: 9 } }],
    [{ logLevel: 'debug' }, { logLevel: 'debug' }],
    [{ logFormat: 'text' }, { logFormat: 'text' }],
  ];
  for (const [flags, changes] of cases) {
    test(JSON.stringify(flags), () => assert.deepEqual(resolve(flags), { ...resolve(), ...changes }));
  }
});

describe('an invalid value is refused with the flag and the fix', () => {
  const cases: [AgentFlags, string, RegExp][] = [
    [{ kubeconfig: '' }, '--kubeconfig', /leave the flag out/],
    [{ nodeName: '' }, '--node-name', /leave the flag out/],
    [{ nodeName: 'Node 1' }, '--node-name', /cannot be a name/],
    [{ listen: '10267' }, '--listen', /is not an address/],
    [{ listen: '0' }, '--listen', /needs --unix-socket/],
    [{ listen: ':7' }, '--listen', /other machines: give --tls-cert-file.*--token-file or --client-ca-file/],
    [{ listen: '10.0.0.1:7', ...tls }, '--listen', /--token-file or --client-ca-file/],
    [{ listen: '0.0.0.0:7', tokenFile: 't' }, '--listen', /--tls-cert-file/],
    [{ listen: 'example.org:7', tokenFile: 't' }, '--listen', /--tls-cert-file/],
    [{ tlsCertFile: 'c' }, '--tls-private-key-file', /is required/],
    [{ tlsPrivateKeyFile: 'k' }, '--tls-cert-file', /is required/],
    [{ clientCaFile: 'a' }, '--client-ca-file', /needs TLS/],
    [{ unixSocket: 's' }, '--unix-socket', /absolute path/],
    [{ stateDir: '' }, '--state-dir', /leave the flag out/],
    [{ namespaces: 'a,,b' }, '--namespaces', /empty item/],
    [{ namespaces: 'a.b' }, '--namespaces', /cannot be a name/],
    [{ allowUser: ['ghost'] }, '--allow-user', /no user "ghost"/],
    [{ allowUser: ['65534'] }, '--allow-user', /its own uid/],
    [{ allowedHost: ['http://x'] }, '--allowed-host', /without http/],
    [{ allowedHost: ['x/y'] }, '--allowed-host', /NAME or NAME:PORT/],
    [{ tokenFile: '' }, '--token-file', /leave the flag out/],
    [{ safeCheck: 'parked' }, '--safe-check', /absolute path of an executable nor an HTTP URL/],
    [{ safeCheck: 'ftp://x' }, '--safe-check', /HTTP URL/],
    [{ timeZone: 'Mars/Olympus' }, '--time-zone', /Europe\/Berlin/],
    [{ timeZone: '' }, '--time-zone', /Europe\/Berlin/],
    [{ metricsBindAddress: 'x' }, '--metrics-bind-address', /is not an address/],
    [{ healthProbeBindAddress: '' }, '--health-probe-bind-address', /is not an address/],
    [{ logLevel: 'trace' }, '--log-level', /debug, info, warn, error/],
  ];
  for (const [flags, flag, remedy] of cases) {
    test(JSON.stringify(flags), () => {
      assert.throws(
        () => resolve(flags),
        (error) => {
          assert.ok(error instanceof OptionError);
          assert.equal(error.flag, flag);
          assert.match(error.message, remedy);
          return true;
        },
      );
    });
  }
  test('the node name is required', () => {
    assert.throws(() => resolveAgentOptions({}, defaults), { code: 'InvalidOption', flag: '--node-name' });
  });
});

test("takes the machine's time zone without a flag", () =>
  assert.equal(resolveAgentOptions({ nodeName: 'node-1' }, defaults).timeZone, Temporal.Now.timeZoneId()));
