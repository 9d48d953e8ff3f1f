import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EventLine, emptySnapshot, type Snapshot } from '../fleet/index.ts';
import { createPlainView } from './plain-view.ts';
import type { StepProgress } from './view.ts';

const progress = (elapsedMs: number, step = 1): StepProgress => ({
  heading: 'a part',
  step,
  steps: 2,
  title: 'A step',
  text: 'A sentence.',
  speed: 10,
  elapsedMs,
  leftMs: 65_000,
});

const snapshot = (updated: number, events: readonly EventLine[] = []): Snapshot => ({
  ...emptySnapshot,
  counts: { updated, outdated: 40 - updated },
  budget: { inUse: 4, limit: 4 },
  events,
});

const view = () => {
  let text = '';
  return { ...createPlainView((more) => (text += more)), lines: () => text.split('\n').slice(0, -1) };
};

test('a step has a title, a text and a result', () => {
  const plain = view();
  plain.step(progress(1000));
  plain.passed(progress(2500), 'all is well');
  assert.deepEqual(plain.lines(), [
    '  1.0s  step 1 of 2, 1:05 min left  A step',
    '  1.0s    A sentence.',
    '  2.5s    ok     all is well',
  ]);
});

test('changes of the counts are printed at most once a second, and before the result', () => {
  const plain = view();
  plain.show(progress(0), snapshot(0));
  for (let updated = 1; updated <= 9; updated += 1) plain.show(progress(updated * 100), snapshot(updated));
  assert.equal(plain.lines().length, 1);
  plain.passed(progress(950), 'done');
  assert.deepEqual(plain.lines().slice(1), [
    '  0.9s    nodes  9 updated, 31 outdated  budget 4/4',
    '  0.9s    ok     done',
  ]);
});

test('nothing is printed twice', () => {
  const plain = view();
  plain.show(progress(0), snapshot(1));
  plain.show(progress(5000), snapshot(1));
  assert.equal(plain.lines().length, 1);
});

test('Events are printed as they arrive, except those of single pods', () => {
  const plain = view();
  const started = { reason: 'RolloutStarted', note: 'It began.', warning: false };
  const deleted = { reason: 'SuccessfulDelete', note: 'A pod.', warning: false };
  const halted = { reason: 'RolloutHalted', note: 'It ended.', warning: true };
  plain.show(progress(0), { ...emptySnapshot, events: [started] });
  plain.show(progress(0), { ...emptySnapshot, events: [started, deleted, halted] });
  assert.deepEqual(plain.lines(), [
    '  0.0s    event  RolloutStarted: It began.',
    '  0.0s    event  Warning RolloutHalted: It ended.',
  ]);
});

test('the Events of the next part start from scratch', () => {
  const plain = view();
  const event = { reason: 'RolloutStarted', note: 'It began.', warning: false };
  plain.show(progress(0), { ...emptySnapshot, events: [event, event] });
  plain.show(progress(0), emptySnapshot);
  plain.show(progress(0), { ...emptySnapshot, events: [event] });
  assert.equal(plain.lines().length, 3);
});

test('no line carries a control character', () => {
  const plain = view();
  plain.say(['words']);
  plain.step(progress(0));
  plain.show(progress(0), snapshot(3));
  plain.failed(progress(0), 'expected this; saw that');
  assert.match(plain.lines().at(-1) ?? '', /FAILED expected this; saw that/);
  assert.doesNotMatch(plain.lines().join(''), /\p{Cc}/u);
});
