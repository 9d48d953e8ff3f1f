import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { languages } from '../../web/owner/text/index.ts';
import { misfits, violations } from './checks.ts';
import { device, history, type Scene, type SceneName, scenes, titled, update } from './fixtures.ts';
import { phone, visits } from './visit.ts';

const visit = visits();

const SAID = 'A sentence of the agent.';
const names = Object.keys(scenes) as SceneName[];

/** The scene with a sentence of the agent wherever it may send one. */
const saying = (scene: Scene): Scene => ({
  device: scene.device,
  updates: scene.updates.map((each) => ({
    ...each,
    message: SAID,
    image: { ...each.image, message: SAID },
    decision: each.decision && { ...each.decision, ...(each.decision.result !== undefined && { result: SAID }) },
  })),
});

const langOf = (page: Page): Promise<string> => page.evaluate<string>('document.documentElement.lang');

/** The texts that can be seen, without those that are marked as English. */
const wordsOf = (page: Page): Promise<string> =>
  page.evaluate<string>(`[...document.querySelectorAll('main, footer')].map((part) => part.innerText).join('\\n')`);

for (const text of languages) {
  test(`in ${text.language}, each state is accessible, fits a phone and shows none of the agent's sentences`, async (t) => {
    const { page, backend } = await visit(t, 'current', { locale: text.language, viewport: phone });
    await page.evaluate(axe.source);
    assert.equal(await langOf(page), text.language);
    assert.equal(await page.title(), text.title);
    backend.remember(history.map((entry) => ({ ...entry, result: SAID })));
    for (const name of names) {
      await t.test(name, async () => {
        backend.show(saying(titled(scenes[name], name)));
        await page.locator('.device', { hasText: name }).waitFor();
        const words = await wordsOf(page);
        assert.ok(!words.includes(SAID), words);
        assert.deepEqual(await violations(page), []);
        assert.deepEqual(await misfits(page), []);
      });
    }
  });

  test(`in ${text.language}, a phone shows the question and its answers, and all steps, without scrolling`, async (t) => {
    const { page, backend } = await visit(t, 'available', { locale: text.language, viewport: phone });
    const bottomOf = (selector: string): Promise<number> =>
      page.evaluate<number>(`document.querySelector('${selector}').getBoundingClientRect().bottom`);
    assert.ok((await bottomOf('.choices')) <= phone.height, `choices end at ${await bottomOf('.choices')}`);
    for (const name of ['queuedWindow', 'queuedWithheld', 'stopping', 'starting', 'failed'] as const) {
      backend.show(titled(scenes[name], name));
      await page.locator('.device', { hasText: name }).waitFor();
      assert.ok((await bottomOf('.steps')) <= phone.height, `${name}: steps end at ${await bottomOf('.steps')}`);
    }
  });
}

test('the switch changes every text at once, and the choice outlives a reload', async (t) => {
  const { page } = await visit(t, 'available', { locale: 'de-AT' });
  const now = page.locator('.choice.main');
  assert.match(await now.innerText(), /Jetzt aktualisieren/);
  const language = page.getByLabel('Sprache');
  assert.deepEqual(await language.locator('option').allInnerTexts(), ['English', 'Deutsch', '简体中文']);
  await language.selectOption('简体中文');
  await page.locator('.choice.main', { hasText: '立即更新' }).waitFor();
  assert.equal(await langOf(page), 'zh-Hans');
  assert.equal(await page.title(), '本设备上的更新');
  assert.equal(await page.locator('#news').innerText(), '', 'another language is no news');
  await page.reload();
  await page.locator('.choice.main', { hasText: '立即更新' }).waitFor();
  await page.getByLabel('语言').selectOption('English');
  await page.locator('.choice.main', { hasText: 'Update now' }).waitFor();
});

test('where the browser keeps nothing, the switch works until the page is closed', async (t) => {
  const { page } = await visit(t, 'available');
  await page.addInitScript(`Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied'); } })`);
  await page.reload();
  await page.getByLabel('Language').selectOption('Deutsch');
  await page.locator('.choice.main', { hasText: 'Jetzt aktualisieren' }).waitFor();
});

test('a notice changes its language, too', async (t) => {
  const { page, backend } = await visit(t, 'available', { allow: /409/ });
  backend.answer(() => ({ kind: 'refused', status: 409, reason: 'OtherRevision', message: SAID }));
  await page.locator('.choice.main').click();
  await page.getByRole('alert').waitFor();
  await page.getByLabel('Language').selectOption('Deutsch');
  await page.getByRole('alert').filter({ hasText: 'Inzwischen hat sich etwas geändert' }).waitFor();
});

test('what the agent says to an administrator is marked as English', async (t) => {
  const trouble = 'cannot save: the disk is full';
  const { page, backend } = await visit(t, 'available', { locale: 'de' });
  backend.show({ device: device({ disk: { trouble, damage: null } }), updates: [update({ message: SAID })] });
  await page.locator('.banner').waitFor();
  assert.equal(await page.locator('.banner [lang=en]').innerText(), trouble);
  await page.locator('summary').first().click();
  assert.deepEqual(await page.locator('dl [lang=en]').allInnerTexts(), [`NewRevision: ${SAID}`]);
});

test('dates follow the language, and all fonts are those of the device', async (t) => {
  const { page } = await visit(t, 'deadline', { locale: 'de' });
  assert.match(await page.locator('.deadline').innerText(), /spätestens Montag, 23\. November um 18:34 Uhr/);
  assert.equal(await page.evaluate<number>('document.fonts.size'), 0);
});
