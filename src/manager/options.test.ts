import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OptionError } from '../runtime/index.ts';
import { type ManagerFlags, type ManagerOptions, type OptionDefaults, resolveManagerOptions } from './options.ts';

const defaults: OptionDefaults = { controllers: ['native', 'advanced'], podNamespace: undefined, terminal: false };
const resolve = (flags: ManagerFlags = {}, changed: Partial<OptionDefaults> = {}): ManagerOptions =>
  resolveManagerOptions(flags, { ...defaults, ...changed });

test('without flags every option has its documented default', () => {
  assert.deepEqual(resolve(), {
    kubeconfig: undefined,
    context: undefined,
    controllers: ['native', 'advanced'],
    namespaces: undefined,
    predownload: false,
    firstWave: undefined,
    checksOpenKruiseLease: true,
    leaderElection: {
      namespace: 'edgeset-system',
      id: 'edgeset-manager',
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    },
    metrics: { host: '127.0.0.1', port: 8080 },
    health: { host: '127.0.0.1', port: 8081 },
    qps: 0,
    burst: 200,
    notificationsConfig: undefined,
    prometheusAddress: undefined,
    allowedCheckAddresses: [],
    logLevel: 'info',
    logFormat: 'json',
  });
});

describe('every flag has its option', () => {
  const lease = (changes: object): object => ({ ...resolve().leaderElection, ...changes });
  const cases: [ManagerFlags, Partial<Record<keyof ManagerOptions, unknown>>][] = [
    [{ kubeconfig: 'k' }, { kubeconfig: 'k' }],
    [{ context: 'c' }, { context: 'c' }],
    [{ controllers: 'advanced' }, { controllers: ['advanced'] }],
    [{ controllers: 'native, advanced,native' }, { controllers: ['native', 'advanced'] }],
    [{ namespaces: 'a,b' }, { namespaces: ['a', 'b'] }],
    [{ checkOpenkruiseLease: 'false' }, { checksOpenKruiseLease: false }],
    [{ firstWave: '5' }, { firstWave: { kind: 'int', value: 5 } }],
    [{ firstWave: '100%' }, { firstWave: { kind: 'percent', value: 100 } }],
    [{ leaderElect: 'false' }, { leaderElection: undefined }],
    [{ leaderElect: 'False' }, { leaderElection: undefined }],
    [{ leaderElect: true }, { leaderElection: lease({}) }],
    [{ leaderElect: 'true' }, { leaderElection: lease({}) }],
    [{ leaderElectionNamespace: 'n' }, { leaderElection: lease({ namespace: 'n' }) }],
    [{ leaderElectionId: 'other.edgeset' }, { leaderElection: lease({ id: 'other.edgeset' }) }],
    [{ leaderElectionLeaseDuration: '1m' }, { leaderElection: lease({ leaseDurationMs: 60_000 }) }],
    [{ leaderElectionRenewDeadline: '12' }, { leaderElection: lease({ renewDeadlineMs: 12_000 }) }],
    [{ leaderElectionRetryPeriod: '500ms' }, { leaderElection: lease({ retryPeriodMs: 500 }) }],
    [{ metricsBindAddress: ':9' }, { metrics: { host: undefined, port: 9 } }],
    [{ metricsBindAddress: '0' }, { metrics: undefined }],
    [{ healthProbeBindAddress: '[::1]:0' }, { health: { host: '::1', port: 0 } }],
    [{ healthProbeBindAddress: '0' }, { health: undefined }],
    [{ kubeApiQps: '100' }, { qps: 100 }],
    [{ kubeApiQps: '12.5' }, { qps: 12.5 }],
    [{ kubeApiBurst: '7' }, { burst: 7 }],
    [{ notificationsConfig: '/etc/n.yaml' }, { notificationsConfig: '/etc/n.yaml' }],
    [{ prometheusAddress: 'http://prom:9090/' }, { prometheusAddress: 'http://prom:9090' }],
    [{ allowedCheckAddresses: 'http://a:1/x/, https://b' }, { allowedCheckAddresses: ['http://a:1/x', 'https://b'] }],
    [{ logLevel: 'debug' }, { logLevel: 'debug' }],
    [{ logFormat: 'text' }, { logFormat: 'text' }],
  ];
  for (const [flags, changes] of cases) {
    test(JSON.stringify(flags), () => assert.deepEqual(resolve(flags), { ...resolve(), ...changes }));
  }
});

