import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { until } from '../conformance/kit/until.ts';
import { findProgram } from './chromium.ts';

const program = findProgram('firefox-esr') ?? '';
/** Why tests in Firefox are skipped. */
export const noFirefox = program === '' && 'there is no firefox-esr on PATH (on Debian: apt-get install firefox-esr)';

/** An answer, or what Firefox reports by itself. */
interface Message {
  id?: number;
  result?: { contexts?: { context: string }[]; result?: { value: string }; exceptionDetails?: { text: string } };
  error?: string;
  message?: string;
  params?: { text?: string; message?: string; request?: { url: string } };
}

/**
 * Firefox without a window, with one tab and a profile of its own, until the test ends. It speaks WebDriver BiDi
 * (https://w3c.github.io/webdriver-bidi); Playwright can't drive it, because the Firefox of Debian has no
 * emulation.setMediaFeaturesOverride.
 */
export const launchFirefox = async (t: TestContext) => {
  const profile = mkdtempSync(path.join(tmpdir(), 'edgeset-firefox-'));
  const args = ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0', 'about:blank'];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } });
  const exit = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await exit;
    rmSync(profile, { recursive: true, maxRetries: 10 });
  });
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stderr)
      .on('line', (line) => {
        const [, url] = /WebDriver BiDi listening on (ws:\S+)/.exec(line) ?? [];
        if (url) resolve(url);
      })
      .on('close', () => reject(new Error(`${program} ended before it listened`)));
  });
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open');
  const heard: string[] = [];
  const waiting = new Map<number, (answer: Message) => void>();
  socket.addEventListener('message', ({ data }) => {
    const told = JSON.parse(String(data)) as Message;
    if (told.id !== undefined) waiting.get(told.id)?.(told);
    if (told.params) heard.push(told.params.text ?? told.params.message ?? told.params.request?.url ?? '');
  });
  const call = async (method: string, params: object) => {
    const id = waiting.size + 1;
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { error, message, result } = await answer;
    if (error !== undefined) throw new Error(`${method}: ${error}: ${message}`);
    return result ?? {};
  };
  await call('session.new', { capabilities: { alwaysMatch: { acceptInsecureCerts: true } } });
  const context = (await call('browsingContext.getTree', {})).contexts?.[0]?.context;
  await call('session.subscribe', {
    contexts: [context],
    events: ['log.entryAdded', 'browsingContext.userPromptOpened', 'network.beforeRequestSent'],
  });
  /** The value of an expression on the page, or what its promise resolves with. */
  const run = async <T>(expression: string): Promise<T> => {
    const { exceptionDetails, result } = await call('script.evaluate', {
      expression: `(async () => JSON.stringify([await (${expression})]))()`,
      target: { context },
      awaitPromise: true,
    });
    if (!result) throw new Error(exceptionDetails?.text);
    return (JSON.parse(result.value) as [T])[0];
  };
  return {
    profile,
    /** What the page writes to the console and asks the user, and the addresses that it requests. */
    heard,
    go: (url: string) => call('browsingContext.navigate', { context, url, wait: 'complete' }),
    run,
    shows: (text: string) =>
      until(text, () => run<boolean>(`document.body.innerText.includes(${JSON.stringify(text)})`)),
    press: (text: string) =>
      until(text, () =>
        run<boolean>(`[...document.querySelectorAll('button, a')].some((one) =>
          one.innerText.startsWith(${JSON.stringify(text)}) && (one.click(), true))`),
      ),
    /** As a user does, so the profile holds all that it keeps. */
    close: async () => {
      await call('browser.close', {});
      await exit;
    },
  };
};
