// The name of the device, and how to reach its administrator: annotations of the Node.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { device, update } from './fixtures.ts';
import { visits } from './visit.ts';

const visit = visits();

/** Where the page says how to reach the administrator, in which words, and what that opens. */
const said = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`[...document.querySelectorAll('.administrator')].map((line) => [
    line.closest('footer, .banner, .notice, article').tagName,
    line.querySelector('strong, a').innerText,
    line.querySelector('a')?.getAttribute('href') ?? 'text',
  ].join(' '))`);

test('the page shows the name that people use, and the name of the Node below', async (t) => {
  const { page, show } = await visit(t, 'named');
  assert.equal(await page.locator('.device').innerText(), 'Bus 17, Großmühlstraße depot');
  assert.match(await page.locator('footer').innerText(), /call this device bus-17\./);
  show('available');
  await page.locator('.device', { hasText: 'bus-17' }).waitFor();
  assert.doesNotMatch(await page.locator('footer').innerText(), /bus-17/);
});

test('the administrator is named in the footer, and where something failed or the page can do nothing', async (t) => {
  const { page, show, shows } = await visit(t, 'named');
  const phone = '+49 30 1234567 tel:+49301234567';
  assert.deepEqual(await said(page), [`FOOTER ${phone}`]);
  show('failedNamed');
  await shows('ticketing', 'failed');
  assert.deepEqual(await said(page), [`ARTICLE ${phone}`, `FOOTER ${phone}`]);
  show('unknownCode');
  await shows('ticketing', 'unknown');
  const code = 'Code 4711 at the counter text';
  assert.deepEqual(await said(page), [`ARTICLE ${code}`, `FOOTER ${code}`]);
  show('unkeptNamed');
  await page.locator('.banner').waitFor();
  const help = 'https://example.org/fleet/help https://example.org/fleet/help';
  assert.deepEqual(await said(page), [`DIV ${help}`, `FOOTER ${help}`]);
  show('available');
  await page.locator('.administrator').first().waitFor({ state: 'detached' });
  assert.deepEqual(await said(page), []);
});

test('a refusal that only the administrator can end says how to reach them', async (t) => {
  const { page, backend } = await visit(t, 'named', { allow: /403|409/ });
  const notice = page.locator('.notice');
  const press = (): Promise<void> => page.locator('.choice.main[aria-disabled=false]').click();
  backend.answer(() => ({ kind: 'refused', status: 403, reason: 'CallerGone', message: '' }));
  await press();
  await notice.filter({ hasText: 'not allowed' }).waitFor();
  assert.equal(await notice.locator('.administrator').count(), 1);
  backend.answer(() => ({ kind: 'refused', status: 409, reason: 'OtherRevision', message: '' }));
  await press();
  await notice.filter({ hasText: 'in the meantime' }).waitFor();
  assert.equal(await notice.locator('.administrator').count(), 0);
});

test('no other scheme becomes a link, and a link leaves the page open', async (t) => {
  const { page, backend } = await visit(t, 'named');
  assert.equal(await page.locator('.reach').getAttribute('rel'), 'noopener noreferrer');
  assert.equal(await page.locator('.reach').getAttribute('target'), '_blank');
  for (const administrator of [
    'javascript:document.title=1',
    'data:text/html,x',
    'http://example.org',
    '//evil.test',
  ]) {
    backend.show({ device: device({ administrator, displayName: administrator }), updates: [update()] });
    await page.locator('.device', { hasText: administrator }).waitFor();
    assert.deepEqual(await said(page), [`FOOTER ${administrator} text`]);
    assert.equal(await page.locator('a').count(), 0);
  }
});
