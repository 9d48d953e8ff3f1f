import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withheldReasons } from '../../../src/agent/types.ts';
import { scenes } from '../../../test/browser/fixtures.ts';
import { en } from '../text/en.ts';
import type { Update } from '../types.ts';
import { stepsOf } from './steps.ts';

const waiting = (changes: Partial<Update>, connected = true): string | undefined => {
  const { device, updates } = scenes.queuedWithheld;
  const [update] = updates;
  assert.ok(update);
  const steps = stepsOf({ ...update, ...changes }, { ...device, connected }, Date.parse(device.now), en);
  return steps.find(({ state }) => state === 'current')?.label;
};

test('an update that the administrator withholds shows that first', () => {
  for (const reason of withheldReasons) {
    assert.equal(waiting({ reason }), en.steps.withheld[reason]);
    assert.equal(waiting({ reason, image: { state: 'pulling', message: '' } }), en.steps.withheld[reason]);
  }
  assert.equal(waiting({ reason: 'Paused' }, false), en.steps.waitConnection);
  assert.equal(waiting({ reason: 'NotSafe' }), en.steps.waits.NotSafe);
});
