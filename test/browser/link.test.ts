import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { scenes } from './fixtures.ts';
import { serve } from './stage.ts';
import { button, visits } from './visit.ts';

const visit = visits();

const NETWORK = /Failed to load resource|ERR_/;

test('offline, one sentence says since when, what works and what waits', async (t) => {
  const { page, show } = await visit(t, 'available');
  assert.equal(await page.locator('.banner').count(), 0);
  show('availableOffline');
  const banner = page.locator('.banner');
  await banner.waitFor();
  assert.match(
    await banner.innerText(),
    /offline.*No connection since today at 14:48.*keep running.*You can still decide/s,
  );
  assert.match(await page.locator('.connection').innerText(), /Offline/);
  assert.match(await button(page, 'Update now').innerText(), /As soon as the device is online/);
  show('available');
  await banner.waitFor({ state: 'detached' });
});

test('a device that is not safe is shown with the reason', async (t) => {
  const { page } = await visit(t, 'unsafe');
  assert.match(await page.locator('.banner').innerText(), /Not a good moment.*the engine is running/s);
  assert.match(await button(page, 'Update now').innerText(), /As soon as the device says it is safe/);
});

test('when the agent stops, the page shows it, accepts no decisions, and recovers by itself', async (t) => {
  const { page, backend, served } = await visit(t, 'available', { allow: NETWORK });
  await served.close();
  const banner = page.locator('.banner', { hasText: 'does not answer' });
  await banner.waitFor();
  assert.match(await banner.innerText(), /No answer since today at 17:\d\d/);
  assert.match(await page.locator('.connection').innerText(), /No answer/);
  await button(page, 'Update now').click({ force: true });
  assert.equal(backend.decided.length, 0);
  assert.match(await page.locator('article').first().innerText(), /decide again as soon as the update service answers/);
  backend.show(scenes.queuedWindow);
  const again = await serve(backend, served.port);
  t.after(() => again.close());
  await banner.waitFor({ state: 'detached', timeout: 60_000 });
  await page.locator('.decided').waitFor();
});

test('a hanging agent is detected, although its connections stay open', async (t) => {
  const { page, served } = await visit(t, 'available', { allow: NETWORK });
  await page.clock.install();
  await page.reload();
  await button(page, 'Update now').waitFor();
  await page.route('**/device', () => undefined);
  await page.clock.fastForward(16_000);
  await page.clock.fastForward(9_000);
  await page.locator('.banner', { hasText: 'does not answer' }).waitFor({ timeout: 60_000 });
  assert.ok(served.port > 0);
});

test('a decision without response is not shown as a success', async (t) => {
  const { page } = await visit(t, 'available', { allow: NETWORK });
  await page.route('**/decision', (route) => route.abort());
  await button(page, 'Tonight').click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /your decision may not have been saved/);
});

test('a user without access is told so', async (t) => {
  const { page } = await visit(t, 'available', { allow: NETWORK });
  await page.route('**/edgeset.io/v1/**', (route) =>
    route.fulfill({ status: 403, contentType: 'application/json', body: '{"kind":"Status","message":"no"}' }),
  );
  await page.reload();
  await page.locator('.banner', { hasText: 'You do not have access to this page' }).waitFor();
});

test('after too many requests, the page asks the owner to wait', async (t) => {
  const { page } = await visit(t, 'available', { allow: NETWORK });
  await page.route('**/decision', (route) => route.fulfill({ status: 429, body: 'slow down' }));
  await button(page, 'Tonight').click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /Wait a moment, then try again/);
});

test('a page that never reached its agent says what is wrong', async (t) => {
  const silent = createServer(() => undefined);
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const { page } = await visit(t, 'available', { allow: NETWORK });
  await page.route('**/edgeset.io/v1/**', (route) => route.abort());
  await page.reload();
  const banner = page.locator('.banner', { hasText: 'does not answer' });
  await banner.waitFor();
  assert.match(await banner.innerText(), /could not reach it/);
});
