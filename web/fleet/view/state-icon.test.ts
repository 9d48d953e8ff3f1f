import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tone } from '../types.ts';
import { setIcon, stateIcon } from './state-icon.ts';

const tones = ['bad', 'wait', 'go', 'ok'] as const;

test('each state has an icon of its own, with a glyph', () => {
  const icons = tones.map((tone) => decodeURIComponent(stateIcon(tone)));
  assert.equal(new Set(icons).size, tones.length);
  for (const icon of icons) {
    assert.match(icon, /^data:image\/svg\+xml,<svg xmlns="[^"]+" viewBox="0 0 10 10">/);
    assert.equal(icon.match(/<path /g)?.length, 2, icon);
    assert.doesNotMatch(icon, /undefined|NaN/);
  }
});

test('the page gets its own icon back', (t) => {
  const link = { href: '/icon.svg' };
  Object.assign(globalThis, { document: { querySelector: () => link } });
  t.after(() => Reflect.deleteProperty(globalThis, 'document'));
  const shown = (['go', 'bad', 'idle'] as readonly Tone[]).map((tone) => {
    setIcon(tone);
    return link.href;
  });
  assert.deepEqual(shown, [stateIcon('go'), stateIcon('bad'), '/icon.svg']);
});
