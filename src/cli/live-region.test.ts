import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLiveRegion } from './live-region.ts';
import { ESC, terminal } from './testing/terminal.ts';

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

test('only the lines that changed are written', () => {
  const tty = terminal(80, 24);
  const written: string[] = [];
  const region = createLiveRegion(
    (text) => {
      written.push(text);
      tty.write(text);
    },
    () => tty.size,
  );
  region.draw(['one', 'two', 'three', 'four']);
  region.draw(['one', 'TWO', 'three', 'four']);
  region.draw(['one', 'TWO', 'three', '4']);
  region.draw(['1', 'TWO', 'three', '4']);
  assert.deepEqual(tty.lines(), ['1', 'TWO', 'three', '4']);
  assert.doesNotMatch(written.slice(1).join(''), /three/);
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
