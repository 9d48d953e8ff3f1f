import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toCall } from '../../simulation/network/call.ts';
import { createReport } from '../report.ts';
import { createProcessView } from '../state/process-view.ts';
import { createSenderCheck } from './sender.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const NAMESPACE = '/namespaces/default';

describe('the check of what a process sends', () => {
  /** 10 settled nodes and a budget of 10%; an update of node-0 is in flight. At 60 s a slot is reserved for node-1. */
  const reserveBeside = (joins: { at: number; settleMs: number; ready?: boolean; pod?: boolean }): string[] => {
    let now = START;
    const view = createProcessView({ group: 'apps', name: 'app' }, () => now);
    const report = createReport(() => now);
    const sender = createSenderCheck({ report, viewOf: () => view, clockOf: () => now, settleMs: joins.settleMs });
    const say = (plural: string, object: object): void => view.applyEvent(plural, plural, { type: 'ADDED', object });
    const conditions = (ready: boolean) => ({ conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] });
    const node = (name: string, ready: boolean): void =>
      say('nodes', { metadata: { name }, status: conditions(ready) });
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app', uid: 'app', controller: true };
    const pod = (nodeName: string): void =>
      say('pods', {
        metadata: { name: `app-${nodeName}`, uid: `app-${nodeName}`, resourceVersion: '1', ownerReferences: [owner] },
        spec: { nodeName, containers: [] },
        status: conditions(true),
      });
    say('daemonsets', {
      apiVersion: 'apps/v1',
      metadata: { name: 'app', uid: 'app', annotations: { 'apps.openyurt.io/max-unavailable': '10%' } },
      spec: { template: { spec: { containers: [] } } },
    });
    for (let index = 0; index < 10; index += 1) {
      node(`node-${index}`, true);
      pod(`node-${index}`);
    }
    node('node-10', false);
    if (joins.pod !== false) pod('node-10');
    now = START + joins.at;
    node('node-10', joins.ready ?? true);
    now = START + 60_000;
    const reservations = ['node-0', 'node-1'].map((each) => ({ node: each, podUID: `app-${each}`, rollout: 1 }));
    const [inFlight, fresh] = reservations;
    const path = `/apis/edgeset.io/v1alpha1${NAMESPACE}/daemonrollouts/app/status`;
    const body = JSON.stringify({ status: { reservations: [{ ...inFlight, carriedOut: true }, fresh] } });
    sender.onReserve(toCall({ method: 'PUT', path, body, headers: {} }, JSON.parse, 'manager-1', now));
    return report.violations.map(({ invariant }) => invariant);
  };

  it('counts a node that came back before the write', () => {
    assert.deepEqual(reserveBeside({ at: 59_999, settleMs: 0 }), []);
    assert.deepEqual(reserveBeside({ at: 50_000, settleMs: 10_000 }), []);
  });

  it('leaves open whether an event at the moment of the write came before the decision', () => {
    assert.deepEqual(reserveBeside({ at: 60_000, settleMs: 0 }), []);
  });

  it('finds too many nodes that are down, whenever the decision was made', () => {
    assert.deepEqual(reserveBeside({ at: 59_999, settleMs: 0, ready: false }), ['S2']);
    assert.deepEqual(reserveBeside({ at: 59_999, settleMs: 10_000 }), ['S2'], 'not settled yet');
    assert.deepEqual(reserveBeside({ at: 60_000, settleMs: 10_000 }), ['S2'], 'not settled yet');
    assert.deepEqual(reserveBeside({ at: 60_000, settleMs: 0, pod: false }), ['S2'], 'the node that came is down');
  });
});
