import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { wcagContrast } from 'culori';
import { colorSheet, colorsOf, type Page, schemes } from './colors.ts';
import { buildPage } from './page.ts';

const pages: readonly Page[] = ['owner', 'fleet'];
const TEXT = 4.5;
const CONTROL = 3;

const grounds = ['ground', 'surface', 'sunk'];
const tinted = ['bad-ground', 'wait-ground', 'go-ground', 'ok-ground'];

/** Each text with the grounds on which a page may show it. */
const texts: Readonly<Record<string, readonly string[]>> = {
  ink: [...grounds, ...tinted],
  soft: [...grounds, 'ok-ground'],
  accent: [...grounds, 'ok-ground'],
  bad: [...grounds, 'bad-ground'],
  wait: [...grounds, 'wait-ground'],
  go: [...grounds, 'go-ground'],
  ok: [...grounds, 'ok-ground'],
  'on-accent': ['accent'],
  'on-bad': ['bad'],
};

/** Borders of controls and the ring of the focus. */
const borders: Readonly<Record<string, readonly string[]>> = {
  frame: grounds,
  focus: [...grounds, ...tinted],
  accent: grounds,
  bad: grounds,
};

const base = readFileSync(path.join(import.meta.dirname, 'base.css'), 'utf8');

/** The rules of base.css that set both a text's color and its ground. */
const rules = [...base.matchAll(/\{([^{}]*)\}/g)].flatMap(([, body = '']) => {
  const [, ground] = /\bbackground: var\(--([\w-]+)\)/.exec(body) ?? [];
  const [, text] = /(?<!-)\bcolor: var\(--([\w-]+)\)/.exec(body) ?? [];
  return ground !== undefined && text !== undefined ? [{ text, ground }] : [];
});

for (const page of pages)
  for (const scheme of schemes) {
    const colors = colorsOf(page, scheme);
    const contrast = (a: string, b: string): number => wcagContrast(colors[a] ?? '', colors[b] ?? '');

    test(`texts are legible on every ground, ${page}, ${scheme}`, () => {
      for (const [text, on] of Object.entries(texts))
        for (const ground of on)
          assert.ok(contrast(text, ground) >= TEXT, `${text} on ${ground}: ${contrast(text, ground).toFixed(2)}`);
    });

    test(`controls are seen on every ground, ${page}, ${scheme}`, () => {
      for (const [border, on] of Object.entries(borders))
        for (const ground of on)
          assert.ok(
            contrast(border, ground) >= CONTROL,
            `${border} on ${ground}: ${contrast(border, ground).toFixed(2)}`,
          );
    });
  }

test('the components of base.css use pairs that are tested', () => {
  assert.ok(rules.length > 8);
  for (const { text, ground } of rules) assert.ok(texts[text]?.includes(ground), `${text} on ${ground}`);
});

test('a page knows every color that its style sheets use', () => {
  for (const page of pages) {
    const sheet = buildPage(page).assets.find(({ path: file }) => file.endsWith('.css'))?.body ?? '';
    assert.ok(sheet.startsWith(colorSheet(page)));
    const known = new Set([...sheet.matchAll(/(--[\w-]+):/g)].map(([, name]) => name));
    for (const [, name, fallback] of sheet.matchAll(/var\((--[\w-]+)(,)?/g))
      assert.ok(fallback !== undefined || known.has(name), `${page}: ${name}`);
  }
});

test('a color stands in one place', () => {
  for (const file of ['base.css', 'owner/style.css', 'fleet/style.css'])
    assert.doesNotMatch(readFileSync(path.join(import.meta.dirname, file), 'utf8'), /#[\da-f]{3,8}\b/i, file);
});
