import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySnapshot } from '../observer.ts';
import { createLiveRegion, createLiveView } from './live-view.ts';
import type { StepProgress } from './view.ts';

const ESC = '\u001B[';
/** A control sequence, or any other character. */
const sequence = new RegExp(`${RegExp.escape(ESC)}([?\\d;]*)([A-Za-z])|([\\s\\S])`, 'g');

/** A terminal with the control sequences that the region uses. */
const terminal = (columns: number, rows: number) => {
  let screen: string[] = [''];
  let row = 0;
  let column = 0;
  let cursor = true;
  let wraps = true;
  const size = { columns, rows };
  const control = (final: string, number: string): void => {
    if (final === 'A') row = Math.max(0, row - Number(number));
    else if (final === 'K') screen[row] = (screen[row] ?? '').slice(0, column);
    else if (final === 'J' && number === '2') screen = [''];
    else if (final === 'J') screen = [...screen.slice(0, row), (screen[row] ?? '').slice(0, column)];
    else if (final === 'H') [row, column] = [0, 0];
    else if (number === '?25') cursor = final === 'h';
    else if (number === '?7') wraps = final === 'h';
  };
  const put = (character: string): void => {
    if (character === '\r') column = 0;
    else if (character === '\n') {
      row += 1;
      column = 0;
      if (row === screen.length) screen.push('');
    } else {
      const line = (screen[row] ?? '').padEnd(column);
      screen[row] = line.slice(0, column) + character + line.slice(column + 1);
      column += 1;
    }
  };
  return {
    size,
    write: (text: string): void => {
      for (const [, number = '', final, character] of text.matchAll(sequence)) {
        if (final !== undefined) control(final, number);
        else if (character !== undefined) put(character);
      }
    },
    lines: () => screen.map((line) => line.trimEnd()),
    isRestored: () => cursor && wraps,
  };
};

test('the region is redrawn in place, and lines above it stay', () => {
  const tty = terminal(80, 24);
  const region = createLiveRegion(tty.write, () => tty.size);
  region.draw(['one', 'two, which is long']);
  region.draw(['one', 'two']);
  assert.deepEqual(tty.lines(), ['one', 'two']);
  region.above(['done']);
  assert.deepEqual(tty.lines(), ['done', 'one', 'two']);
  region.draw(['three']);
  assert.deepEqual(tty.lines(), ['done', 'three']);
});

test('nothing is written while nothing changes', () => {
  const written: string[] = [];
  const region = createLiveRegion(
    (text) => written.push(text),
    () => ({ columns: 80, rows: 24 }),
  );
  region.draw(['one']);
  region.draw(['one']);
  assert.equal(written.length, 1);
});

test('closing restores the terminal, once', () => {
  const written: string[] = [];
  const tty = terminal(80, 24);
  const region = createLiveRegion(
    (text) => {
      written.push(text);
      tty.write(text);
    },
    () => tty.size,
  );
  region.draw(['one', 'two']);
  assert.equal(tty.isRestored(), false);
  region.close();
  assert.equal(tty.isRestored(), true);
  assert.deepEqual(tty.lines(), ['']);
  const before = written.length;
  region.close();
  assert.equal(written.length, before);
});

test('after `leave`, the region stays and output continues below', () => {
  const tty = terminal(80, 24);
  const region = createLiveRegion(tty.write, () => tty.size);
  region.draw(['one', 'two']);
  region.leave();
  assert.equal(tty.isRestored(), true);
  tty.write('three');
  region.close();
  assert.deepEqual(tty.lines(), ['one', 'two', 'three']);
});

test('a resized window is redrawn', () => {
  const tty = terminal(80, 24);
  const region = createLiveRegion(tty.write, () => tty.size);
  region.draw(['one', 'two']);
  tty.size.columns = 60;
  region.draw(['three']);
  assert.deepEqual(tty.lines(), ['three']);
});

const progress: StepProgress = {
  heading: 'a part',
  step: 1,
  steps: 2,
  title: 'A step',
  text: 'A sentence.',
  speed: 10,
  elapsedMs: 0,
};

test('a view never draws the last line of the screen, where it would scroll', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true, speed: 10 });
  view.show(progress, {
    ...emptySnapshot,
    nodes: Array.from({ length: 400 }, (_, index) => ({ name: `n${index}`, phase: 'updated', image: '' })),
  });
  assert.ok(tty.lines().length < 24);
  view.passed(progress, 'what was seen');
  assert.match(tty.lines()[0] ?? '', /✓ A step: what was seen/);
  view.close();
});

test('a long result is wrapped before the last column', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true, speed: 10 });
  view.show(progress, emptySnapshot);
  const words = Array.from({ length: 90 }, (_, index) => 'x'.repeat(1 + (index % 9)));
  view.passed(progress, words.join(' '));
  const lines = tty.lines();
  assert.ok(lines.every((line) => line.length < 80));
  assert.ok(lines.join(' ').replaceAll(/\s+/g, ' ').includes(words.join(' ')));
});

test('a failed step leaves its last picture', () => {
  const tty = terminal(80, 24);
  const view = createLiveView({ write: tty.write, screen: () => tty.size, unicode: true, speed: 10 });
  view.show(progress, emptySnapshot);
  view.failed(progress, 'expected this; saw that');
  view.close();
  assert.equal(tty.isRestored(), true);
  assert.match(tty.lines().join('\n'), /✗ A step: expected this; saw that[\s\S]*A sentence\./);
});

test('a frame is enclosed in mode 2026', () => {
  const written: string[] = [];
  createLiveRegion(
    (text) => written.push(text),
    () => ({ columns: 80, rows: 24 }),
  ).draw(['one']);
  assert.ok(written[0]?.startsWith(`${ESC}?2026h`));
  assert.ok(written[0]?.endsWith(`${ESC}?2026l`));
});
