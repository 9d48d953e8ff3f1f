import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from '../conformance/kit/until.ts';
import { decision, scenes, update } from './fixtures.ts';
import { button, focused, visits } from './visit.ts';

const visit = visits();

const revision = '7c9f6d5b8';
const night = { choice: 'approve', when: { type: 'window', from: '02:00', to: '05:00' } } as const;

test('each button shows its effect before it is pressed, and applies to the version on the page', async (t) => {
  const { page, backend, show, shows } = await visit(t, 'available');
  const cases = [
    ['Update now', /Took about 2 minutes last time/, { choice: 'approve', when: { type: 'now' } }, 'queuedOffline'],
    ['Tonight', /Between 02:00 and 05:00/, night, 'queuedWindow'],
    ['Later', /Asks again tomorrow at 18:00/, { choice: 'postpone', until: '2026-11-22T17:00:00.000Z' }, 'postponed'],
  ] as const;
  for (const [name, says, choice, then] of cases) {
    // What the last update took comes with the history, after the first picture.
    await button(page, name).filter({ hasText: says }).waitFor();
    backend.answer(() => {
      show(then);
      return { kind: 'accepted', status: 202, decision: decision() };
    });
    await button(page, name).click();
    await shows('ticketing', scenes[then].updates[0]?.state ?? '');
    assert.deepEqual(backend.decided.at(-1), { app: 'ticketing', revision, choice });
    show('available');
    await shows('ticketing', 'available');
    await page.locator('.choice.main[aria-disabled=false]').waitFor();
  }
});

test('declining a version requires a confirmation that can be cancelled', async (t) => {
  const { page, backend, show, shows } = await visit(t, 'available');
  const dialog = page.getByRole('dialog');
  await button(page, 'Not this version').click();
  assert.match(await dialog.innerText(), /Skip this version of ticketing\?.*next version is offered to you/s);
  assert.equal(await focused(page), 'Go back');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  assert.match(await focused(page), /^Not this version/);
  await button(page, 'Not this version').click();
  await button(page, 'Go back').click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(backend.decided.length, 0);
  await button(page, 'Not this version').click();
  await button(page, 'Skip this version').click();
  await until('the decision is sent', () => backend.decided.length === 1);
  assert.deepEqual(backend.decided[0], { app: 'ticketing', revision, choice: { choice: 'reject' } });
  show('rejected');
  await shows('ticketing', 'rejected');
  assert.match(await page.locator('.decided').innerText(), /You declined this version/);
});

test('a decision is shown, and can be changed or kept', async (t) => {
  const { page, backend } = await visit(t, 'queuedWindow');
  assert.match(
    await page.locator('.decided').innerText(),
    /at night, between 02:00 and 05:00.*Decided today at 17:18/s,
  );
  await button(page, 'Change').click();
  assert.match(await focused(page), /^Update now/);
  assert.equal(await button(page, 'Tonight').getAttribute('aria-disabled'), 'true');
  await button(page, 'Keep it').click();
  assert.match(await focused(page), /^Change/);
  await button(page, 'Change').click();
  await button(page, 'Later').click();
  await until('the decision is sent', () => backend.decided.length === 1);
  assert.equal(backend.decided[0]?.choice.choice, 'postpone');
});

test('a double click decides once', async (t) => {
  const { page, backend, show } = await visit(t, 'available');
  backend.answer(() => {
    show('queuedWindow');
    return { kind: 'accepted', status: 202, decision: decision() };
  });
  await button(page, 'Tonight').dblclick();
  await page.locator('.decided').waitFor();
  assert.equal(backend.decided.length, 1);
  assert.equal(await page.locator('.choices').count(), 0);
});

const refusals = [
  [409, 'OtherRevision', /something changed in the meantime.*check again/],
  [403, 'Halted', /this version was withdrawn/],
  [403, 'CallerGone', /not allowed to decide on this device/],
  [404, 'NoSuchDaemonSet', /no longer on this device/],
  [422, 'BadDecision', /did not work \(error 422\)/],
] as const;

test('a refused decision is explained next to the app, and the current state is shown', async (t) => {
  const { page, backend, show } = await visit(t, 'available', { allow: /Failed to load resource.*(409|403|404|422)/ });
  for (const [status, reason, words] of refusals) {
    backend.answer(() => ({ kind: 'refused', status, reason, message: 'An update is under way.' }));
    await button(page, 'Update now').click();
    const alert = page.getByRole('alert');
    await alert.waitFor();
    assert.match(await alert.innerText(), words);
    assert.doesNotMatch(await alert.innerText(), /under way/, "not the agent's sentence");
    await button(page, 'Close').click();
    await alert.waitFor({ state: 'detached' });
    assert.equal(await focused(page), 'ticketing');
  }
  // The events show the state after the refusal, too: the page still follows them.
  show('queuedOffline');
  await page.locator('.decided').waitFor();
});

