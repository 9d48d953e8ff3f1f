import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createTestClock } from '../../../test/support/index.ts';
import { createSessions } from './sessions.ts';

it('gives everybody a session, however many ServiceAccounts a tenant makes', () => {
  const sessions = createSessions(createTestClock());
  const open = (username: string) => {
    const opened = sessions.open('token', username, { namespace: 'shop', kind: 'ds' });
    assert.ok(opened, username);
    return opened;
  };
  const ann = open('ann');
  for (let at = 0; at < 60; at += 1) open(`system:serviceaccount:tenant:bot-${at}`);
  assert.equal(sessions.size, 51, 'the namespace counts as one');
  const bob = open('bob');
  for (let at = 0; at < 1_100; at += 1) open(`system:serviceaccount:tenant-${at % 30}:bot-${at}`);
  assert.equal(sessions.size, 1_000);
  const last = open('carol');
  for (const { id, session } of [ann, bob, last]) assert.equal(sessions.find(id), session);
  assert.equal(sessions.size, 1_000);
});
