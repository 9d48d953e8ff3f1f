import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, Update } from '../types.ts';
import { answersOf, chosenName, isWithheld, mayDecide } from './choices.ts';

const now = Date.parse('2026-11-21T16:20:00Z');

const update = (changes: Partial<Update>): Update => ({
  apiVersion: 'apps/v1',
  namespace: 'default',
  daemonSet: 'app',
  pod: 'app-1',
  state: 'available',
  reason: 'NewRevision',
  message: '',
  running: { revision: 'a', images: [], ready: true },
  target: { revision: 'b', images: null, publishedAt: null, notes: null },
  image: { state: 'unknown', message: '' },
  size: { running: null, target: null },
  decision: null,
  choices: { approve: true, postpone: true, reject: true, tonight: { from: '01:00', to: '04:00' } },
  deadline: null,
  ...changes,
});

const decided = (decision: Decision['decision'], state: Decision['state'] = 'open'): Update =>
  update({
    decision: {
      id: 1,
      namespace: 'default',
      daemonSet: 'app',
      revision: 'b',
      decision,
      by: { identity: 'uid:0', via: 'loopback' },
      at: '2026-11-21T16:00:00Z',
      state,
    },
  });

const answers = (choices: Partial<Update['choices']> = {}) =>
  answersOf(update({ choices: { ...update({}).choices, ...choices } }), now, 'Europe/Berlin');

test('a decision maps back to the answer that made it', () => {
  for (const name of ['now', 'tonight', 'later', 'reject'] as const) {
    const choice = answers()[name];
    assert.ok(choice);
    assert.equal(chosenName(decided(choice)), name);
  }
});

test("later asks again the next day at 18:00 in the device's time zone", () => {
  assert.deepEqual(answers().later, { choice: 'postpone', until: '2026-11-22T17:00:00.000Z' });
});

test("the answers are those that the agent accepts, and tonight is the agent's", () => {
  assert.deepEqual(answers().tonight, { choice: 'approve', when: { type: 'window', from: '01:00', to: '04:00' } });
  assert.deepEqual(Object.keys(answers({ tonight: null, reject: false })), ['now', 'later']);
  assert.deepEqual(Object.keys(answers({ approve: false, postpone: false, tonight: null })), ['reject']);
});

test('a decision made by other means, or a settled one, is not a choice of the page', () => {
  assert.equal(chosenName(update({})), undefined);
  assert.equal(chosenName(decided({ choice: 'reject' }, 'replaced')), undefined);
  assert.equal(
    chosenName(decided({ choice: 'approve', when: { type: 'window', from: '10:00', to: '11:00' } })),
    undefined,
  );
});

test('the owner decides what the agent accepts, unless nobody can tell what the state is', () => {
  assert.equal(mayDecide(update({})), true);
  assert.equal(mayDecide(update({ choices: { ...update({}).choices, approve: false } })), false);
  assert.equal(mayDecide(update({ state: 'unknown' })), false);
});

test('a version that is not offered yet is distinguished from a running one', () => {
  const target = { revision: 'b', images: null, publishedAt: null, notes: null };
  assert.equal(isWithheld(update({ state: 'current', reason: 'Paused', target })), true);
  assert.equal(isWithheld(update({ state: 'current', target: { ...target, revision: 'a' } })), false);
  assert.equal(isWithheld(update({ state: 'current', target: { ...target, revision: null } })), false);
  assert.equal(isWithheld(update({ state: 'queued', reason: 'Paused', target })), false);
});
