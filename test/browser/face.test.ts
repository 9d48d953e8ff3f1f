// Every state of the dashboard, on a phone, a desk and a wall, in light and dark.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { type FakeFleet, serveFleet } from '../../src/dashboard/testing/index.ts';
import { violations } from './checks.ts';
import { fleetOf, type RolloutScene, rolloutScenes, rows } from './face-scenes.ts';
import { pages } from './visit.ts';

const SCREENS = [
  { width: 390, height: 844 },
  { width: 1_440, height: 900 },
  { width: 2_560, height: 1_440 },
] as const;

/** Text that its box cuts off, what is wider than the screen or out of line, and times that nobody's clock shows. */
const cutOff = (page: Page): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const found = [];
    const root = document.documentElement;
    if (root.scrollWidth > root.clientWidth) found.push('the page is ' + root.scrollWidth + ' px wide');
    const [brand, title] = ['.brand', 'h1'].map((one) => document.querySelector(one)?.getBoundingClientRect().left);
    if (Math.abs(brand - title) > 1) found.push('the top bar begins at ' + brand + ' px, and the page at ' + title);
    if (/\\d-\\d\\dT\\d\\d:/.test(document.body.innerText)) found.push('a time in UTC');
    for (const element of document.querySelectorAll('body *')) {
      const style = getComputedStyle(element);
      // For screen readers only.
      if (style.clipPath !== 'none' || style.visibility === 'hidden' || element.clientWidth === 0) continue;
      const scrolls = ['auto', 'scroll'].includes(style.overflowX);
      const hasText = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== '');
      const isMeant = style.textOverflow === 'ellipsis' && element.title !== '';
      const says = element.tagName + '.' + element.className + ' "' + element.textContent.slice(0, 40) + '"';
      if (hasText && !isMeant && style.overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1)
        found.push(says + (scrolls ? ' scrolls' : ' is cut off'));
      if (hasText && ['hidden', 'clip'].includes(style.overflowY) && !isMeant && element.scrollHeight > element.clientHeight + 1)
        found.push(says + ' is cut off below');
      // axe takes text in the color of its ground for hidden on purpose.
      if (hasText && style.color === style.backgroundColor) found.push(says + ' has the color of its ground');
      const { right } = element.getBoundingClientRect();
      if (hasText && right > root.clientWidth + 1 && !element.closest('.tabs, .scroll'))
        found.push(says + ' leaves the screen');
    }
    return found;
  })()`);

describe('the dashboard, on each screen and in both schemes,', { timeout: 600_000 }, () => {
  const open = pages();

  const visit = async (t: TestContext, fleet: FakeFleet, hash = '') => {
    const server = await serveFleet(fleet);
    const { page } = await open(t, server.origin, {
      path: server.entry(),
      viewport: SCREENS[1],
      close: () => server.close(),
      reducedMotion: 'reduce',
      // What nobody may read on this server, or what it refuses.
      allow: /status of 40[134]|ERR_|Failed to load/,
    });
    await page.evaluate(axe.source);
    if (hash !== '') await page.evaluate(`location.hash = '${hash}'`);
    return { page, server };
  };

  const check = async (page: Page, what: string): Promise<void> => {
    for (const viewport of SCREENS) {
      await page.setViewportSize(viewport);
      // In the dark only the colors are others.
      for (const [colorScheme, rules] of [['light'], ['dark', ['color-contrast', 'link-in-text-block']]] as const) {
        await page.emulateMedia({ colorScheme });
        const where = `${what}, ${viewport.width} px, ${colorScheme}`;
        assert.deepEqual(await violations(page, rules), [], where);
        assert.deepEqual(await cutOff(page), [], where);
      }
    }
  };

  const rollout = (tab = '', more = ''): string => `#/pos/ds/payment-terminal?group=site${tab && `&tab=${tab}`}${more}`;
  const isShown = (page: Page) => page.getByRole('heading', { name: 'payment-terminal', level: 1 }).waitFor();

  it('shows all rollouts, or how to opt in', async (t) => {
    const { page } = await visit(t, { rows, rollout: undefined });
    await page.getByRole('link', { name: 'payment-terminal' }).waitFor();
    await check(page, 'the overview');
    const { page: empty } = await visit(t, { rows: [], rollout: undefined });
    await empty.getByText('No DaemonSet has opted in yet.').waitFor();
    await check(empty, 'no rollout');
    const { page: reading } = await visit(t, { rows: undefined, rollout: undefined });
    await check(reading, 'reading');
  });

  for (const scene of rolloutScenes)
    it(`shows a rollout that is ${scene}`, async (t) => {
      const { page } = await visit(t, fleetOf(scene), rollout());
      await isShown(page);
      await page.getByRole('application').first().waitFor();
      await check(page, scene);
    });

  const tabs: readonly (readonly [tab: string, scene: RolloutScene])[] = [
    ['stages', 'approval'],
    ['timeline', 'running'],
    ['history', 'halted'],
    ['events', 'halted'],
    ['settings', 'invalid'],
  ];
  for (const [tab, scene] of tabs)
    it(`shows the tab ${tab}`, async (t) => {
      const event = {
        reason: 'RolloutHalted',
        message: 'The rollout is halted.',
        warning: true,
        at: new Date().toISOString(),
        count: 3,
      };
      const { page } = await visit(
        t,
        { ...fleetOf(scene), events: { events: [event], missing: ['Events of pods'] } },
        rollout(tab),
      );
      await isShown(page);
      await check(page, tab);
    });

  it('shows a node, and a command before it is run', async (t) => {
    const { page } = await visit(t, fleetOf('halted'), rollout('', '&node=aachen-1'));
    await page.getByRole('complementary', { name: 'Node aachen-1' }).getByText('It runs the target.').waitFor();
    await check(page, 'a node');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Undo/ }).first().click();
    await page
      .getByRole('dialog')
      .getByText(/is forbidden/)
      .waitFor();
    await check(page, 'a command that is refused');
  });

  it('has the command for a policy that is not valid, and no button for it', async (t) => {
    const { page } = await visit(t, fleetOf('invalid'), rollout());
    const why = page.getByRole('region', { name: 'The rollout policy is not valid' });
    await why.getByText('kubectl edit ds/payment-terminal -n pos').waitFor();
    assert.deepEqual(await why.getByRole('button').allInnerTexts(), ['copy']);
  });

  it('names the label of the address, also one that no node has', async (t) => {
    const { page } = await visit(t, fleetOf('halted'), '#/pos/ds/payment-terminal?group=elsewhere');
    const groupBy = page.getByLabel('Group by');
    await groupBy.getByText('site').waitFor({ state: 'attached' });
    assert.equal(await groupBy.inputValue(), 'elsewhere');
  });

  it('shows the whole map on a wall, where nobody scrolls or decides', async (t) => {
    for (const [scene, group] of [
      ['halted', 'site'],
      ['approval', '.stage'],
    ] as const) {
      const { page } = await visit(t, fleetOf(scene), `#/pos/ds/payment-terminal?group=${group}&wall=on`);
      await isShown(page);
      for (const viewport of [{ width: 1_920, height: 1_080 }, SCREENS[2]]) {
        await page.setViewportSize(viewport);
        await page.evaluate('new Promise(requestAnimationFrame)');
        const [all, shown] = await page.evaluate<[number, number]>(
          '[document.documentElement.scrollHeight, document.documentElement.clientHeight]',
        );
        assert.ok(all <= shown, `${scene}, ${viewport.width} px: ${all} of ${shown} px`);
        assert.equal(await page.getByRole('button', { name: /^Approve/ }).count(), 0);
      }
    }
  });

  it('says from when what it shows is, once nobody answers', async (t) => {
    const { page, server } = await visit(t, fleetOf('running'), rollout());
    await isShown(page);
    const pause = page.getByRole('button', { name: /^Pause/ });
    await pause.waitFor();
    await server.close();
    await page
      .getByRole('alert')
      .getByText(/This is what was known at/)
      .waitFor();
    await check(page, 'disconnected');
    assert.equal(await pause.isDisabled(), true);
  });
});
