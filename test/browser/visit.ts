import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchChromium } from './chromium.ts';
import { createFakeBackend, type FakeBackend } from './fake-backend.ts';
import { type SceneName, scenes } from './fixtures.ts';
import { type Served, serve } from './stage.ts';

/** A small phone. */
export const phone = { width: 320, height: 568 } as const;

/** A 5-inch screen, upright and sideways. */
export const screens = { upright: { width: 360, height: 640 }, lying: { width: 800, height: 480 } } as const;

export interface Visit {
  page: Page;
  backend: FakeBackend;
  served: Served;
  show: (scene: SceneName) => void;
  /** Resolves once the page shows the app in this state. */
  shows: (app: string, state: string) => Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** Console errors that the test expects. */
  allow?: RegExp;
  /** Of the address to open. Default: the root. */
  path?: string;
  /** Stops the agent after the page is closed, because a page reports errors when its agent stops. */
  close?: () => Promise<void>;
}

export interface Opened {
  page: Page;
  context: BrowserContext;
}

/**
 * Opens pages for the tests of one file in one browser. A test fails if its page writes to the console, or sends a request
 * to anything but its agent.
 */
export const pages = (): ((t: TestContext, origin: string, options?: VisitOptions) => Promise<Opened>) => {
  let browser: Browser | undefined;
  before(async () => {
    browser = await launchChromium();
  });
  after(() => browser?.close());

  return async (t, origin, { allow, close, path = '/', ...options } = {}) => {
    if (!browser) throw new Error('the browser is not up: call inside of a test');
    const context = await browser.newContext({ viewport: screens.upright, ...options });
    const complaints: string[] = [];
    t.after(async () => {
      await context.close();
      await close?.();
      assert.deepEqual(complaints, []);
    });
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    const complain = (what: string): void => {
      if (!allow?.test(what)) complaints.push(what);
    };
    page.on('console', (message) => complain(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => complain(`error: ${error.message}`));
    page.on('request', (request) => {
      if (new URL(request.url()).origin !== origin) complain(`request to ${request.url()}`);
    });
    await page.goto(`${origin}${path}`);
    await page.locator('main section').first().waitFor();
    return { page, context };
  };
};

/** Opens pages with a fake agent each. */
export const visits = (): ((t: TestContext, scene: SceneName, options?: VisitOptions) => Promise<Visit>) => {
  const open = pages();
  return async (t, scene, options) => {
    const backend = createFakeBackend(scenes[scene]);
    const served = await serve(backend);
    const { page } = await open(t, `http://127.0.0.1:${served.port}`, { ...options, close: () => served.close() });
    return {
      page,
      backend,
      served,
      show: (next) => backend.show(scenes[next]),
      shows: (app, state) => page.locator(`article[data-state=${state}]`, { hasText: app }).waitFor(),
    };
  };
};

/** A button, by the start of its text. */
export const button = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}`) }).first();

/** The text of the focused element. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>("(document.activeElement.innerText ?? '').split('\\n')[0].trim()");
