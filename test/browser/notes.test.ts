import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import { misfits, violations } from './checks.ts';
import { HOSTILE, history } from './fixtures.ts';
import { button, phone, visits } from './visit.ts';

const visit = visits();

test('what changes is shown above the question, line by line', async (t) => {
  const { page } = await visit(t, 'notes');
  const card = page.getByRole('article', { name: 'ticketing' });
  assert.match(await card.innerText(), /What is new\s*Tickets print twice as fast\.\nThe day pass.*Update now/s);
  assert.equal(await page.locator('.notes button').count(), 0, 'all of it is visible');
});

test('notes are text, whatever they contain', async (t) => {
  const { page } = await visit(t, 'hostileNotes', { viewport: { width: 1280, height: 900 } });
  assert.equal(await page.locator('.notes-text').innerText(), HOSTILE);
  assert.equal(await page.locator('.notes-text *').count(), 0);
  assert.equal(await page.title(), 'Updates on this device');
  // Nor is there a second button to press.
  assert.equal(await page.getByRole('button', { name: /Update now/ }).count(), 1);
  assert.equal(await page.getByRole('link').count(), 0);
});

test('long notes show their first lines, and all of them on demand', async (t) => {
  const { page, show } = await visit(t, 'longNotes', { viewport: phone });
  await page.evaluate(axe.source);
  const words = page.locator('.notes-text');
  const height = async (): Promise<number> => (await words.boundingBox())?.height ?? 0;
  const short = await height();
  assert.ok(short < 60, `${short}`);
  const more = button(page, 'Show all');
  assert.equal(await more.getAttribute('aria-expanded'), 'false');
  await more.click();
  await button(page, 'Show less').waitFor();
  assert.ok((await height()) > 4 * short);
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await misfits(page), []);
  await button(page, 'Show less').click();
  await more.waitFor();
  assert.equal(await height(), short);
  show('notes');
  await more.waitFor({ state: 'detached' });
});

test('a phone shows the question, its answers and the first of the notes without scrolling', async (t) => {
  const { page } = await visit(t, 'notes', { viewport: phone });
  const bottom = await page.evaluate<number>("document.querySelector('.choices').getBoundingClientRect().bottom");
  assert.ok(bottom <= phone.height, `the answers end at ${bottom}`);
});

test('of size and duration, only what is known is shown', async (t) => {
  const { page, backend, show } = await visit(t, 'available');
  const download = page.locator('.download').first();
  assert.equal((await download.innerText()).trim().split('\n')[0], 'Not downloaded');
  assert.equal(await download.locator('small').count(), 0);
  await page.getByText('Took about 2 minutes last time.').waitFor();
  assert.match(await page.locator('.history').innerText(), /Updated\s*Took 2 minutes\./);
  backend.remember(history.filter(({ tookSeconds }) => tookSeconds === undefined));
  await page.getByText('The app stops for a moment.').waitFor();
  show('sized');
  await page.getByText('Installed: 48 MB').waitFor();
  show('downloaded');
  await page.getByText('Size: 1.2 GB').waitFor();
  await page.getByLabel('Language').selectOption('Deutsch');
  await page.getByText('Größe: 1,2 GB').waitFor();
});

test('to decline is a quieter choice, apart from the answers', async (t) => {
  const { page } = await visit(t, 'available', { viewport: { width: 1024, height: 768 } });
  const [answer, decline] = [
    await button(page, 'Later').boundingBox(),
    await button(page, 'Not this version').boundingBox(),
  ];
  assert.ok(answer && decline && decline.y >= answer.y + answer.height, 'below the answers');
  const style = (property: string): Promise<string> =>
    page.evaluate<string>(`getComputedStyle(document.querySelector('.faint')).${property}`);
  assert.equal(await style('fontWeight'), '400');
  assert.equal(await style('backgroundColor'), 'rgba(0, 0, 0, 0)');
});

test('what happens while the history is read is in it, too', async (t) => {
  const { page, backend, show } = await visit(t, 'available');
  await page.getByText('Took about 2 minutes last time.').waitFor();
  const reading = Promise.withResolvers<void>();
  const read = Promise.withResolvers<void>();
  // The agent answers at once, and its answer is on its way for long.
  await page.route(
    '**/history',
    async (route) => {
      const response = await route.fetch();
      reading.resolve();
      await read.promise;
      await route.fulfill({ response });
    },
    { times: 1 },
  );
  backend.remember(history);
  await reading.promise;
  backend.remember(Array.from({ length: 3 }, () => history).flat());
  show('sized');
  await page.getByText('Installed: 48 MB').waitFor();
  read.resolve();
  await page.getByRole('button', { name: 'Show all 6' }).waitFor();
});
