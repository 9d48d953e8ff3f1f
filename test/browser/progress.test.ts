import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTarget } from '../agent/hostile/target.ts';
import { until } from '../conformance/kit/until.ts';
import { startEmbeddedCluster } from '../embedded/cluster.ts';
import { button, pages } from './visit.ts';

const cluster = await startEmbeddedCluster();
const world = await openTarget(cluster);
after(async () => {
  await world.agent.stop();
  await cluster.stop();
});
const open = pages();

test('with a real agent, a press replaces the pod, and the page shows each step until the new one runs', async (t) => {
  const { pod } = await world.announce();
  const { page } = await open(t, world.agent.url);
  const card = page.getByRole('article', { name: 'app' });
  // The agent reads the images a moment after the revision is announced.
  await until('both versions are shown', async () => /v1.*v2.*Update now/s.test(await card.innerText()));
  const steps = new Set<string>();
  await page.exposeFunction('seen', (words: string) => steps.add(words));
  await page.evaluate(`new MutationObserver(() => {
    const step = document.querySelector('[aria-current=step] p');
    if (step) seen(step.innerText.split('\\n')[0].replace(/,.*/, ''));
  }).observe(document.querySelector('main'), { subtree: true, childList: true, attributes: true })`);
  await button(page, 'Update now').click();
  await page.locator('article[data-state=current]').waitFor({ timeout: 60_000 });
  const next = await world.podAfter(pod);
  assert.notEqual(next.name, pod);
  await page.getByText('New version is running').waitFor();
  // The history comes a moment after the state.
  await until('it is shown since when', async () => /Installed\s*v2.*Updated today at/s.test(await card.innerText()));
  await until('its steps were shown', () => steps.has('Stopping the old version'));
  await until('the history tells of it', async () =>
    /app: (Updated|Update approved)/.test(await page.locator('.history').innerText()),
  );
});

test('tonight is saved by the agent, shown after a reload, and can be postponed', async (t) => {
  await world.announce();
  const { page } = await open(t, world.agent.url);
  await button(page, 'Tonight').click();
  await page.locator('.decided').waitFor();
  await page.reload();
  await page.locator('.decided').waitFor();
  assert.match(await page.locator('.decided').innerText(), /at night, between 02:00 and 05:00/);
  await button(page, 'Change').click();
  await button(page, 'Later').click();
  await page.locator('article[data-state=postponed]').waitFor();
  assert.match(await page.locator('.decided').innerText(), /asked again tomorrow at 18:00/);
});

test('a decision by someone else meanwhile is shown, and nothing happens twice', async (t) => {
  const { pod } = await world.announce();
  const { page } = await open(t, world.agent.url, { allow: /409/ });
  const { page: other } = await open(t, world.agent.url, { allow: /409/ });
  for (const each of [page, other]) await button(each, 'Update now').waitFor();
  await Promise.all([
    button(page, 'Update now').dispatchEvent('click'),
    button(other, 'Update now').dispatchEvent('click'),
  ]);
  for (const each of [page, other]) await each.locator('article[data-state=current]').waitFor({ timeout: 60_000 });
  assert.notEqual((await world.podAfter(pod)).name, pod);
  const deletes = (await world.writes()).filter(
    ({ verb, resource, name }) => verb === 'delete' && resource === 'pods' && name === pod,
  );
  assert.equal(deletes.length, 1);
});
