import assert from 'node:assert/strict';
import { test } from 'node:test';
import { emptySnapshot } from '../fleet/index.ts';
import { createIo, type Io } from '../io.ts';
import { main } from '../main.ts';
import { chooseView } from './demo.ts';

const io = (environment: Io['environment'], columns = 80) => {
  let text = '';
  const screen = columns === 0 ? undefined : () => ({ columns, rows: 24 });
  const stdout = (more: string): void => void (text += more);
  const host = { stdout, stderr: stdout, terminal: true, screen, environment, random: Math.random };
  return { io: createIo(host, (words) => `edgeset ${words}`), text: () => text };
};

const progress = { heading: '', step: 1, steps: 1, title: 'T', text: 'L', speed: 1, elapsedMs: 0, leftMs: 0 };

const isLive = (environment: Io['environment'], columns?: number): boolean => {
  const host = io(environment, columns);
  const view = chooseView(host.io, 10);
  view.show(progress, { ...emptySnapshot, counts: { updated: 1 } });
  view.close();
  return host.text().includes('\u001B');
};

test('the picture is live on a terminal, but not in CI or with NO_COLOR', () => {
  assert.equal(isLive({}), true);
  assert.equal(isLive({}, 0), false);
  assert.equal(isLive({}, 30), false);
  assert.equal(isLive({ NO_COLOR: '1' }), false);
  assert.equal(isLive({ NO_COLOR: '' }), true);
  assert.equal(isLive({ CI: 'true' }), false);
  assert.equal(isLive({ TERM: 'dumb' }), false);
});

test('glyphs beyond ASCII need a UTF-8 locale', () => {
  const drawn = (environment: Io['environment']): string => {
    const host = io(environment);
    chooseView(host.io, 10).show(progress, emptySnapshot);
    return host.text();
  };
  assert.match(drawn({ LANG: 'en_US.UTF-8' }), /✓/);
  assert.doesNotMatch(drawn({ LANG: 'C' }), /✓/);
  assert.doesNotMatch(drawn({ LC_ALL: 'C', LANG: 'en_US.UTF-8' }), /✓/);
});

test('an unknown part is rejected before anything starts', async () => {
  const host = io({}, 0);
  assert.equal(await main(['demo', 'flet'], host.io), 2);
  assert.match(host.text(), /flet: is not a part of the demo: give one or more of fleet, auto, ota, advanced, rings/);
});
