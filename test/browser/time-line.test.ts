// The time line of a rollout on the dashboard, with a server that says what it is told.

import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { head as base, serveFleet } from '../../src/dashboard/testing/index.ts';
import { until } from '../conformance/kit/until.ts';
import { violations } from './checks.ts';
import { pages } from './visit.ts';

type Fleet = Parameters<typeof serveFleet>[0];
type Rollout = Extract<NonNullable<Fleet['rollout']>, { type: 'rollout' }>;
type Head = Rollout['head'];
type Cell = Rollout['nodes'][number];

const NODES = 100;
const LIMIT = 10;
const UPDATED = 38;
const FAILED = 4;
const START = Math.floor(Date.now() / 1_000) - 300;
const at = (seconds: number): string => new Date((START + seconds) * 1_000).toISOString();

/** Five nodes at once, each for six seconds, after its old pod has terminated for four. */
const cellOf = (index: number): Cell => {
  const began = START + 4 + 10 * Math.floor(index / 5);
  const phase =
    index < UPDATED ? 'updated' : index < UPDATED + FAILED ? 'failed' : index % 5 === 0 ? 'held' : 'outdated';
  const times = index < UPDATED + FAILED ? ([began, began + 6] as const) : ([0, 0] as const);
  return [`shop-${index}`, phase, 'current', 'two', ...times, '', ''];
};
const cells = Array.from({ length: NODES }, (_, index) => cellOf(index));
const headOf = (more: Partial<Head> = {}): Head => ({
  ...base,
  online: NODES,
  budget: { inUse: FAILED, limit: LIMIT },
  phases: {
    ...base.phases,
    offline: 0,
    ...Object.fromEntries(
      (['updated', 'failed', 'held', 'outdated'] as const).map((phase) => [
        phase,
        cells.filter(([, is]) => is === phase).length,
      ]),
    ),
  },
  startedAt: at(0),
  marks: [
    { at: at(0), kind: 'stage', what: 'Stage lab opened' },
    { at: at(30), kind: 'approval', what: 'Stage lab approved by anna' },
  ],
  ...more,
});
const halted = headOf({
  headline: { ...base.headline, state: 'halted' },
  marks: [...headOf().marks, { at: at(90), kind: 'halt', what: 'Halted: too many nodes failed' }],
});

const timeLineOf = async (page: Page) => {
  await page.getByRole('heading', { name: 'web', exact: true }).first().waitFor();
  await page.getByRole('link', { name: 'Timeline' }).click();
  const figure = page.locator('figure.time-line');
  await figure.waitFor();
  return figure;
};

describe('the time line on the dashboard', () => {
  const open = pages();
  const show = async (t: TestContext, head: Head, width: number) => {
    const server = await serveFleet({ rows: [], rollout: { type: 'rollout', head, nodes: cells } });
    const options = { close: () => server.close(), viewport: { width, height: 900 } };
    const { page } = await open(t, server.origin, { path: server.entry(), reducedMotion: 'reduce', ...options });
    await page.evaluate(axe.source);
    await page.evaluate("location.hash = '#/shop/ds/web'");
    return { page, server, figure: await timeLineOf(page) };
  };
  const fits = async (page: Page, width: number): Promise<void> => {
    await until(
      `it fits ${width} px`,
      async () => (await page.evaluate<number>('document.documentElement.scrollWidth')) <= width,
    );
  };
  /** The last time of the summary, as seconds of the day. */
  const endOf = async (page: Page): Promise<string> => {
    const label = (await page.getByRole('img', { name: /^Online nodes by phase/ }).getAttribute('aria-label')) ?? '';
    return / to (\d\d:\d\d:\d\d):/.exec(label)?.[1] ?? '';
  };

  for (const width of [390, 1_440])
    it(`says in words and in color what happened, at ${width} px`, async (t) => {
      const { page, figure } = await show(t, halted, width);
      const summary = page.getByRole('img', { name: /^Online nodes by phase, \d\d:\d\d:\d\d to \d\d:\d\d:\d\d: / });
      assert.match(
        (await summary.getAttribute('aria-label')) ?? '',
        /updated from 0% to 38%, .*failed from 0% to 4%, .*; 4 of 10 slots in use$/,
      );
      const marks = figure.getByRole('list', { name: 'What happened' }).getByRole('listitem');
      assert.deepEqual(
        (await marks.allInnerTexts()).map((said) => said.trim().replace(/^\d\d:\d\d:\d\d /, '')),
        ['Stage lab opened', 'Stage lab approved by anna', 'Halted: too many nodes failed'],
      );
      assert.equal(await figure.locator('.mark.halt').getAttribute('title'), (await marks.last().innerText()).trim());
      const legend = figure.locator('figcaption');
      for (const said of ['At the end', '38 updated (38%)', '4 failed (4%)', '4 of 10 slots in use', 'from records'])
        await legend.getByText(said, { exact: true }).waitFor();
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await until('both plots are drawn', async () => (await figure.locator('canvas').count()) === 2);
        await fits(page, width);
        assert.deepEqual(await violations(page), [], colorScheme);
      }
    });

  it('tells what a moment was that somebody points at', async (t) => {
    const { page, figure } = await show(t, halted, 1_440);
    const plot = figure.locator('.u-over').first();
    const box = await plot.boundingBox();
    await plot.hover({ position: { x: (box?.width ?? 0) / 2, y: 60 } });
    // In the middle of the rollout, all slots of a wave are in use.
    const legend = figure.locator('figcaption');
    await legend.getByText('5 of 10 slots in use').waitFor();
    await legend.getByText(/^\d\d:\d\d:\d\d$/).waitFor();
    await page.mouse.move(0, 0);
    await legend.getByText('At the end').waitFor();
  });

  it('ends with the halt, becomes longer only when something changes, and runs on once it is resumed', async (t) => {
    const { page, server, figure } = await show(t, halted, 1_440);
    const end = await endOf(page);
    assert.equal(end, new Date((START + 90) * 1_000).toLocaleTimeString('en', { hourCycle: 'h23' }));
    const away = { ...halted.phases, outdated: halted.phases.outdated - 1, offline: 1 };
    server.tell({ type: 'change', head: { ...halted, phases: away }, nodes: [], gone: [] });
    await page.getByText(/1 offline, skipped/).waitFor();
    assert.equal(await endOf(page), end);
    const marks = [...halted.marks, { at: at(299), kind: 'resume' as const, what: 'Resumed after the halt' }];
    server.tell({ type: 'change', head: { ...headOf(), marks }, nodes: [], gone: [] });
    await figure.getByText('Resumed after the halt').waitFor();
    await until('it runs until now', async () => (await endOf(page)) > end);
    await figure.locator('figcaption').getByText('Now', { exact: true }).waitFor();
  });
});
