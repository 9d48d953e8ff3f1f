import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { type FakeFleet, head, row, serveFleet } from '../../src/dashboard/testing/index.ts';
import { until } from '../conformance/kit/until.ts';
import { violations } from './checks.ts';
import { focused, pages, type VisitOptions } from './visit.ts';

type Cell = NonNullable<Extract<FakeFleet['rollout'], { type: 'rollout' }>>['nodes'][number];

const cell = (name: string, phase: Cell[1], owner: Cell[7] = ''): Cell => [name, phase, '', 'h', 0, 0, '', owner];
const phases = { ...head.phases, updated: 1, failed: 2, outdated: 1, offline: 0 };
const halted = { ...head, phases, online: 4, eligible: 4 };
const NODES = [
  cell('shop-10', 'failed'),
  cell('shop-1', 'updated'),
  cell('shop-3', 'outdated'),
  cell('shop-2', 'failed'),
];
const ROWS = [
  row,
  { ...row, name: 'cache', state: 'running', status: 'Rolling out' } as const,
  { ...row, name: 'done', state: 'complete', status: 'Complete' } as const,
];
const FLEET: FakeFleet = {
  rows: ROWS,
  rollout: { type: 'rollout', head: halted, nodes: NODES },
  labels: { site: 'north' },
};
const WEB = '#/shop/ds/web';

const open = pages();

const visit = async (t: TestContext, fleet: FakeFleet = FLEET, options: VisitOptions = {}): Promise<Page> => {
  const server = await serveFleet(fleet);
  const { page } = await open(t, server.origin, {
    viewport: { width: 1280, height: 800 },
    path: server.entry(),
    close: () => server.close(),
    ...options,
  });
  await page.evaluate(axe.source);
  return page;
};
const goTo = (page: Page, hash: string) => page.evaluate(`location.hash = '${hash}'`);
const hashOf = (page: Page) => page.evaluate<string>('location.hash');
const toRollout = async (page: Page, hash = WEB): Promise<void> => {
  await goTo(page, hash);
  await page.locator('.grid canvas').first().waitFor();
};
const becomes = (what: string, page: Page, wanted: RegExp) =>
  until(`${what}: ${wanted.source}`, async () => wanted.test(await hashOf(page)));
const palette = (page: Page) => page.getByRole('combobox', { name: 'Find a rollout, node or site' });
const found = (page: Page) => page.getByRole('listbox').getByRole('option');
const options = (page: Page) => found(page).allInnerTexts();
const titles = async (page: Page) => (await options(page)).map((text) => text.split('\n')[0]);

