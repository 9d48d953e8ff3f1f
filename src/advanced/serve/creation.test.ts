import assert from 'node:assert/strict';
import { it } from 'node:test';
import { KubeError } from '../../kube/index.ts';
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

it(
  'what another leader created is read once before the first creation, again where that fails, and anew by the next leader',
  withFleet(async ({ create, pods, until, faults, requests, stop, restart, setImage, allRun }) => {
    const reads = (): number =>
      requests.filter(({ verb, plural, name }) => verb === 'list' && plural === 'pods' && name === 'app=app').length;
    const unavailable = new KubeError('ServiceUnavailable', 'not now', { status: 503 });
    faults.push({ verb: 'list', plural: 'pods', name: 'app=app', error: unavailable, left: 2 });
    await create();
    await until('there are three', async () => (await pods()).length === 3);
    assert.equal(reads(), 3);
    await setImage('app:v2');
    await allRun('app:v2');
    assert.equal(reads(), 3);
    await stop();
    await restart();
    await setImage('app:v3');
    await allRun('app:v3');
    assert.equal(reads(), 4);
  }),
);
