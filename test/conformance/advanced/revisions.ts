import assert from 'node:assert/strict';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { type Case, section } from '../kit/index.ts';

const HASH = 'controller-revision-hash';

const pathOf = (c: Case): string => `/apis/apps/v1/namespaces/${c.namespace}/controllerrevisions`;

/** Oldest first. */
const revisions = async (c: Case): Promise<ControllerRevision[]> =>
  (await c.api.get<{ items: ControllerRevision[] }>(pathOf(c))).items.toSorted((a, b) => a.revision - b.revision);

const hashOf = ({ metadata }: ControllerRevision): string => metadata?.labels?.[HASH] ?? '';

const templateOf = ({ data }: ControllerRevision): PodTemplateSpec => {
  const { $patch: _, ...template } = (data as { spec: { template: PodTemplateSpec & { $patch?: string } } }).spec
    .template;
  return template;
};
const imageOf = (revision: ControllerRevision): string | undefined => templateOf(revision).spec?.containers[0]?.image;

/** Numbers and images of what is kept, oldest first. */
const kept = async (c: Case): Promise<string[]> =>
  (await revisions(c)).map((revision) => `${revision.revision} ${imageOf(revision)}`);

/** All online nodes run the image, and the DaemonSet says so of what it asks for now. */
const untilDone = async (c: Case, image: string, nodes: readonly string[] = c.nodes): Promise<void> => {
  await c.untilComplete(image, nodes);
  await c.until('its status says so', async () => {
    const { metadata, status } = await c.advanced();
    return status?.observedGeneration === metadata.generation && status?.updatedNumberScheduled === nodes.length;
  });
};

const conditionOf = async (c: Case, type: string) =>
  (await c.advanced()).status?.conditions?.find((condition) => condition.type === type);