describe('the palette', () => {
  it('finds a node by a part of its name, and opens it without a mouse', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    assert.equal(await palette(page).getAttribute('aria-expanded'), 'true');
    await page.keyboard.type('shop-');
    assert.deepEqual((await titles(page)).slice(0, 4), ['shop-1', 'shop-2', 'shop-3', 'shop-10'], 'in natural order');
    await page.keyboard.press('ArrowDown');
    const active = await palette(page).getAttribute('aria-activedescendant');
    const chosen = page.locator(`#${active}`);
    assert.equal(await chosen.getAttribute('aria-selected'), 'true');
    assert.match(await chosen.innerText(), /^shop-2\n+failed\n+node$/);
    assert.deepEqual(await violations(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Node shop-2' }).waitFor();
    assert.equal(await palette(page).count(), 0);
    assert.equal(await focused(page), 'shop-2');
  });

  it('opens with a slash, and closes with Escape, where the focus was', async (t) => {
    const page = await visit(t);
    const link = page.getByRole('link', { name: 'web' });
    await link.focus();
    await page.keyboard.press('/');
    await palette(page).waitFor();
    assert.equal(await palette(page).inputValue(), '', 'the key itself is not typed');
    await page.keyboard.press('Escape');
    await palette(page).waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'web');
  });

  it('finds rollouts from the page of another one, its tabs, and what can be done', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    await page.getByRole('button', { name: /^Find rollout/ }).click();
    await page.keyboard.type('cache shop');
    await page.getByRole('option', { name: /cache/ }).waitFor();
    await page.keyboard.press('Enter');
    await becomes('the rollout', page, /^#\/shop\/ds\/cache$/);
    await page.keyboard.press('/');
    await page.keyboard.type('histo');
    await page.getByRole('option', { name: /History/ }).waitFor();
    await page.keyboard.press('Enter');
    await becomes('the tab', page, /tab=history/);
    await page.keyboard.press('/');
    await page.keyboard.type('undo');
    await page.getByRole('option', { name: /Undo/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('dialog[open]').waitFor();
    assert.equal(await palette(page).count(), 0);
  });

  it('finds the values of labels, of which the map then shows one', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    await page.keyboard.press('/');
    await page.keyboard.type('site=n');
    await page.getByRole('option', { name: /site=north/ }).waitFor();
    await page.keyboard.press('Enter');
    await becomes('the address', page, /group=site&value=north/);
    await page.getByRole('button', { name: 'north: show all groups' }).click();
    await becomes('the address', page, /group=site$/);
    await page.getByRole('link', { name: 'edgeset' }).click();
    await becomes('the overview', page, /^#\/\?group=site$/);
    await page.getByRole('link', { name: 'cache' }).click();
    await becomes('the grouping of the next rollout', page, /^#\/shop\/ds\/cache\?group=site$/);
  });

  it('says that nothing is found, and shows fifty of ten thousand', async (t) => {
    const nodes = Array.from({ length: 10_000 }, (_, index) => cell(`shop-${index}`, 'updated'));
    const page = await visit(t, { ...FLEET, rollout: { type: 'rollout', head: halted, nodes } });
    await toRollout(page);
    await page.keyboard.press('/');
    await page.keyboard.type('shop-');
    await page.getByText('50 of 10000: type more').waitFor();
    assert.equal((await options(page)).length, 50);
    await page.keyboard.type('9999');
    await page.getByText('1 found').waitFor();
    await page.keyboard.type('9');
    await page.getByText('No matches.').waitFor();
    assert.equal(await palette(page).getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('Enter');
    assert.equal(await palette(page).count(), 1, 'there is nothing to open');
  });
});

describe('keys', () => {
  it('move through the rollouts and open one', async (t) => {
    const page = await visit(t);
    await page.getByRole('link', { name: 'web' }).waitFor();
    const seen: string[] = [];
    for (const key of ['j', 'j', 'j', 'k']) {
      await page.keyboard.press(key);
      seen.push(await focused(page));
    }
    assert.deepEqual(seen, ['web', 'cache', 'cache', 'web'], 'those that are complete are folded');
    await page.keyboard.press('Enter');
    await becomes('the rollout', page, /^#\/shop\/ds\/web$/);
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await becomes('the overview', page, /^#\/$/);
  });

  it('move through the nodes, open one, and come back to it', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    const said = page.locator('.pointed');
    await page.keyboard.press('j');
    await until('the first node is said', async () => (await said.innerText()).startsWith('shop-1:'));
    await page.keyboard.press('j');
    await until('the second node is said', async () => (await said.innerText()).startsWith('shop-2:'));
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'CANVAS');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Node shop-2' }).waitFor();
    await page.keyboard.press('j');
    await page.getByRole('complementary', { name: 'Node shop-3' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary').waitFor({ state: 'detached' });
    await until('the map is at the node', async () => (await said.innerText()).startsWith('shop-3:'));
    await page.keyboard.press('k');
    await until('the node before is said', async () => (await said.innerText()).startsWith('shop-2:'));
  });

  it('open the next failed node, around the end', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    for (const node of ['shop-2', 'shop-10', 'shop-2']) {
      await page.keyboard.press('f');
      await page.getByRole('complementary', { name: `Node ${node}`, exact: true }).waitFor();
    }
    await goTo(page, `${WEB}?phase=updated&node=shop-1`);
    await page.keyboard.press('f');
    await page.getByRole('complementary', { name: 'Node shop-2', exact: true }).waitFor();
  });

  it('are listed, and the letters can be switched off', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    await page.keyboard.press('?');
    const list = page.getByRole('dialog', { name: 'Keys' });
    await list.getByText('next failed node').waitFor();
    assert.deepEqual(await violations(page), []);
    await list.getByRole('checkbox').uncheck();
    await page.keyboard.press('Escape');
    await list.waitFor({ state: 'detached' });
    await page.keyboard.press('f');
    await page.keyboard.press('Control+k');
    await palette(page).waitFor();
    await page.keyboard.press('Escape');
    assert.equal(await hashOf(page), WEB, 'f does nothing');
    await page.getByRole('button', { name: 'Keys' }).click();
    await list.getByRole('checkbox').check();
    await list.getByRole('button', { name: 'Close' }).click();
    await page.keyboard.press('f');
    await becomes('the node', page, /node=shop-2/);
  });

  it('act at once after a dialog was closed, although a field of it has the focus for another moment', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByRole('checkbox').focus();
    await page.evaluate(
      "const box = document.activeElement; box.closest('dialog').close(); box.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))",
    );
    await palette(page).waitFor();
  });

  it('do nothing while somebody types, in a dialog, or with Ctrl, Alt or Meta', async (t) => {
    const page = await visit(t);
    await toRollout(page);
    for (const key of ['Control+f', 'Alt+f', 'Meta+j', 'Control+/']) {
      await page.evaluate("addEventListener('keydown', (event) => { globalThis.taken = event.defaultPrevented })");
      await page.locator('body').dispatchEvent('keydown', {
        key: key.at(-1),
        bubbles: true,
        cancelable: true,
        ctrlKey: key.startsWith('Control'),
        altKey: key.startsWith('Alt'),
        metaKey: key.startsWith('Meta'),
      });
      assert.equal(await page.evaluate('globalThis.taken'), false, key);
    }
    const search = page.getByRole('searchbox');
    await search.focus();
    await page.keyboard.type('fj/?');
    assert.equal(await search.inputValue(), 'fj/?');
    await search.fill('');
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.doesNotMatch(await hashOf(page), /node=/);
    await page.locator('h1').click();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('f');
    await page.keyboard.press('/');
    assert.equal(await page.getByRole('dialog').count(), 1);
    assert.doesNotMatch(await hashOf(page), /node=/);
  });
});

describe('a wall', () => {
  const pause = async (page: Page): Promise<void> => {
    await page.clock.install();
    await page.clock.pauseAt(await page.evaluate<number>('Date.now() + 1000'));
  };

  it('shows the rollouts that are not complete in turn, and no controls', async (t) => {
    const page = await visit(t);
    await pause(page);
    await goTo(page, '#/?wall');
    await becomes('the worst rollout', page, /^#\/shop\/ds\/web\?wall=on$/);
    await page.locator('.grid canvas').first().waitFor();
    assert.equal(await page.getByRole('banner').getByRole('button').count(), 0);
    await page.clock.runFor(19_000);
    assert.match(await hashOf(page), /web/);
    await page.clock.runFor(1_000);
    await becomes('the next one', page, /cache/);
    await page.clock.runFor(20_000);
    await becomes('the first again', page, /web/);
    await page.clock.resume();
    assert.deepEqual(await violations(page), []);
  });

  it('stands still for a minute after somebody has moved the mouse or pressed a key', async (t) => {
    const page = await visit(t);
    await pause(page);
    await goTo(page, '#/?wall');
    await becomes('the worst rollout', page, /web/);
    await page.mouse.move(100, 100);
    await page.mouse.move(200, 200);
    await page.getByText('Rotation is paused for a minute.').waitFor();
    await page.clock.runFor(50_000);
    await page.keyboard.press('Shift');
    await page.clock.runFor(59_000);
    assert.match(await hashOf(page), /web/);
    await page.clock.runFor(1_000);
    await becomes('the next one', page, /cache/);
    await page.mouse.move(300, 300);
    await page.getByRole('button', { name: 'Leave the wall' }).click();
    await becomes('no wall', page, /^#\/shop\/ds\/cache$/);
    await page.clock.runFor(120_000);
    assert.match(await hashOf(page), /cache/);
  });

  it('shows the overview when all are complete', async (t) => {
    const page = await visit(t, { ...FLEET, rows: [{ ...row, name: 'done', state: 'complete', status: 'Complete' }] });
    await pause(page);
    await goTo(page, '#/shop/ds/done?wall');
    await page.locator('.grid canvas').first().waitFor();
    await page.clock.runFor(20_000);
    await becomes('the overview', page, /^#\/\?wall=on$/);
    await page.getByRole('heading', { name: 'Rollouts' }).waitFor();
  });
});

it('the tab of the browser says the state of the rollout, and the worst of all on the overview', async (t) => {
  const page = await visit(t);
  const icon = () => page.locator('link[rel=icon]').getAttribute('href');
  await until('the title says the worst', async () => (await page.title()) === '× edgeset');
  const worst = await icon();
  assert.match(worst ?? '', /^data:image\/svg/);
  await toRollout(page);
  await until('the title says the rollout', async () => (await page.title()) === '↑ web - edgeset');
  assert.notEqual(await icon(), worst);
});

it('owners are a second legend, which filters the map', async (t) => {
  const nodes = [
    cell('bus-1', 'outdated', 'asked'),
    cell('bus-2', 'outdated', 'asked'),
    cell('bus-3', 'updated', 'done'),
  ];
  const owners = { asked: 2, decided: 0, running: 0, done: 1, failed: 0 };
  const rollout = { type: 'rollout', head: { ...halted, strategy: 'ota', owners }, nodes } as const;
  const page = await visit(t, { ...FLEET, rollout });
  await toRollout(page);
  const legend = page.getByRole('group', { name: 'Owners' });
  assert.deepEqual(await legend.getByRole('button').allInnerTexts(), [
    '2 asked',
    '0 decided now',
    '0 running',
    '1 done',
    '0 failed',
  ]);
  assert.deepEqual(await violations(page), []);
  await legend.getByRole('button', { name: '1 done' }).click();
  await becomes('the address', page, /owner=done/);
  await page.locator('canvas[aria-label*="1 nodes"]').waitFor();
  await goTo(page, WEB);
  await page.locator('canvas[aria-label*="3 nodes"]').waitFor();
});

describe('on a phone', () => {
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
  /** What is wider than the screen, and controls that are too small for a thumb. */
  const misfits = (page: Page) =>
    page.evaluate<string[]>(`(() => {
      const found = [];
      const wide = document.documentElement.scrollWidth;
      if (wide > innerWidth) found.push('the page is ' + wide + ' px wide');
      for (const control of document.querySelectorAll('button, summary, select, input, a')) {
        const { width, height } = control.getBoundingClientRect();
        const isInline = control.matches('p a, li a, input[type=checkbox]');
        if (control.checkVisibility() && !isInline && (width < 24 || height < 24))
          found.push(control.outerHTML.slice(0, 80) + ': ' + width + ' by ' + height);
      }
      return found;
    })()`);

  it('nothing is cut off, and controls are large enough', async (t) => {
    const page = await visit(t, FLEET, phone);
    const check = async (what: string): Promise<void> => {
      assert.deepEqual(await misfits(page), [], what);
      assert.deepEqual(await violations(page), [], what);
    };
    await check('the overview');
    await toRollout(page);
    await check('a rollout');
    for (const tab of ['timeline', 'history', 'events', 'settings']) {
      await goTo(page, `${WEB}?tab=${tab}`);
      await page.locator('.tabs [aria-current]').waitFor();
      await check(tab);
    }
    await toRollout(page, `${WEB}?node=shop-2`);
    await page.getByRole('complementary', { name: 'Node shop-2' }).waitFor();
    await check('a node');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: /^Find rollout/ }).click();
    await palette(page).waitFor();
    await check('the palette');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Keys' }).click();
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    await check('the keys');
  });
});
