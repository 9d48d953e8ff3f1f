import assert from 'node:assert/strict';
import { it } from 'node:test';
import { withFleet } from '../testing/fleet.ts';

const nodes = ['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6'];

it(
  'pods are created one after the other with burstReplicas 1, also when nothing more is heard of them',
  withFleet(async ({ clock, create, pods, until }) => {
    const startedAt = clock.now();
    const spec = { schedulerName: 'nobody', containers: [{ name: 'app', image: 'app:v1' }] };
    await create({ burstReplicas: 1 }, {}, { spec });
    await until('there are six', async () => (await pods()).length === nodes.length);
    assert.ok(clock.now() - startedAt < 2_000, `${clock.now() - startedAt} ms`);
  }, nodes),
);
