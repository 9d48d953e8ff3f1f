import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySnapshot } from '../fleet/index.ts';
import { terminal } from '../testing/terminal.ts';
import { createLiveView } from './live-view.ts';
import type { StepProgress } from './view.ts';

const progress: StepProgress = {
  heading: 'a part',
  step: 1,
  steps: 2,
  title: 'A step',
  text: 'A sentence.',
  speed: 10,
  elapsedMs: 0,
  leftMs: 65_000,
};

test('a view never draws the last line of the screen, where it would scroll', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true }, 10);
  view.show(progress, {
    ...emptySnapshot,
    nodes: Array.from({ length: 400 }, (_, index) => ({ name: `n${index}`, phase: 'updated', image: '' })),
  });
  assert.ok(tty.lines().length < 24);
  assert.match(tty.lines()[0] ?? '', /step 1 of 2, 1:05 min left {2}time x10$/);
  view.passed(progress, 'what was seen');
  assert.match(tty.lines()[0] ?? '', /✓ A step: what was seen/);
  view.close();
});

test('a long result is wrapped before the last column', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true }, 10);
  view.show(progress, emptySnapshot);
  const words = Array.from({ length: 90 }, (_, index) => 'x'.repeat(1 + (index % 9)));
  view.passed(progress, words.join(' '));
  const lines = tty.lines();
  assert.ok(lines.every((line) => line.length < 80));
  assert.ok(lines.join(' ').replaceAll(/\s+/g, ' ').includes(words.join(' ')));
});

test('a failed step leaves its last picture', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true }, 10);
  view.show(progress, emptySnapshot);
  view.failed(progress, 'expected this; saw that');
  view.close();
  assert.equal(tty.isRestored(), true);
  assert.match(tty.lines().join('\n'), /✗ A step: expected this; saw that[\s\S]*A sentence\./);
});
