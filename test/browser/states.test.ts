import assert from 'node:assert/strict';
import { test } from 'node:test';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { type SceneName, scenes } from './fixtures.ts';
import { screens, visits } from './visit.ts';

const visit = visits();

const names = Object.keys(scenes) as SceneName[];

const violations = async (page: Page): Promise<string[]> => {
  const { violations: found } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
  return found.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
};

/** Elements that are wider than the screen or too small for a thumb. */
const misfits = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push('the page is ' + root.scrollWidth + ' px wide');
    for (const control of document.querySelectorAll('button, summary, a')) {
      const { width, height } = control.getBoundingClientRect();
      if (width < 44 || height < 44) found.push(control.innerText + ': ' + width + ' by ' + height);
    }
    return found;
  })()`);

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [screen, viewport] of Object.entries(screens)) {
    test(`each state is accessible and fits the screen, ${screen}, ${colorScheme}`, async (t) => {
      const { page, backend } = await visit(t, 'current', { colorScheme, viewport });
      await page.evaluate(axe.source);
      for (const name of names) {
        await t.test(name, async () => {
          // The node name is unique, so it shows when the page has this state.
          const scene = scenes[name];
          backend.show({ ...scene, device: { ...scene.device, node: name } });
          await page.locator('.device', { hasText: name }).waitFor();
          assert.deepEqual(await violations(page), []);
          assert.deepEqual(await misfits(page), []);
        });
      }
    });
  }
}

test('dialogs and details are accessible and fit the screen', async (t) => {
  const { page } = await visit(t, 'queuedWindow');
  await page.evaluate(axe.source);
  await page.locator('summary').first().click();
  await page.getByRole('button', { name: 'Change' }).click();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await misfits(page), []);
  await page.getByRole('button', { name: 'Not this version' }).click();
  await page.getByRole('dialog').waitFor();
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(await misfits(page), []);
});

test('with forced colours, everything is legible', async (t) => {
  const { page, show, shows } = await visit(t, 'available', { forcedColors: 'active' });
  await page.evaluate(axe.source);
  assert.deepEqual(await violations(page), []);
  show('stopping');
  await shows('ticketing', 'updating');
  assert.deepEqual(await violations(page), []);
});

test('at 200 %, and at 400 % on a screen of 1280, nothing is cut off', async (t) => {
  for (const viewport of [
    { width: 180, height: 320 },
    { width: 400, height: 240 },
    { width: 320, height: 256 },
  ]) {
    const { page, backend } = await visit(t, 'current', { viewport });
    for (const name of names) {
      const scene = scenes[name];
      backend.show({ ...scene, device: { ...scene.device, node: name } });
      await page.locator('.device', { hasText: name }).waitFor();
      assert.deepEqual(await misfits(page), [], `${name} at ${viewport.width}`);
    }
  }
});

test('with reduced motion, nothing moves', async (t) => {
  const { page, show, shows } = await visit(t, 'available', { reducedMotion: 'reduce' });
  show('starting');
  await shows('ticketing', 'updating');
  assert.equal(await page.evaluate<number>('document.getAnimations().length'), 0);
});
