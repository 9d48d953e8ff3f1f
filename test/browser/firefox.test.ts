// Both pages in Firefox: they come up, follow their streams, act, and run nothing that others wrote.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { cells, head, KEY, openAddress, row, serveFleet } from '../../src/dashboard/testing/index.ts';
import { until } from '../conformance/kit/until.ts';
import { createFakeBackend } from './fake-backend.ts';
import { launchFirefox, noFirefox } from './firefox.ts';
import { HOSTILE, scenes } from './fixtures.ts';
import { serve } from './stage.ts';

const open = async (t: TestContext, origin: string) => {
  const firefox = await launchFirefox(t);
  const { run } = firefox;
  /** Everything but requests to the page's server. Firefox's own style sheet holds a font. */
  const complaints = (): string[] =>
    firefox.heard.filter((text) => !text.startsWith(`${origin}/`) && !text.startsWith('data:font/'));
  return {
    ...firefox,
    /** Texts are no markup; and the browser refuses scripts that get onto the page in spite of that. */
    runsNothing: async () => {
      assert.equal(await run(`document.querySelectorAll('img, script:not([src]), a[href^=javascript]').length`), 0);
      assert.deepEqual(complaints(), []);
      await run(`new Promise((done) => {
        document.body.append(Object.assign(document.createElement('script'), { textContent: 'document.title = 1' }));
        document.body.insertAdjacentHTML('beforeend', ${JSON.stringify(HOSTILE)});
        document.querySelector('img').addEventListener('error', () => done());
      })`);
      assert.notEqual(await run('document.title'), '1');
      await until('it says what it refused', () => complaints().length === 2);
      for (const refused of complaints()) assert.match(refused, /^Content-Security-Policy: .* blocked an /);
    },
  };
};

describe('both pages in Firefox', { skip: noFirefox, timeout: 240_000 }, () => {
  it("the owner's page follows its agent, decides, and runs nothing of hostile notes", async (t) => {
    const { available, hostileNotes } = scenes;
    const backend = createFakeBackend(available);
    const served = await serve(backend);
    t.after(() => served.close());
    const origin = `http://127.0.0.1:${served.port}`;
    const { go, shows, press, runsNothing } = await open(t, origin);
    await go(origin);
    await shows(available.device.node);
    backend.show({ ...hostileNotes, device: { ...hostileNotes.device, node: 'bus-18' } });
    await shows('bus-18');
    await shows(HOSTILE);
    await press('Update now');
    await until('the agent has the decision', () => backend.decided.length);
    await runsNothing();
  });

  it('the dashboard opens by a code once, follows its stream, and runs nothing of hostile sentences', async (t) => {
    const server = await serveFleet({
      rows: [row],
      rollout: { type: 'rollout', head: { ...head, notes: [HOSTILE] }, nodes: cells },
    });
    t.after(() => server.close());
    const { origin } = server;
    const entry = `${origin}${server.entry()}`;
    const { go, run, shows, press, runsNothing, close, profile } = await open(t, origin);
    await go(entry);
    await shows('live');
    assert.equal(await run('location.href'), `${origin}/#/`, 'the code is gone from the address');
    await assert.rejects(openAddress(entry), /403/);
    await press('web');
    await shows('1 updated');
    await shows(HOSTILE);
    await press('Undo…');
    await shows('"web" is forbidden');
    await runsNothing();
    await go(origin);
    await shows('live');
    await close();
    const files = readdirSync(profile).filter((name) => name.startsWith('places.sqlite'));
    const history = files.map((name) => readFileSync(path.join(profile, name), 'latin1')).join('');
    assert.ok(history.includes(`${origin}/#/shop/ds/web`), 'the visit is in the history');
    assert.ok(!history.includes(KEY));
  });
});