test('the Lease is in the namespace of the pod', () => {
  assert.equal(resolve({}, { podNamespace: 'fleet' }).leaderElection?.namespace, 'fleet');
});

test('logs text on a terminal unless the flag overrides it', () => {
  assert.equal(resolve({}, { terminal: true }).logFormat, 'text');
  assert.equal(resolve({ logFormat: 'json' }, { terminal: true }).logFormat, 'json');
});

describe('an invalid value is refused with the flag and what to do', () => {
  const cases: [ManagerFlags, string, RegExp][] = [
    [{ kubeconfig: '' }, '--kubeconfig', /leave the flag out/],
    [{ context: '' }, '--context', /leave the flag out/],
    [{ controllers: 'nativ' }, '--controllers', /"nativ" is not known: give one of native, advanced/],
    [{ controllers: '' }, '--controllers', /empty item/],
    [{ namespaces: 'a,,b' }, '--namespaces', /empty item/],
    [{ namespaces: 'Shop' }, '--namespaces', /lower-case/],
    [{ leaderElect: 'no' }, '--leader-elect', /true, false/],
    [{ leaderElectionNamespace: 'a.b' }, '--leader-election-namespace', /cannot be a name/],
    [{ leaderElectionId: '-' }, '--leader-election-id', /cannot be a name/],
    [{ leaderElectionLeaseDuration: '15x' }, '--leader-election-lease-duration', /is not a duration/],
    [{ leaderElectionLeaseDuration: '15s!' }, '--leader-election-lease-duration', /is not a duration/],
    [{ leaderElectionLeaseDuration: '' }, '--leader-election-lease-duration', /is not a duration/],
    [{ leaderElectionLeaseDuration: '15500ms' }, '--leader-election-lease-duration', /whole number of seconds/],
    [{ leaderElectionRenewDeadline: '15s' }, '--leader-election-renew-deadline', /shorter than/],
    [{ leaderElectionRenewDeadline: '-1' }, '--leader-election-renew-deadline', /is not a duration/],
    [{ leaderElectionRetryPeriod: '9s' }, '--leader-election-retry-period', /well below/],
    [{ leaderElectionRetryPeriod: '0s' }, '--leader-election-retry-period', /is not a duration/],
    [{ metricsBindAddress: '8080' }, '--metrics-bind-address', /:port for all interfaces/],
    [{ metricsBindAddress: '' }, '--metrics-bind-address', /is not an address/],
    [{ healthProbeBindAddress: 'h:65536' }, '--health-probe-bind-address', /is not an address/],
    [{ healthProbeBindAddress: '::1:80' }, '--health-probe-bind-address', /is not an address/],
    [{ firstWave: 'all' }, '--first-wave', /"all" is neither a whole number nor a percentage/],
    [{ firstWave: '0' }, '--first-wave', /"0" lets no node try a new revision: set at least 1 or 1%, or 100%/],
    [{ checkOpenkruiseLease: 'no' }, '--check-openkruise-lease', /true, false/],
    [{ kubeApiQps: '-1' }, '--kube-api-qps', /0 for no limit/],
    [{ kubeApiQps: 'NaN' }, '--kube-api-qps', /0 for no limit/],
    [{ kubeApiBurst: '0' }, '--kube-api-burst', /whole number from 1/],
    [{ kubeApiBurst: ' ' }, '--kube-api-burst', /whole number from 1/],
    [{ prometheusAddress: 'prom:9090' }, '--prometheus-address', /is not an address: give one such as/],
    [{ prometheusAddress: '' }, '--prometheus-address', /is not an address: give one such as/],
    [{ prometheusAddress: 'http://me:pw@prom' }, '--prometheus-address', /has credentials: put them into a Secret/],
    [{ allowedCheckAddresses: '' }, '--allowed-check-addresses', /empty item/],
    [{ allowedCheckAddresses: 'http://a,*' }, '--allowed-check-addresses', /"\*" is not an address/],
    [{ logLevel: 'trace' }, '--log-level', /debug, info, warn, error/],
    [{ logFormat: 'xml' }, '--log-format', /json, text/],
  ];
  for (const [flags, flag, remedy] of cases) {
    test(JSON.stringify(flags), () => {
      assert.throws(
        () => resolve(flags),
        (error) => {
          assert.ok(error instanceof OptionError);
          assert.equal(error.flag, flag);
          assert.ok(error.message.startsWith(`${flag}: `), error.message);
          assert.match(error.message, remedy);
          return true;
        },
      );
    });
  }
});
