import assert from 'node:assert/strict';
import { it } from 'node:test';
import { createPage } from './page.ts';

it('has each file of a page in memory once, however many connections it waits on', async () => {
  const page = createPage(async () => [{ path: '/', contentType: 'text/html', body: '<p>é</p>', etag: '"1"' }]);
  const [first, second] = [await page.find('/', undefined), await page.find('/', undefined)];
  assert.ok(first?.body instanceof Buffer);
  assert.equal(first.body.toString(), '<p>é</p>');
  assert.equal(second?.body, first.body);
});
