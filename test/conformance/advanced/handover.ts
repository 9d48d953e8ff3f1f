import assert from 'node:assert/strict';
import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { type Case, section } from '../kit/index.ts';

/** Everything in which two writers of JSON may differ: a native DaemonSet knows its pods by the bytes of a revision. */
const templateOf = (c: Case, image: string): PodTemplateSpec => ({
  metadata: {
    labels: { app: 'app', 10: 'ten', 9: 'nine', 'z/a': 'z' },
    annotations: { text: '<a> & "b"\u2028\u0007 \u{1f600}', b: '1' },
  },
  spec: {
    nodeSelector: { case: c.namespace },
    containers: [
      { name: 'main', image, env: [{ name: 'A', value: 'a&b' }], resources: { limits: { memory: '1024Mi' } } },
    ],
  },
});

/** One manifest for both kinds, which differ in the API version only. */
const apply = (c: Case, apiVersion: string, image: string, spec: object = {}): Promise<string> =>
  c.kubectl(
    ['apply', '-f', '-'],
    JSON.stringify({
      apiVersion,
      kind: 'DaemonSet',
      metadata: { name: 'app', annotations: { 'edgeset.io/settle-seconds': '1' } },
      spec: { selector: { matchLabels: { app: 'app' } }, template: templateOf(c, image), ...spec },
    }),
  );

const orphan = (c: Case, kind: string): Promise<string> => c.kubectl(['delete', kind, 'app', '--cascade=orphan']);

/** Pods and the containers in them: whatever restarts is another one. */
const identities = async (c: Case): Promise<string[]> =>
  (await c.pods())
    .map(({ uid, object }) => {
      const [container] = object.status?.containerStatuses ?? [];
      return `${uid} ${container?.containerID} ${container?.state?.running?.startedAt} ${container?.restartCount}`;
    })
    .toSorted();

const revisions = async (c: Case): Promise<ControllerRevision[]> =>
  (await c.api.get<{ items: ControllerRevision[] }>(`/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`))
    .items;

