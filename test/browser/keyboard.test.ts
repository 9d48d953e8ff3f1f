import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../conformance/kit/until.ts';
import { decision, history } from './fixtures.ts';
import { focused, visits } from './visit.ts';

const visit = visits();

test('the tab key visits all controls in the order of the page, and wraps around', async (t) => {
  const { page, backend } = await visit(t, 'available');
  backend.remember(Array.from({ length: 3 }, () => history).flat());
  await page.getByRole('button', { name: 'Show all 6' }).waitFor();
  const seen: string[] = [];
  const order = [
    'English',
    'Download now',
    'Update now',
    'Tonight',
    'Later',
    'Not this version',
    'Technical details',
    'Technical details',
    'Show all 6',
  ];
  for (const _ of order) {
    await page.keyboard.press('Tab');
    seen.push((await focused(page)).replace(/ \(.*/, ''));
  }
  assert.deepEqual(seen, order);
  for (const _ of order.slice(1)) await page.keyboard.press('Shift+Tab');
  assert.match(await focused(page), /^English/);
});

test('the focused element is visibly focused', async (t) => {
  const { page } = await visit(t, 'available');
  await page.keyboard.press('Tab');
  const outline = 'getComputedStyle(document.activeElement).outline';
  assert.match(await page.evaluate<string>(outline), /solid 3px/);
});

test('an owner without a mouse decides, changes the decision and declines', async (t) => {
  const { page, backend, show } = await visit(t, 'available');
  backend.answer(({ choice }) => {
    show(choice.choice === 'reject' ? 'rejected' : 'queuedWindow');
    return { kind: 'accepted', status: 202, decision: decision() };
  });
  const tabTo = (words: RegExp) =>
    until(`${words.source} has the focus`, async () => {
      await page.keyboard.press('Tab');
      return words.test(await focused(page));
    });
  await tabTo(/^Tonight/);
  await page.keyboard.press('Enter');
  // Its buttons are gone, so the focus moves to the app's name.
  await until('the focus is at the name of the app', async () => (await focused(page)) === 'ticketing');
  await page.locator('.decided button[aria-disabled=false]').waitFor();
  await tabTo(/^Change/);
  await page.keyboard.press('Space');
  await tabTo(/^Not this version/);
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  for (let presses = 0; presses < 6; presses += 1) {
    await page.keyboard.press('Tab');
    assert.doesNotMatch(await focused(page), /^(Update now|Technical details|Not this version)/, 'behind the dialog');
  }
  await tabTo(/^Skip this version/);
  await page.keyboard.press('Enter');
  await page.getByText('You declined this version').waitFor();
  assert.deepEqual(
    backend.decided.map(({ choice }) => choice.choice),
    ['approve', 'reject'],
  );
});

test('the focus stays where it is while the page changes around it', async (t) => {
  const { page, show } = await visit(t, 'available');
  await page.locator('.choice', { hasText: 'Later' }).focus();
  for (const scene of ['deadline', 'downloading', 'availableOffline', 'unsafe'] as const) {
    show(scene);
    await page
      .locator(scene === 'deadline' ? '.deadline' : scene === 'downloading' ? '.download-pulling' : '.banner')
      .first()
      .waitFor();
    assert.match(await focused(page), /^Later/, scene);
  }
});

test('changes are announced to screen readers once and briefly', async (t) => {
  const { page, show } = await visit(t, 'available');
  const news = page.locator('#news');
  assert.equal(await news.getAttribute('role'), 'status');
  assert.equal(await news.innerText(), '', 'nothing at first: it is read from the page itself');
  const told = [
    ['queuedOffline', 'ticketing: Waiting for the connection.'],
    ['stopping', 'ticketing: Stopping the old version.'],
    ['starting', 'ticketing: Starting the new version.'],
    ['done', 'ticketing: Up to date.'],
  ] as const;
  for (const [scene, words] of told) {
    show(scene);
    await until(`"${words}" is said`, async () => (await news.textContent())?.trim() === words);
  }
});

test('landmarks and headings structure the page', async (t) => {
  const { page } = await visit(t, 'available');
  for (const role of ['banner', 'main', 'contentinfo'] as const)
    assert.equal(await page.getByRole(role).count(), 1, role);
  assert.match(await page.getByRole('heading', { level: 1 }).innerText(), /Updates on this device.*bus-17/s);
  assert.deepEqual(await page.getByRole('heading', { level: 2 }).allInnerTexts(), [
    'One new version waits for you',
    'History',
  ]);
  assert.deepEqual(await page.getByRole('heading', { level: 3 }).allInnerTexts(), ['ticketing', 'passenger-display']);
  assert.equal(await page.getByRole('article', { name: 'ticketing' }).count(), 1);
  // What the last update took comes with the history, after the first picture.
  await page.getByRole('button', { name: 'Update now (ticketing) Took about 2 minutes last time.' }).waitFor();
});
