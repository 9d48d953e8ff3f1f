import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError, pods as podResource } from '../../kube/index.ts';
import { createAdvancedKind } from './advanced-kind.ts';
import { NAMESPACE, withFleet } from './testing/fleet.ts';

it('the names of DaemonRollouts lead back to Advanced DaemonSets, and others to none', () => {
  const kind = createAdvancedKind();
  assert.equal(kind.daemonSetOf(kind.rolloutName('app.v1')), 'app.v1');
  assert.equal(kind.daemonSetOf('app.v1'), undefined);
});

describe('an Advanced DaemonSet', () => {
  it(
    'gets a pod on each node and then makes no more requests',
    withFleet(async ({ create, allRun, get, requests, clock, reasons }) => {
      await create();
      await allRun('app:v1');
      await clock.advance(5_000);
      const { status, metadata } = await get();
      assert.equal(status?.observedGeneration, metadata.generation);
      assert.equal(status?.desiredNumberScheduled, 3);
      assert.equal(status?.numberUnavailable, 0);
      assert.equal(status?.conditions?.find(({ type }) => type === 'Ready')?.status, 'True');
      assert.equal(requests.filter(({ verb, plural }) => verb === 'create' && plural === 'pods').length, 3);
      assert.equal(reasons().filter((reason) => reason === 'SuccessfulCreate').length, 3);
      const before = requests.length;
      await clock.advance(120_000);
      assert.deepEqual(requests.slice(before), []);
    }),
  );

  it(
    'continues without the hook when a timeout is set while a pod waits',
    withFleet(async ({ create, allRun, setImage, until, pods, patch, reasons, clock }) => {
      const hooked = { metadata: { labels: { app: 'app', hold: 'yes' } } };
      await create({ lifecycle: { preDelete: { labelsHandler: { hold: 'yes' } } } }, {}, hooked);
      await allRun('app:v1');
      await setImage('app:v2');
      await until('a pod is prepared', async () =>
        (await pods()).some(
          ({ metadata }) => metadata?.labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete',
        ),
      );
      await clock.advance(5_000);
      await patch({ metadata: { annotations: { 'edgeset.io/predelete-timeout-seconds': '1' } } });
      await allRun('app:v2');
      assert.equal(reasons().filter((reason) => reason === 'PreDeleteTimeout').length, 3);
    }),
  );

  it(
    'loses no pod to a cache that still shows one that is gone beside it',
    withFleet(async ({ create, allRun, client, faults, count, clock, pods, requests }) => {
      await create();
      const [[node, kept] = []] = await allRun('app:v1');
      assert.ok(node !== undefined && kept?.metadata);
      const { name = '', labels, ownerReferences } = kept.metadata;
      const error = new KubeError('NotFound', 'not found', { status: 404 });
      faults.push({ verb: 'get', plural: 'pods', name, error, left: 1_000 });
      const before = requests.length;
      await client.create(podResource, {
        metadata: {
          namespace: NAMESPACE,
          name: 'app-second',
          ...(labels && { labels }),
          ...(ownerReferences && { ownerReferences }),
        },
        spec: { ...kept.spec, containers: kept.spec?.containers ?? [], nodeName: node },
      });
      await clock.advance(2_000);
      assert.ok(count('get', 'pods', before) > 0, 'the other pod is looked for');
      assert.equal(count('delete', 'pods', before), 0);
      assert.ok((await pods()).some(({ metadata }) => metadata?.name === 'app-second'));
    }),
  );
});
