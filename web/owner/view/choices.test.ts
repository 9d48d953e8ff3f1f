import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, Update } from '../types.ts';
import { choiceOf, chosenName, isWithheld, mayDecide } from './choices.ts';

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

test('a decision maps back to the choice that made it', () => {
  for (const name of ['now', 'tonight', 'later', 'reject'] as const) {
    assert.equal(chosenName(decided(choiceOf(name, now, 'Europe/Berlin'))), name);
  }
});

test("later asks again the next day at 18:00 in the device's time zone", () => {
  assert.deepEqual(choiceOf('later', now, 'Europe/Berlin'), { choice: 'postpone', until: '2026-11-22T17:00:00.000Z' });
});

test('a decision made by other means, or a settled one, is not a choice of the page', () => {
  assert.equal(chosenName(update({})), undefined);
  assert.equal(chosenName(decided({ choice: 'reject' }, 'replaced')), undefined);
  assert.equal(
    chosenName(decided({ choice: 'approve', when: { type: 'window', from: '10:00', to: '11:00' } })),
    undefined,
  );
});

test('there is no decision for a version that is unknown, runs, fails or was withdrawn', () => {
  assert.equal(mayDecide(update({})), true);
  assert.equal(mayDecide(update({ target: { revision: null, images: null, publishedAt: null, notes: null } })), false);
  for (const state of ['current', 'updating', 'failed', 'halted'] as const) {
    assert.equal(mayDecide(update({ state })), false, state);
  }
});

test('a version that is not offered yet is distinguished from a running one', () => {
  const target = { revision: 'b', images: null, publishedAt: null, notes: null };
  assert.equal(isWithheld(update({ state: 'current', reason: 'Paused', target })), true);
  assert.equal(isWithheld(update({ state: 'current', target: { ...target, revision: 'a' } })), false);
  assert.equal(isWithheld(update({ state: 'current', target: { ...target, revision: null } })), false);
  assert.equal(isWithheld(update({ state: 'queued', reason: 'Paused', target })), false);
});