test('if two people decide at once, the second one is told, and both see the decision that applies', async (t) => {
  const one = await visit(t, 'available', { allow: /409/ });
  const other = await one.page.context().newPage();
  await other.goto(one.page.url());
  await button(other, 'Later').waitFor();
  let taken = false;
  one.backend.answer(() => {
    if (taken) return { kind: 'refused', status: 409, reason: 'UnderWay', message: 'Another decision came first.' };
    taken = true;
    one.show('postponed');
    return { kind: 'accepted', status: 201, decision: decision() };
  });
  // A real mouse pointer can't be in two windows.
  await Promise.all([
    button(one.page, 'Later').dispatchEvent('click'),
    button(other, 'Tonight').dispatchEvent('click'),
  ]);
  for (const page of [one.page, other]) await page.locator('.decided').waitFor();
  await until('one of them reads why', async () => {
    const alerts = await Promise.all([one.page, other].map((page) => page.getByRole('alert').count()));
    return alerts.reduce((sum, each) => sum + each, 0) === 1;
  });
});

test('a version that appears while the confirmation is open is not the one that is declined', async (t) => {
  const { page, backend } = await visit(t, 'available');
  await button(page, 'Not this version').click();
  const newer = update({ target: { revision: 'newer', images: null, publishedAt: null, notes: null } });
  backend.show({ ...scenes.available, updates: [newer] });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(backend.decided.length, 0);
  await button(page, 'Tonight').click();
  await until('the decision is sent', () => backend.decided.length === 1);
  assert.equal(backend.decided[0]?.revision, 'newer');
});

test('a download can be requested, and a refusal is explained', async (t) => {
  const { page, backend, show } = await visit(t, 'available', { allow: /403/ });
  await button(page, 'Download now').click();
  await until('it is asked for', () => backend.pulled.length === 1);
  assert.deepEqual(backend.pulled[0], { namespace: 'default', name: 'ticketing-x7k2p' });
  await page.locator('.download button[aria-disabled=false]').waitFor();
  backend.answerPull({ status: 403, text: 'the disk is full' });
  await button(page, 'Download now').click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /could not be started\. Please try again later/);
  show('downloaded');
  await page.getByText('Downloaded and ready').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Download now' }).count(), 0);
  show('availableOffline');
  await page.getByText('Not downloaded').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Download now' }).count(), 0);
});

test('a deadline is shown in advance, and no answer promises more than it allows', async (t) => {
  const { page, backend, show, shows } = await visit(t, 'deadline');
  const answers = () => page.locator('.choice-label').allInnerTexts();
  assert.match(
    await page.locator('.deadline').innerText(),
    /Required by your administrator: installed Monday 23 November at 18:34 at the latest/,
  );
  assert.match(await button(page, 'Later').innerText(), /Asks again tomorrow at 18:00/);
  assert.match(await button(page, 'Tonight').innerText(), /Between 02:00 and 05:00/);
  // It would be installed all the same.
  assert.equal(await button(page, 'Not this version').count(), 0);
  show('deadlineTonight');
  await page.getByText('today at 18:34 at the latest').waitFor();
  assert.match(await button(page, 'Later').innerText(), /deadline comes first: today at 18:34/);
  assert.deepEqual(
    (await answers()).map((label) => label.replace(/ ?\(.*/s, '').trim()),
    ['Update now', 'Later'],
  );
  show('overtaken');
  await shows('ticketing', 'queued');
  assert.match(await page.locator('.decided').innerText(), /your administrator's deadline comes first: today at 18:34/);
  // The deadline is set while the owner is asked to confirm.
  show('available');
  await shows('ticketing', 'available');
  await button(page, 'Not this version').click();
  show('deadlineTonight');
  await page.getByText('today at 18:34 at the latest').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  assert.equal(backend.decided.length, 0);
});

test('a version that the administrator requires meanwhile is not declined, and the owner reads why', async (t) => {
  const { page, backend, show } = await visit(t, 'available', { allow: /409/ });
  backend.answer(() => {
    show('deadline');
    return { kind: 'refused', status: 409, reason: 'Required', message: 'It is required.' };
  });
  await button(page, 'Not this version').click();
  await button(page, 'Skip this version').click();
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /something changed in the meantime/);
  assert.equal(await button(page, 'Not this version').count(), 0);
});
