import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withheldReasons } from '../../../src/agent/types.ts';
import { scenes } from '../../../test/browser/fixtures.ts';
import { en } from '../text/en.ts';
import { languages } from '../text/index.ts';
import type { Update } from '../types.ts';
import { type Step, stepsOf } from './steps.ts';

const { waits } = en.steps;

const current = (changes: Partial<Update>, { connected = true, text = en } = {}): Step | undefined => {
  const { device, updates } = scenes.queuedWithheld;
  const [update] = updates;
  assert.ok(update);
  const steps = stepsOf({ ...update, ...changes }, { ...device, connected }, Date.parse(device.now), text);
  return steps.find(({ state }) => state === 'current' || state === 'failed');
};

test('an update that the administrator withholds shows that first', () => {
  const labels = {
    Paused: 'pause',
    Partition: 'turn',
    NodeSelector: 'offer',
    NodeNotEligible: 'node',
    NotOffered: 'offer',
  };
  for (const reason of withheldReasons) {
    const label = waits[labels[reason] as keyof typeof waits];
    assert.equal(current({ reason })?.label, label);
    assert.equal(current({ reason, image: { state: 'pulling', message: '' } })?.label, label);
    assert.equal(current({ reason })?.note, en.steps.kept);
  }
  assert.equal(current({ reason: 'Paused' }, { connected: false })?.label, waits.connection);
  assert.equal(current({ reason: 'NotSafe' })?.label, waits.safe);
  assert.equal(current({ reason: 'Refused' })?.note, en.steps.retried);
});

test("no sentence of the agent is shown, in any of the page's languages", () => {
  const message = 'A sentence of the agent.';
  for (const text of languages)
    for (const { updates } of Object.values(scenes))
      for (const update of updates) {
        const step = current({ ...update, message }, { text });
        assert.notEqual(step?.note, message);
        if (update.state === 'failed') assert.equal(step?.note, text.failures.CrashLoop);
      }
});
