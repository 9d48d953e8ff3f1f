import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EventLine, emptyScene, type Playing, type Scene } from '../scene.ts';
import { createPlainView } from './plain-view.ts';

const playing = (elapsedMs: number, step = 1): Playing => ({
  heading: 'a part',
  step,
  steps: 2,
  title: 'A step',
  look: 'A sentence.',
  speed: 10,
  elapsedMs,
});

const scene = (updated: number, events: readonly EventLine[] = []): Scene => ({
  ...emptyScene,
  counts: { updated, outdated: 40 - updated },
  budget: { inUse: 4, limit: 4 },
  events,
});

const view = () => {
  let text = '';
  return { ...createPlainView((more) => (text += more)), lines: () => text.split('\n').slice(0, -1) };
};

test('a step is its title, its sentence and what was seen', () => {
  const plain = view();
  plain.step(playing(1000));
  plain.passed(playing(2500), 'all is well');
  assert.deepEqual(plain.lines(), [
    '  1.0s  step 1/2  A step',
    '  1.0s    A sentence.',
    '  2.5s    ok     all is well',
  ]);
});

test('changes of the counts are told once a second at most, and the last one before the verdict', () => {
  const plain = view();
  plain.show(playing(0), scene(0));
  for (let updated = 1; updated <= 9; updated += 1) plain.show(playing(updated * 100), scene(updated));
  assert.equal(plain.lines().length, 1);
  plain.passed(playing(950), 'done');
  assert.deepEqual(plain.lines().slice(1), [
    '  0.9s    nodes  9 updated, 31 outdated  budget 4/4',
    '  0.9s    ok     done',
  ]);
});

test('nothing is told twice', () => {
  const plain = view();
  plain.show(playing(0), scene(1));
  plain.show(playing(5000), scene(1));
  assert.equal(plain.lines().length, 1);
});

test('Events are told as they come, those of single pods left out', () => {
  const plain = view();
  const started = { reason: 'RolloutStarted', note: 'It began.', warning: false };
  const deleted = { reason: 'SuccessfulDelete', note: 'A pod.', warning: false };
  const halted = { reason: 'RolloutHalted', note: 'It ended.', warning: true };
  plain.show(playing(0), { ...emptyScene, events: [started] });
  plain.show(playing(0), { ...emptyScene, events: [started, deleted, halted] });
  assert.deepEqual(plain.lines(), [
    '  0.0s    event  RolloutStarted: It began.',
    '  0.0s    event  Warning RolloutHalted: It ended.',
  ]);
});

test('the Events of another part begin anew', () => {
  const plain = view();
  const event = { reason: 'RolloutStarted', note: 'It began.', warning: false };
  plain.show(playing(0), { ...emptyScene, events: [event, event] });
  plain.show(playing(0), emptyScene);
  plain.show(playing(0), { ...emptyScene, events: [event] });
  assert.equal(plain.lines().length, 3);
});

test('no line carries a control character', () => {
  const plain = view();
  plain.say(['words']);
  plain.step(playing(0));
  plain.show(playing(0), scene(3));
  plain.failed(playing(0), 'expected this; saw that');
  assert.match(plain.lines().at(-1) ?? '', /FAILED expected this; saw that/);
  assert.doesNotMatch(plain.lines().join(''), /\p{Cc}/u);
});
