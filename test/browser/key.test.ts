// Where the key of a dashboard on the user's own machine is, and where it must not be.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { cells, type FakeFleet, head, KEY, openAddress, row, serveFleet } from '../../src/dashboard/testing/index.ts';
import { until } from '../conformance/kit/until.ts';
import { CHROMIUM_ARGS, chromiumProgram } from './chromium.ts';
import { pages, visits } from './visit.ts';

const open = pages();
const visit = visits();
const FLEET: FakeFleet = { rows: [row], rollout: { type: 'rollout', head, nodes: cells } };

const serve = async (t: TestContext) => {
  const server = await serveFleet(FLEET);
  t.after(() => server.close());
  return server;
};
const isLive = (page: Page): Promise<void> => page.locator('.live').getByText('live').waitFor();
/** What the dashboard sent: the name of the rollout is in the address. */
const showsWeb = (page: Page): Promise<void> => page.getByRole('button', { name: '1 updated' }).waitFor();
const isShut = (page: Page): Promise<void> => page.getByRole('heading', { name: 'Open the dashboard again' }).waitFor();

/** A server of somebody else on 127.0.0.1, whose page tries to get at the key. Resolves with what it was sent. */
const serveForeigner = async (t: TestContext, port: number) => {
  const heard: string[] = [];
  const script = `
    const tabs = new BroadcastChannel('edgeset-dashboard-key-127.0.0.1:${port}');
    tabs.onmessage = ({ data }) => fetch('/heard?' + data);
    tabs.postMessage('?');
    const dashboard = 'http://127.0.0.1:${port}';
    for (const init of [{ mode: 'no-cors', credentials: 'include' }, { credentials: 'include' }])
      fetch(dashboard + '/api/session', init).then((response) => response.text()).then((text) => fetch('/heard?' + text), () => 0);
    const frame = document.createElement('iframe');
    frame.src = dashboard;
    document.body.append(frame);
    new Image().src = '/pixel';
    setTimeout(() => (new Image().src = '/done'), 1_000);`;
  const server = createServer((request, response) => {
    heard.push(JSON.stringify([request.url, request.headers]));
    response.setHeader('content-type', 'text/html');
    response.end(request.url === '/' ? `<!doctype html><body><script>${script}</script>` : '');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { heard, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

test('a page on another port of 127.0.0.1 gets no cookie, and nothing else of the key', async (t) => {
  const server = await serve(t);
  const entry = server.entry();
  const { page, context } = await open(t, server.origin, { path: entry });
  await isLive(page);
  assert.deepEqual(await context.cookies(), []);
  const foreigner = await serveForeigner(t, server.port);
  const other = await context.newPage();
  await other.goto(foreigner.origin);
  await until('it has tried all', async () => foreigner.heard.some((line) => line.startsWith('["/done"')));
  assert.ok(foreigner.heard.some((line) => line.startsWith('["/pixel"')));
  const heard = foreigner.heard.join('\n');
  assert.doesNotMatch(heard, /cookie|authorization/i);
  assert.ok(!heard.includes(KEY) && !heard.includes(entry.slice(2)), heard);
  // It leads to the dashboard, and the user follows.
  await other.setContent(`<a href="${server.origin}/#/shop/ds/web">fleet</a>`);
  await other.getByRole('link').click();
  await showsWeb(other);
  assert.ok(!foreigner.heard.join().includes(KEY));
});

/** The files below a folder, and what is in them. */
const filesOf = (folder: string): [string, string][] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => path.join(parentPath, name))
    .map((file) => [path.relative(folder, file), readFileSync(file, 'latin1').replaceAll('\0', '')]);

test("the browser's profile keeps no code that still works, and the key in no history", async (t) => {
  const profile = mkdtempSync(path.join(tmpdir(), 'edgeset-profile-'));
  const server = await serve(t);
  const file = path.join(profile, 'open.html');
  const [byFile, typed] = [server.entry(), server.entry()];
  writeFileSync(file, `<meta http-equiv="refresh" content="0;url=${server.origin}${byFile}">`);
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: chromiumProgram(),
    args: CHROMIUM_ARGS,
  });
  t.after(async () => {
    await context.close();
    rmSync(profile, { recursive: true });
  });
  for (const address of [pathToFileURL(file).href, `${server.origin}${typed}`]) {
    const page = await context.newPage();
    await page.goto(address);
    await isLive(page);
    assert.equal(page.url(), `${server.origin}/#/`, 'the code is gone from the address');
    await page.getByRole('link', { name: 'web' }).click();
    await showsWeb(page);
    assert.deepEqual(await page.evaluate('[document.cookie, localStorage.length, document.referrer]'), ['', 0, '']);
  }
  await context.close();
  const files = filesOf(path.join(profile, 'Default'));
  const [, history = ''] = files.find(([name]) => name === 'History') ?? [];
  assert.ok(history.includes(`${server.origin}/#/shop/ds/web`), 'the visit is in the history');
  // Chromium keeps there what a reload needs, and so the key of a dashboard that is running.
  const holders = files.filter(([name, text]) => !name.startsWith('Session Storage') && text.includes(KEY));
  assert.deepEqual(holders, []);
  assert.ok(files.some(([name]) => name.startsWith('Sessions')));
  for (const entry of [byFile, typed]) await assert.rejects(openAddress(`${server.origin}${entry}`), /403/);
});

test('two dashboards at once leave each other alone', async (t) => {
  const [first, second] = [await serve(t), await serve(t)];
  const { page, context } = await open(t, first.origin, { path: first.entry() });
  await isLive(page);
  const other = await context.newPage();
  await other.goto(`${second.origin}/`);
  await isShut(other);
  await other.goto(`${second.origin}${second.entry()}`);
  await isLive(other);
  for (const each of [page, other]) {
    await each.reload();
    await isLive(each);
  }
});

test('a new tab gets the key from another one, and without one says how to open the dashboard', async (t) => {
  const server = await serve(t);
  const { page, context } = await open(t, server.origin, { path: server.entry(), allow: /status of 403/ });
  await isLive(page);
  const opened = context.waitForEvent('page');
  await page.getByRole('link', { name: 'web' }).click({ modifiers: ['ControlOrMeta'] });
  const tab = await opened;
  await showsWeb(tab);
  // As from a bookmark: nothing of another tab is copied.
  const bookmarked = await context.newPage();
  await bookmarked.goto(`${server.origin}/#/shop/ds/web`);
  await showsWeb(bookmarked);
  await Promise.all([page.close(), tab.close(), bookmarked.close()]);

  const late = await context.newPage();
  const used = server.entry();
  await openAddress(`${server.origin}${used}`);
  await late.goto(`${server.origin}${used}/shop/ds/web`);
  await isShut(late);
  await late.getByRole('alert').getByText('used before, or is too old').waitFor();
  assert.equal(await late.getByRole('link', { name: 'web' }).count(), 0);
  const waiting = await context.newPage();
  await waiting.goto(server.origin);
  await isShut(waiting);
  // As if pasted into the address of this tab: the browser loads nothing then.
  await late.evaluate(`location.hash = '${server.entry().slice(1)}/shop/ds/web'`);
  await showsWeb(late);
  assert.equal(late.url(), `${server.origin}/#/shop/ds/web`);
  await isLive(waiting);
});

test("the agent's page has no secret that could leak: no cookie, no address, no storage", async (t) => {
  const { page, served } = await visit(t, 'available');
  const kept = await page.evaluate('[document.cookie, localStorage.length, sessionStorage.length, location.href]');
  assert.deepEqual(kept, ['', 0, 0, `http://127.0.0.1:${served.port}/`]);
  assert.deepEqual(await page.context().cookies(), []);
});
