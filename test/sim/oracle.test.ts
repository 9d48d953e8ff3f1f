import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { embeddedStages } from './oracle/embedded-stage.ts';
import { play } from './oracle/play.ts';
import { recorded } from './oracle/recorded.ts';
import { situations } from './oracle/situations.ts';

describe('the embedded DaemonSet controller does as the real one did', () => {
  for (const situation of situations)
    it(situation.name, async () => {
      assert.deepEqual(await play(embeddedStages, situation), recorded[situation.name]);
    });
});
