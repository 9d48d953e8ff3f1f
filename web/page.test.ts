import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildPage } from './page.ts';

const { assets: files } = buildPage('owner');
const at = (pattern: RegExp) => files.find((file) => pattern.test(file.path));

test('the page is HTML, a script, a style and an icon, which the HTML names by their hashes', () => {
  assert.deepEqual(
    files.map(({ contentType }) => contentType),
    ['text/html; charset=utf-8', 'text/javascript; charset=utf-8', 'text/css; charset=utf-8', 'image/svg+xml'],
  );
  const html = at(/^\/$/)?.body ?? '';
  for (const { path } of files.slice(1)) {
    assert.match(path, /^\/\w+-[A-Z0-9]{8}\.\w+$/);
    assert.ok(html.includes(`"${path}"`), path);
  }
});

test('nothing in the page is inline or from elsewhere, so that a strict policy lets it run', () => {
  const html = at(/^\/$/)?.body ?? '';
  assert.doesNotMatch(html, /<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=/i);
  assert.doesNotMatch(html, /(src|href)="(?!\/\w)/);
  assert.doesNotMatch(at(/\.css$/)?.body ?? '', /@import|url\(/);
  assert.doesNotMatch(at(/\.js$/)?.body ?? '', /\beval\(|new Function\(/);
});

test('every file has its own etag, the same at each build', () => {
  assert.equal(new Set(files.map(({ etag }) => etag)).size, files.length);
  for (const { etag } of files) assert.match(etag, /^"[\w-]{22}"$/);
  assert.deepEqual(buildPage('owner').assets, files);
});

test('the page is small enough for a slow device', () => {
  const bytes = files.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
  assert.ok(bytes < 100_000, `${bytes} bytes`);
});

test('the page draws the icons that it names, and holds no others', () => {
  const script = at(/\.js$/)?.body ?? '';
  for (const name of ['globe', 'moon', 'refresh-cw']) assert.match(script, new RegExp(`"?${name}"?:'<`), name);
  assert.doesNotMatch(script, /snowflake|undo-2/);
});
