import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { everywhere, said } from './testing/said.ts';
import { scene } from './testing/scene.ts';

const STRATEGY = 'apps.openyurt.io/update-strategy';
const refused = { kind: 'refuse', code: 'Forbidden', status: 403 } as const;

describe('what waits to be tried again when the clock is set back by an hour', () => {
  it(
    'is tried within minutes: an announcement',
    scene(async (s) => {
      const { settled, world, clock, api } = s;
      await settled(2, '1', { [STRATEGY]: 'ota' });
      const name = world.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault('patch', 'pods', refused, { name, times: 1000 });
      world.setImage('v2');
      await clock.advance(20_000);
      fault.end();
      clock.jump(-3_600_000);
      await clock.advance(200_000);
      assert.deepEqual(said(s), everywhere('True NewRevision v2', 2));
    }),
  );

  it(
    'is tried within minutes: a delete',
    scene(async ({ settled, world, clock, api, condition }) => {
      await settled(2, '1');
      const name = world.podOn('n1')?.metadata?.name ?? '';
      const fault = api.fault('delete', 'pods', refused, { name, times: 1000 });
      world.setImage('v2');
      await clock.advance(20_000);
      fault.end();
      clock.jump(-3_600_000);
      await clock.advance(200_000);
      assert.equal(condition('Complete')?.status, 'True');
    }),
  );
});
