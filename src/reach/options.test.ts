import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OptionError } from '../runtime/index.ts';
import { type ReachFlags, resolveReachOptions } from './options.ts';

const resolve = (flags: ReachFlags = {}) => resolveReachOptions(flags, { podNamespace: undefined, terminal: false });

test('without flags every option has its documented default', () => {
  assert.deepEqual(resolve(), {
    kubeconfig: undefined,
    context: undefined,
    terms: { settleMs: 10_000, suspectWindowMs: 900_000 },
    fleet: { checkInMs: 900_000, offlineAfterMs: 2_700_000 },
    leaderElection: {
      namespace: 'edgeset-system',
      id: 'edgeset-reach',
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
    },
    metrics: { host: '127.0.0.1', port: 8080 },
    health: { host: '127.0.0.1', port: 8081 },
    logLevel: 'info',
    logFormat: 'json',
  });
});

test('the times are durations, and those of nodes may be 0', () => {
  assert.deepEqual(resolve({ settleTime: '0', suspectWindow: '0s' }).terms, { settleMs: 0, suspectWindowMs: 0 });
  assert.deepEqual(resolve({ settleTime: '1m', suspectWindow: '1h' }).terms, {
    settleMs: 60_000,
    suspectWindowMs: 3_600_000,
  });
  assert.deepEqual(resolve({ fleetCheckinInterval: '1m' }).fleet, { checkInMs: 60_000, offlineAfterMs: 180_000 });
  assert.equal(resolve({ fleetOfflineAfter: '16m' }).fleet.offlineAfterMs, 960_000);
});

test('an invalid flag is refused with its name and the remedy', () => {
  const cases: [ReachFlags, string, RegExp][] = [
    [{ settleTime: 'soon' }, '--settle-time', /is not a duration: give seconds or a form such as/],
    [{ settleTime: '-1' }, '--settle-time', /is not a duration/],
    [{ suspectWindow: '' }, '--suspect-window', /is not a duration/],
    [{ fleetCheckinInterval: '0' }, '--fleet-checkin-interval', /is not a duration/],
    [{ fleetOfflineAfter: '15m' }, '--fleet-offline-after', /longer than --fleet-checkin-interval, which is 900 s/],
    [{ kubeconfig: '' }, '--kubeconfig', /is empty/],
    [{ leaderElect: 'no' }, '--leader-elect', /true, false/],
    [{ logLevel: 'loud' }, '--log-level', /give one of/],
  ];
  for (const [flags, flag, problem] of cases)
    assert.throws(
      () => resolve(flags),
      (error) => error instanceof OptionError && error.flag === flag && problem.test(error.message),
      JSON.stringify(flags),
    );
});
