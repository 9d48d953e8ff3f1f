import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OptionError } from '../../runtime/index.ts';
import { resolveDemoOptions } from './options.ts';

test('without arguments, all parts run in their order', () => {
  assert.deepEqual(resolveDemoOptions([], {}), {
    parts: ['fleet', 'auto', 'ota', 'advanced', 'rings'],
    keep: false,
    dashboard: false,
    fleet: 40,
    speed: 10,
    seed: 1,
    picture: undefined,
  });
});

test('parts can be separated by spaces or commas, in any order', () => {
  assert.deepEqual(resolveDemoOptions(['auto,', 'fleet'], {}).parts, ['fleet', 'auto']);
  assert.deepEqual(resolveDemoOptions(['auto,fleet'], {}).parts, ['fleet', 'auto']);
  assert.deepEqual(resolveDemoOptions(['fleet'], {}).parts, ['fleet']);
});

test('a dashboard needs its cluster afterwards', () => {
  const { dashboard, keep } = resolveDemoOptions([], { dashboard: true, browser: true });
  assert.deepEqual([dashboard, keep], [true, true]);
});

const refused = [
  { words: ['flet'], flags: {}, flag: 'flet' },
  { words: [], flags: { fleet: '4' }, flag: '--fleet' },
  { words: [], flags: { fleet: '1001' }, flag: '--fleet' },
  { words: [], flags: { fleet: '12.5' }, flag: '--fleet' },
  { words: [], flags: { fleet: '' }, flag: '--fleet' },
  { words: [], flags: { speed: '0' }, flag: '--speed' },
  { words: [], flags: { speed: 'fast' }, flag: '--speed' },
  { words: [], flags: { seed: '-1' }, flag: '--seed' },
  { words: [], flags: { browser: false }, flag: '--no-browser' },
  { words: [], flags: { picture: '' }, flag: '--picture' },
  { words: ['auto'], flags: { picture: 'a.svg' }, flag: '--picture' },
] as const;

for (const { words, flags, flag } of refused)
  test(`rejects ${[...words, ...Object.entries(flags).map(([name, value]) => `--${name} "${value}"`)].join(' ')}`, () => {
    assert.throws(
      () => resolveDemoOptions(words, flags),
      (error) => error instanceof OptionError && error.flag === flag,
    );
  });
