import assert from 'node:assert/strict';
import { chmod, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, it } from 'node:test';
import { chromiumProgram, launchChromium } from '../../browser/chromium.ts';
import { eventually } from '../../support/index.ts';
import { type App, deployApp } from '../app.ts';
import type { Site } from '../product.ts';

const AGENT = 'http://127.0.0.1:10267';

interface Update {
  state: string;
  target?: { revision: string };
}

/** Updates that the owners of two devices decide about, each through the agent on the device. */
export const owners = (site: Site, [mine, other]: readonly [string, string]): void => {
  let app: App;
  let image = '';
  let version = 1;

  /** curl, on the device. */
  const curl = (path: string, ...args: string[]): Promise<string> =>
    site.cluster.machine(mine).run('curl', '-sS', '--max-time', '10', ...args, `${AGENT}${path}`);
  const update = async (): Promise<Update> =>
    JSON.parse(await curl(`/edgeset.io/v1/updates/${app.namespace}/app`)) as Update;
  const decide = (revision: string): Promise<string> =>
    curl(
      `/edgeset.io/v1/updates/${app.namespace}/app/decision`,
      '--json',
      JSON.stringify({ revision, decision: 'approve' }),
      '--write-out',
      ' %{http_code}',
    );
  const uidOf = async (node: string): Promise<string | undefined> => (await app.podOn(node)).metadata?.uid;

  /** Publishes a version; resolves with its revision when the agent offers it. */
  const publish = async (): Promise<string> => {
    const previous = (await update()).target?.revision;
    image = site.cluster.images.add(`till:v${(version += 1)}`);
    await app.change({ image });
    const offered = await eventually(
      'the agent offers the new version',
      async () => {
        const { state, target } = await update();
        return state === 'available' && target?.revision !== previous && target?.revision;
      },
      { everyMs: 200 },
    );
    return offered;
  };

  before(async () => {
    app = await deployApp({
      cluster: site.cluster,
      name: 'till',
      nodes: [mine, other],
      image: site.cluster.images.add('till:v1'),
      annotations: { 'apps.openyurt.io/update-strategy': 'ota' },
    });
    await eventually('the agent serves the update', update, { everyMs: 200 });
  });
  after(() => app.remove());

  it('are made by curl, on that device only', async () => {
    const untouched = await uidOf(other);
    await publish();
    const { metadata } = await app.podOn(mine);
    const path = `/openyurt.io/v1/namespaces/${app.namespace}/pods/${metadata?.name}/upgrade`;
    assert.equal((await curl(path, '-X', 'POST')).trim(), `Start updating pod ${app.namespace}/${metadata?.name}`);
    await app.untilRunning(image, [mine]);
    assert.equal(await uidOf(other), untouched);
  });

  it('are made on the page', async () => {
    const untouched = await uidOf(other);
    await publish();
    // The browser runs on the device as far as the network is concerned.
    const program = join(tmpdir(), 'chromium-on-device');
    const enter = site.cluster.machine(mine).enterNetwork().join(' ');
    await writeFile(program, `#!/bin/sh\nexec ${enter} ${chromiumProgram()} "$@"\n`);
    await chmod(program, 0o755);
    const browser = await launchChromium(program);
    try {
      const page = await browser.newPage();
      page.setDefaultTimeout(60_000);
      await page.goto(AGENT);
      await page
        .getByRole('button', { name: /^Update now/ })
        .first()
        .click();
      await app.untilRunning(image, [mine]);
      await page.locator('article[data-state=current]').waitFor();
    } finally {
      await browser.close();
    }
    assert.equal(await uidOf(other), untouched);
  });

  it('are made after the device was offline and lost power', async () => {
    const machine = site.cluster.machine(mine);
    const revision = await publish();
    const previous = await uidOf(mine);
    await machine.link.cut();
    await site.cluster.untilNode(mine, false);
    assert.match(await decide(revision), / 202$/);
    await machine.powerOff();
    await machine.powerOn();
    await machine.link.restore();
    await app.untilRunning(image, [mine], 90_000);
    assert.notEqual(await uidOf(mine), previous);
    await eventually('the agent says that it is done', async () => (await update()).state === 'current', {
      everyMs: 200,
    });
  });
};
