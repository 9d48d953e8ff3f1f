import assert from 'node:assert/strict';
import { test } from 'node:test';
import { faultsOf } from './check.ts';

const INDEX = ['assets/@localSearchIndexroot.js', '"/docs/#a" "/docs/a.html#b"'] as const;
const faults = (pages: readonly string[], files: Readonly<Record<string, string>>): string[] =>
  faultsOf(pages, { base: '/docs/', files: new Map([INDEX, ...Object.entries(files)]) });

const FIRST = '<h1 id="a">A</h1> <a class="x" href="/docs/a.html">a</a>';

test('a site whose links lead somewhere has no faults', () => {
  const page =
    '<h2 id="what-it-does">x</h2><a href="#what-it-does"></a><a href="/docs/#a"></a><img src="/docs/assets/a.png"><a href="https://example.com/b">b</a>';
  assert.deepEqual(faults(['index.html', 'a.html'], { 'index.html': FIRST, 'a.html': page, 'assets/a.png': '' }), []);
});

test('links to missing files, to missing headings and out of the site are faults', () => {
  const page = '<a href="/docs/gone.html"></a><a href="/docs/index.html#b"></a><a href="/a.html"></a><img src="b.png">';
  assert.deepEqual(faults(['a.html'], { 'index.html': FIRST, 'a.html': page }), [
    'a.html: /docs/gone.html leads nowhere',
    'a.html: /docs/index.html#b leads nowhere',
    'a.html: /a.html leads nowhere',
    'a.html: b.png leads nowhere',
  ]);
});

test('a page that is not built, or that nobody finds, is a fault', () => {
  assert.deepEqual(faults(['b.html', 'c.html'], { 'index.html': FIRST, 'b.html': '' }), [
    'b.html: no link of the first page leads to it',
    "b.html: the search doesn't find it",
    'c.html: is not built',
  ]);
});

test('a page that loads something from another host is a fault', () => {
  const page =
    '<script async src="https://cdn.example.com/a.js"></script><link rel="x" href="//fonts.example.com/b.css">';
  assert.deepEqual(faults(['a.html'], { 'index.html': FIRST, 'a.html': page }), [
    'a.html: loads https://cdn.example.com/a.js',
    'a.html: loads //fonts.example.com/b.css',
  ]);
});