export const history = section(
  'Revisions',
  (rule) => {
    rule('going back to an earlier template uses its revision again, with the highest number', async (c) => {
      await c.rolledOut();
      const [first] = await revisions(c);
      assert.ok(first);
      await c.setImage('app:v2');
      await untilDone(c, 'app:v2');
      assert.deepEqual(await kept(c), ['1 app:v1', '2 app:v2']);
      await c.setImage('app:v1');
      await untilDone(c, 'app:v1');
      assert.deepEqual(await kept(c), ['2 app:v2', '3 app:v1']);
      const again = (await revisions(c)).at(-1);
      assert.equal(again?.metadata?.uid, first.metadata?.uid);
      assert.equal((await c.advanced()).status?.updateRevision, hashOf(first));
      for (const { hash } of await c.pods()) assert.equal(hash, hashOf(first));
      assert.equal(again?.metadata?.name, `app-${hashOf(first)}`);
    });

    rule('a template that only adds defaults is the same one, and only the status is written', async (c) => {
      await c.rolledOut();
      const before = await revisions(c);
      const defaults = { terminationGracePeriodSeconds: 30, restartPolicy: 'Always', dnsPolicy: 'ClusterFirst' };
      await c.change({ spec: { template: { spec: defaults } } });
      await untilDone(c, 'app:v1');
      const { metadata, status } = await c.advanced();
      assert.deepEqual([metadata.generation, status?.observedGeneration], [2, 2]);
      assert.deepEqual(
        (await revisions(c)).map(({ metadata: of }) => of?.resourceVersion),
        before.map(({ metadata: of }) => of?.resourceVersion),
      );
      await c.expectNoUpdatesFor(2);
      assert.deepEqual(await c.updates(), []);
    });

    rule(
      'one edit results in generation 2, since the controller writes no spec; the generation of old clients is ignored',
      async (c) => {
        const old = 'deprecated.daemonset.template.generation';
        await c.rolledOut({ annotations: { [old]: '7' } });
        await c.annotate({ [old]: '8' });
        await c.expectNoUpdatesFor(2);
        assert.equal((await c.advanced()).metadata.generation, 1);
        await c.setImage('app:v2');
        await untilDone(c, 'app:v2');
        const { metadata, status } = await c.advanced();
        assert.deepEqual([metadata.generation, status?.observedGeneration], [2, 2]);
        const writes = (await c.calls()).filter(
          ({ group, verb }) => group === 'apps.kruise.io' && !['get', 'list', 'watch'].includes(verb),
        );
        assert.deepEqual(
          new Set(writes.map(({ verb, resource }) => `${verb} ${resource}`)),
          new Set(['patch daemonsets/status']),
        );
        assert.ok(
          (await c.pods()).every(({ object }) => object.metadata?.labels?.['pod-template-generation'] === undefined),
        );
      },
    );

    rule('a name that another revision has counts as a collision, and another one is chosen', async (c) => {
      await c.startRollout('app:v2', { spec: { revisionHistoryLimit: 0 } });
      await untilDone(c, 'app:v2');
      const taken = `app-${(await c.advanced()).status?.updateRevision}`;
      await c.setImage('app:v1');
      await untilDone(c, 'app:v1');
      await c.until('its name is free', async () => (await c.api.find(`${pathOf(c)}/${taken}`)) === undefined);
      await c.api.create(pathOf(c), { metadata: { name: taken }, revision: 9, data: { spec: {} } });
      await c.setImage('app:v2');
      await untilDone(c, 'app:v2');
      const { status } = await c.advanced();
      assert.equal(status?.collisionCount, 1);
      assert.notEqual(`app-${status?.updateRevision}`, taken);
      const stranger = await c.api.get<ControllerRevision>(`${pathOf(c)}/${taken}`);
      assert.equal(stranger.metadata?.ownerReferences, undefined, 'the other is let be');
      await c.setImage('app:v3');
      await untilDone(c, 'app:v3');
      assert.equal((await c.advanced()).status?.collisionCount, 1);
    });

    rule('as many are kept as the limit says, and every one that a pod has', async (c) => {
      const [away = '', ...others] = c.nodes;
      await c.rolledOut({ spec: { revisionHistoryLimit: 1 } });
      await c.cluster.offline([away]);
      await c.until('its node is seen to be away', async () => (await c.status()).nodes?.offline === 1);
      for (const image of ['app:v2', 'app:v3', 'app:v4']) {
        await c.setImage(image);
        await untilDone(c, image, others);
      }
      await c.until('the old ones are gone', async () => (await revisions(c)).length === 2);
      assert.deepEqual(await kept(c), ['1 app:v1', '4 app:v4']);
      await c.change({ spec: { revisionHistoryLimit: 0 } });
      await c.cluster.online([away]);
      await untilDone(c, 'app:v4');
      await c.until('the last old one is gone', async () => (await revisions(c)).length === 1);
    });

    rule(
      'a template that the API server refuses is reported and not rolled out, and the next edit corrects it',
      async (c) => {
        await c.rolledOut();
        const before = (await c.pods()).map(({ uid }) => uid).toSorted();
        const containers = (containerPort: number) => [{ name: 'app', image: 'app:v2', ports: [{ containerPort }] }];
        await c.change({ spec: { template: { spec: { containers: containers(70_000) } } } });
        const stalled = await c.until('it says so', async () => {
          const found = await conditionOf(c, 'Stalled');
          return found?.status === 'True' && found.observedGeneration === 2 && found;
        });
        assert.equal(stalled.reason, 'InvalidTemplate');
        assert.match(stalled.message, /spec\.template\.spec\.containers\[0\]\.ports\[0\]\.containerPort: /);
        const event = await c.untilEvent('InvalidTemplate');
        assert.match(event.note ?? '', /containers\[0\]\.ports\[0\]\.containerPort/);
        assert.match((await c.untilCondition('Stalled')).message, /containerPort/);
        assert.equal((await revisions(c)).length, 1);
        await c.expectNoUpdatesFor(2);
        assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before);
        await c.change({ spec: { template: { spec: { containers: containers(7000) } } } });
        await untilDone(c, 'app:v2');
        assert.equal((await conditionOf(c, 'Stalled'))?.status, 'False');
        assert.equal((await c.events('InvalidTemplate')).length, 1);
      },
    );

    rule('any kept revision can be restored, repeatedly', async (c) => {
      await c.rolledOut();
      for (const image of ['app:v2', 'app:v3']) {
        await c.setImage(image);
        await untilDone(c, image);
      }
      for (const image of ['app:v1', 'app:v2', 'app:v1']) {
        const found = (await revisions(c)).find((revision) => imageOf(revision) === image);
        assert.ok(found, `${image} is kept`);
        const path = `/apis/apps.kruise.io/v1alpha1/namespaces/${c.namespace}/daemonsets/app`;
        await c.api.edit(path, [{ op: 'replace', path: '/spec/template', value: templateOf(found) }]);
        await untilDone(c, image);
        assert.equal((await c.advanced()).status?.updateRevision, hashOf(found));
      }
      assert.deepEqual(await kept(c), ['3 app:v3', '5 app:v2', '6 app:v1']);
    });
  },
  { kind: 'advanced' },
);