const native = (c: Case): Promise<DaemonSet | undefined> =>
  c.api.find(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`);

/** The native controller takes every pod for one of what it asks for. */
const untilNative = (c: Case): Promise<unknown> =>
  c.until('the native controller is content', async () => {
    const { metadata, status } = (await native(c)) ?? {};
    const { length } = c.nodes;
    const seen = status !== undefined && status.observedGeneration === metadata?.generation;
    return seen && status.updatedNumberScheduled === length && status.numberAvailable === length;
  });

/** The pods are the Advanced DaemonSet's, and all is done. */
const untilAdvanced = async (c: Case, image: string): Promise<void> => {
  await c.untilComplete(image);
  await c.until('all pods are its own', async () => {
    const { uid } = (await c.advanced()).metadata;
    const pods = await c.pods();
    return pods.length === c.nodes.length && pods.every(({ object }) => controllerOf(object)?.uid === uid);
  });
};

export const handingOver = section(
  'Handover',
  (rule) => {
    for (const version of ['v1alpha1', 'v1beta1'])
      rule(`from a native DaemonSet and back, with kubectl and the API version alone (${version})`, async (c) => {
        await apply(c, 'apps/v1', 'app:v1');
        await c.untilRunning('app:v1');
        await untilNative(c);
        const before = await identities(c);
        const [recorded, ...others] = await revisions(c);
        assert.equal(others.length, 0);

        await orphan(c, 'daemonsets.apps');
        await apply(c, `apps.kruise.io/${version}`, 'app:v1');
        await untilAdvanced(c, 'app:v1');
        assert.deepEqual(await identities(c), before);
        assert.deepEqual(
          (await revisions(c)).map(({ metadata }) => metadata?.uid),
          [recorded?.metadata?.uid],
          'its revision is taken over as it is',
        );
        const { metadata, status } = await c.advanced();
        assert.equal(status?.updateRevision, recorded?.metadata?.labels?.['controller-revision-hash']);
        assert.equal(metadata.generation, 1);

        await orphan(c, 'ads');
        await apply(c, 'apps/v1', 'app:v1');
        await untilNative(c);
        assert.deepEqual(await identities(c), before);
        assert.equal((await revisions(c)).length, 1, 'it wrote none of its own');
        assert.deepEqual(await c.updates(), []);
      });

    rule(
      'pods of a native DaemonSet that is being deleted are left to it until all are released, also by a manager that starts then',
      async (c) => {
        const nativePath = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/app`;
        await apply(c, 'apps/v1', 'app:v1');
        await c.untilRunning('app:v1');
        await untilNative(c);
        const before = await identities(c);
        const [first, ...others] = await c.pods();
        // It stands for a garbage collector that takes its time.
        await c.api.merge(nativePath, { metadata: { finalizers: ['example.com/hold'] } });
        await c.kubectl(['delete', 'daemonsets.apps', 'app', '--wait=false']);
        await apply(c, 'apps.kruise.io/v1beta1', 'app:v1');
        const untilStalled = (message: RegExp): Promise<unknown> =>
          c.until(`it says ${message}`, async () =>
            (await c.advanced()).status?.conditions?.some(
              (one) => one.type === 'Stalled' && one.reason === 'NativeDaemonSet' && message.test(one.message),
            ),
          );
        await untilStalled(/native DaemonSet app, which is being deleted,/);
        const release = (name = ''): Promise<unknown> =>
          c.api.merge(`/api/v1/namespaces/${c.namespace}/pods/${name}`, { metadata: { ownerReferences: null } });
        await release(first?.name);
        await c.manager.stop();
        await c.startManager();
        await c.expectNoUpdatesFor(6);
        assert.deepEqual(await identities(c), before);
        assert.equal((await c.pods()).filter(({ object }) => controllerOf(object) === undefined).length, 1);
        assert.equal((await revisions(c)).length, 1);
        for (const { name } of others) await release(name);
        for (const { metadata } of await revisions(c))
          await c.api.merge(`/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions/${metadata?.name}`, {
            metadata: { ownerReferences: null },
          });
        await c.api.merge(nativePath, { metadata: { finalizers: null } });
        await untilAdvanced(c, 'app:v1');
        assert.deepEqual(await identities(c), before);
        assert.equal((await revisions(c)).length, 1);
        assert.deepEqual(await c.updates(), []);
      },
    );

    rule('pods whose owner is gone are waited for, until the garbage collector has deleted them', async (c) => {
      await apply(c, 'apps/v1', 'app:v1');
      await c.untilRunning('app:v1');
      await untilNative(c);
      const before = await identities(c);
      await apply(c, 'apps.kruise.io/v1beta1', 'app:v1');
      await c.kubectl(['delete', 'daemonsets.apps', 'app', '--cascade=background', '--wait=false']);
      await untilAdvanced(c, 'app:v1');
      assert.equal((await identities(c)).filter((one) => before.includes(one)).length, 0);
    });

    rule(
      'pods that were created and updated here are handed to a native DaemonSet, which updates them, and come back',
      async (c) => {
        const updateStrategy = { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible' } };
        await apply(c, 'apps.kruise.io/v1beta1', 'app:v1', { updateStrategy });
        await untilAdvanced(c, 'app:v1');
        await apply(c, 'apps.kruise.io/v1beta1', 'app:v2', { updateStrategy });
        await untilAdvanced(c, 'app:v2');
        const before = await identities(c);
        await orphan(c, 'ads');
        await apply(c, 'apps/v1', 'app:v2');
        await untilNative(c);
        assert.deepEqual(await identities(c), before);
        await apply(c, 'apps/v1', 'app:v3');
        await c.untilRunning('app:v3');
        await untilNative(c);
        const updated = await identities(c);
        await orphan(c, 'daemonsets.apps');
        await apply(c, 'apps.kruise.io/v1alpha1', 'app:v3');
        await untilAdvanced(c, 'app:v3');
        assert.deepEqual(await identities(c), updated);
        await c.until('all that is left of before is its own', async () => {
          const { uid } = (await c.advanced()).metadata;
          const all = await revisions(c);
          return all.length === 3 && all.every((revision) => controllerOf(revision)?.uid === uid);
        });
      },
    );

    rule(
      'pods whose owner reference names the other API version are its own, and are updated and released alike',
      async (c) => {
        await c.rolledOut({ rollingUpdate: { partition: 2 } });
        const before = await identities(c);
        const { uid } = (await c.advanced()).metadata;
        for (const { name } of await c.pods()) {
          const ownerReferences = [{ uid, apiVersion: 'apps.kruise.io/v1alpha1', kind: 'DaemonSet', name: 'app' }];
          await c.api.patch(`/api/v1/namespaces/${c.namespace}/pods/${name}`, { metadata: { ownerReferences } });
        }
        const versions = async (): Promise<(string | undefined)[]> =>
          (await c.pods()).map(({ object }) => controllerOf(object)?.apiVersion);
        assert.deepEqual(new Set(await versions()), new Set(['apps.kruise.io/v1alpha1']));
        await c.expectNoUpdatesFor(3);
        assert.deepEqual(await identities(c), before);
        await c.setImage('app:v2');
        await c.until('one is new', async () => (await c.running('app:v2')).length === 1);
        await orphan(c, 'ads');
        await c.until('they are nobody’s', async () => (await versions()).every((one) => one === undefined));
        assert.equal(
          (await c.pods()).some(({ terminating }) => terminating),
          false,
        );
      },
    );
  },
  { kind: 'advanced' },
);
