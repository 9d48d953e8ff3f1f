import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventInput } from '../../kube/index.ts';
import { createAgentEvents } from './events.ts';

const owner = { namespace: 'shop', daemonSet: 'till', apiVersion: 'apps/v1', uid: 'u-1' };

const open = () => {
  const link = { connected: true };
  const listeners: (() => void)[] = [];
  const sent: EventInput[] = [];
  const cache = {
    connected: () => link.connected,
    onChange(listener: () => void) {
      listeners.push(listener);
      return () => undefined;
    },
  };
  const tell = createAgentEvents({ event: (input) => void sent.push(input) }, cache, 'node-1');
  return {
    tell,
    sent,
    connect: (to: boolean): void => {
      link.connected = to;
      for (const listener of listeners) listener();
    },
  };
};

describe('Events about updates', () => {
  it('are recorded on the DaemonSet, once each', () => {
    const { tell, sent } = open();
    for (let count = 0; count < 3; count += 1) tell.record(owner, 'UpdateRefused', '7', 'the server refused.');
    tell.record(owner, 'UpdateRefused', '8', 'the server refused.');
    assert.equal(sent.length, 2);
    assert.deepEqual(sent[0], {
      regarding: { apiVersion: 'apps/v1', kind: 'DaemonSet', namespace: 'shop', name: 'till', uid: 'u-1' },
      type: 'Warning',
      reason: 'UpdateRefused',
      action: 'OwnerUpdate',
      note: 'Node node-1: the server refused.',
    });
  });

  it('wait for a connection, up to the newest hundred', () => {
    const { tell, sent, connect } = open();
    connect(false);
    for (let id = 0; id < 150; id += 1) tell.record(owner, 'OwnerDecided', String(id), `decision ${id}`);
    assert.equal(sent.length, 0);
    connect(true);
    assert.equal(sent.length, 100);
    assert.equal(sent.at(-1)?.note, 'Node node-1: decision 149');
    connect(true);
    assert.equal(sent.length, 100);
  });
});
