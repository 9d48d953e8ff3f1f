import assert from 'node:assert/strict';
import { describe, it, type TestContext, test } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { cells, type FakeFleet, head, row, serveFleet } from '../../src/dashboard/testing/index.ts';
import { misfits, violations } from './checks.ts';
import { type SceneName, scenes, titled } from './fixtures.ts';
import { pages, screens, type VisitOptions, visits } from './visit.ts';

const visit = visits();

const names = Object.keys(scenes) as SceneName[];

for (const colorScheme of ['light', 'dark'] as const) {
  for (const [screen, viewport] of Object.entries(screens)) {
    test(`each state is accessible and fits the screen, ${screen}, ${colorScheme}`, async (t) => {
      const { page, backend } = await visit(t, 'current', { colorScheme, viewport });
      await page.evaluate(axe.source);
      for (const name of names) {
        await t.test(name, async () => {
          backend.show(titled(scenes[name], name));
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

test('a step that failed has a glyph of its own, also with forced colours, and says so to screen readers', async (t) => {
  for (const forcedColors of ['none', 'active'] as const) {
    const { page } = await visit(t, 'failed', { forcedColors });
    const [glyph, ink, ground] = await page.evaluate<string[]>(`(() => {
      const dot = document.querySelector('.step-failed .dot');
      const { content, color } = getComputedStyle(dot, '::after');
      return [content, color, getComputedStyle(dot).backgroundColor];
    })()`);
    assert.equal(glyph, '"×"');
    assert.notEqual(ink, ground);
    assert.match(await page.locator('.step-failed p').first().innerText(), /New version does not run\s*, failed/);
  }
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
      backend.show(titled(scenes[name], name));
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

describe('the dashboard is accessible, and says what is the matter,', () => {
  const open = pages();
  const none: FakeFleet = { rows: undefined, rollout: undefined };
  const known: FakeFleet = { rows: [row], rollout: { type: 'rollout', head, nodes: cells } };

  const visitFleet = async (t: TestContext, fleet: FakeFleet, options: VisitOptions = {}) => {
    const server = await serveFleet(fleet);
    const { page } = await open(t, server.origin, {
      path: server.entry(),
      close: () => server.close(),
      reducedMotion: 'reduce',
      ...options,
    });
    await page.evaluate(axe.source);
    return { page, server };
  };
  const check = async (page: Page, state: string): Promise<void> => {
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      assert.deepEqual(await violations(page), [], `${state}, ${colorScheme}`);
    }
  };
  const goTo = (page: Page, hash: string) => page.evaluate(`location.hash = '${hash}'`);

  it('while it still reads', async (t) => {
    const { page } = await visitFleet(t, none);
    await page.getByText('Reading the rollouts…').waitFor();
    await check(page, 'the overview');
    await goTo(page, '#/shop/ds/web');
    await page.getByText('Reading the fleet…').waitFor();
    await check(page, 'a rollout');
  });

  it('where nothing is', async (t) => {
    const empty = { ...head, online: 0, phases: { ...head.phases, updated: 0, offline: 0 } };
    const { page } = await visitFleet(t, { rows: [], rollout: { type: 'rollout', head: empty, nodes: [] } });
    await page.getByText('No DaemonSet has opted in yet.').waitFor();
    await check(page, 'no rollouts');
    await goTo(page, '#/shop/ds/web');
    await page.getByRole('region', { name: 'Nodes' }).getByText('0 / 0').waitFor();
    await check(page, 'no nodes');
  });

  it('while it does not answer, and continues when it does', async (t) => {
    let server = await serveFleet(known);
    const { page } = await open(t, server.origin, {
      path: server.entry(),
      close: () => server.close(),
      allow: /ERR_|Failed to load/,
      reducedMotion: 'reduce',
    });
    await page.evaluate(axe.source);
    const state = page.locator('.live');
    await state.getByText('live').waitFor();
    await goTo(page, '#/shop/ds/web');
    await page.getByRole('button', { name: '1 updated' }).waitFor();
    await server.close();
    await page.getByRole('alert').getByText('The dashboard does not answer; retrying.').waitFor();
    assert.equal(await page.getByRole('heading', { name: 'web' }).count(), 1, 'what was known stays');
    await check(page, 'a rollout');
    assert.equal(await page.getByRole('button', { name: 'Pause…' }).isDisabled(), true, 'nobody acts on what is old');
    await goTo(page, '#/');
    await page.getByRole('link', { name: 'web' }).waitFor();
    await check(page, 'the overview');
    server = await serveFleet(known, server.port);
    await state.getByText('live').waitFor({ timeout: 60_000 });
  });

  it('to somebody who may not', async (t) => {
    const { page, server } = await visitFleet(t, known, { allow: /status of (40[134]|502)/ });
    await goTo(page, '#/shop/ads/web');
    await page.getByText('there is no such rollout, or you may not see it').waitFor();
    await check(page, 'a rollout that is not for them');
    await goTo(page, '#/shop/ds/web?node=shop-1');
    const drawer = page.getByRole('complementary', { name: 'Node shop-1' });
    await drawer.getByText('Not shown: the node: nodes "shop-1" is forbidden').waitFor();
    await check(page, 'a node');
    assert.deepEqual(await page.getByLabel('Group by').locator('option').allInnerTexts(), ['nothing']);
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Undo…' }).click();
    await page.getByRole('dialog').getByText('"web" is forbidden').waitFor();
    assert.equal(await page.getByRole('button', { name: 'Undo', exact: true }).count(), 0);
    await check(page, 'a command');
    await page.evaluate('sessionStorage.clear()');
    await page.goto(server.origin);
    await page.getByRole('heading', { name: 'Open the dashboard again' }).waitFor();
    assert.equal(await page.getByText('does not answer').count(), 0);
    await page.evaluate(axe.source);
    await check(page, 'everything');
  });
});
