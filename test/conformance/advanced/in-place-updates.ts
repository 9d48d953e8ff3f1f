import assert from 'node:assert/strict';
import type { ContainerStatus, Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../index.ts';
import { type Case, type PodView, type Shape, section } from '../kit/index.ts';
import { setRolling, starting } from './strategy.ts';

const GATE = 'InPlaceUpdateReady';
const inPlace = { rollingUpdateType: 'InPlaceIfPossible' } as const;

const amounts = (cpu: string) => ({ requests: { cpu, memory: '64Mi' } });

interface Parts {
  main?: string;
  helper?: string;
  side?: string;
  once?: string;
  cpu?: string;
}

/** A plain init container, a sidecar, a container, and one that is launched before it. */
const specOf = ({ main = 'app:v1', helper = 'helper:v1', side = 'side:v1', once = 'once:v1', cpu = '100m' }: Parts) =>
  ({
    initContainers: [
      { name: 'once', image: once },
      { name: 'side', image: side, restartPolicy: 'Always' },
    ],
    containers: [
      { name: 'app', image: main, resources: amounts(cpu) },
      { name: 'helper', image: helper, env: [{ name: 'KRUISE_CONTAINER_PRIORITY', value: '5' }] },
    ],
  }) satisfies Partial<PodSpec>;

const shape = (parts: Parts = {}, more: Shape = {}): Shape => ({
  podSpec: specOf(parts),
  rollingUpdate: inPlace,
  ...more,
});

const change = (c: Case, parts: Parts): Promise<unknown> => c.change({ spec: { template: { spec: specOf(parts) } } });

const statuses = ({ object }: PodView): ContainerStatus[] => [
  ...(object.status?.initContainerStatuses ?? []),
  ...(object.status?.containerStatuses ?? []),
];

/** Of each pod its UID and which of its containers were started how often. */
const starts = (pods: readonly PodView[]): string[] =>
  pods
    .map((pod) => {
      const counts = statuses(pod).map(({ name, restartCount }) => `${name}:${restartCount}`);
      return `${pod.uid} ${counts.join(',')}`;
    })
    .toSorted();

/** Writes of the managers to pods, without those that met a change by somebody else. */
const writes = async (c: Case): Promise<AuditRecord[]> =>
  (await c.calls()).filter(
    ({ verb, resource, code }) => /^pods\b/.test(resource) && !['get', 'list', 'watch'].includes(verb) && code !== 409,
  );

/** Every pod is of the target, and available. */
const untilDone = async (c: Case): Promise<PodView[]> => {
  await c.untilCondition('Complete');
  return c.pods();
};

/** One pod is changed: an update for which only the gate was closed is reverted when the template changes. */
const untilChanged = (c: Case): Promise<unknown> =>
  c.until('a pod is changed', async () => (await c.pods()).some(({ image }) => image === 'app:v2'));

const wordOf = ({ verb, resource, request, code }: AuditRecord): string => {
  const { conditions = [] } = (request as Pod | undefined)?.status ?? {};
  const set = conditions.map(({ type, status }) => `${type}=${status}`);
  return [verb, resource, ...set, ...(code < 300 ? [] : [code])].join(' ');
};

/** What was written to one pod after another, in the order of the writes. */
const writesByPod = (records: readonly AuditRecord[]): string[][] => {
  const pods = new Map<string, string[]>();
  for (const record of records) pods.set(record.name, [...(pods.get(record.name) ?? []), wordOf(record)]);
  return [...pods.values()];
};

const SHUT = `patch pods/status ${GATE}=False`;
const OPEN = `patch pods/status ${GATE}=True`;
const THREE = [SHUT, 'patch pods', OPEN];
/** The dry run comes first. */
const RESIZED = ['patch pods/resize', SHUT, 'patch pods/resize', 'patch pods', OPEN];

export const inPlaceUpdates = section(
  'In place',
  (rule) => {
    for (const [what, parts, restarted, expected] of [
      ['the image of a container', { main: 'app:v2' }, 'app', THREE],
      ['the image of a sidecar', { side: 'side:v2' }, 'side', THREE],
      ['another tag of the same image, recognized by the container alone', { main: 'app:v2.is-v1' }, 'app', THREE],
      ['cpu, through resize, for which it is asked before', { cpu: '200m' }, '', RESIZED],
    ] as const)
      rule(
        `${what}: pods keep their UID, unchanged containers keep running, and each pod takes ${expected.length} writes`,
        async (c) => {
          await c.rolledOut(shape());
          const before = await c.pods();
          const written = (await writes(c)).length;
          await change(c, parts);
          const after = await untilDone(c);
          const wanted = starts(before).map((text) => text.replace(`${restarted}:0`, `${restarted}:1`));
          assert.deepEqual(starts(after), restarted === '' ? starts(before) : wanted);
          assert.deepEqual(
            writesByPod((await writes(c)).slice(written)),
            c.nodes.map(() => expected),
          );
          const { updateRevision } = (await c.advanced()).status ?? {};
          for (const { hash, object } of after) {
            assert.equal(hash, updateRevision);
            assert.equal(object.spec?.containers[0]?.resources?.requests?.cpu, 'cpu' in parts ? '200m' : '100m');
          }
          await c.untilEvent('SuccessfulUpdatePodInPlace');
        },
        { nodes: 2 },
      );

    rule(
      'a tag that appears: the pull policy that follows from it is no other difference',
      async (c) => {
        await c.rolledOut(shape({ main: 'app' }, { image: 'app' }));
        const before = await c.pods();
        await change(c, { main: 'app:v2' });
        const after = await untilDone(c);
        assert.deepEqual(after.map(({ uid }) => uid).toSorted(), before.map(({ uid }) => uid).toSorted());
        for (const { image, object } of after) {
          assert.equal(image, 'app:v2');
          assert.equal(object.spec?.containers[0]?.imagePullPolicy, 'Always', 'it keeps its own');
        }
      },
      { nodes: 2 },
    );

    rule('labels and annotations alone take one write, and no pod becomes unready', async (c) => {
      await c.rolledOut(shape());
      const before = await c.pods();
      const written = (await writes(c)).length;
      await c.change({ spec: { template: { metadata: { labels: { tier: 'edge' }, annotations: { note: 'two' } } } } });
      const after = await untilDone(c);
      assert.deepEqual(starts(after), starts(before));
      const since = ({ object }: PodView): unknown =>
        object.status?.conditions?.filter(({ type }) => type === 'Ready' || type === GATE);
      assert.deepEqual(after.map(since), before.map(since));
      for (const { object } of after)
        assert.deepEqual([object.metadata?.labels?.tier, object.metadata?.annotations?.note], ['edge', 'two']);
      assert.deepEqual(
        writesByPod((await writes(c)).slice(written)),
        c.nodes.map(() => ['patch pods']),
      );
    });

    for (const [what, parts] of [
      ['a plain init container', { once: 'once:v2' }],
      ['more than images, such as a command', { main: 'app:v2' }],
    ] as const)
      rule(
        `${what} is updated by a new pod`,
        async (c) => {
          await c.rolledOut(shape());
          const before = await c.pods();
          const spec = specOf(parts);
          const [first, ...others] = spec.containers;
          const containers = 'main' in parts ? [{ ...first, command: ['serve'] }, ...others] : spec.containers;
          await c.change({ spec: { template: { spec: { ...spec, containers } } } });
          const after = await untilDone(c);
          for (const { uid } of after) assert.ok(!before.some((pod) => pod.uid === uid));
          assert.equal((await c.podWrites('delete')).length, c.nodes.length);
          for (const { object } of after)
            assert.equal(object.spec?.readinessGates?.filter(({ conditionType }) => conditionType === GATE).length, 1);
        },
        { nodes: 2 },
      );

    rule(
      'containers with a launch priority are replaced in that order, each after the previous one has started',
      async (c) => {
        await c.rolledOut(shape({}, starting(800)));
        await change(c, { main: 'app:v2', helper: 'helper:v2' });
        const [pod] = await untilDone(c);
        const imagesIn = ({ spec }: Pod): string[] => (spec?.containers ?? []).map(({ image = '' }) => image);
        const patches = (await writes(c)).filter(({ verb, resource }) => verb === 'patch' && resource === 'pods');
        assert.deepEqual(
          patches.map(({ response }) => imagesIn(response as Pod)),
          [
            ['app:v1', 'helper:v2'],
            ['app:v2', 'helper:v2'],
          ],
        );
        assert.match(starts(pod ? [pod] : []).join(), / once:0,side:0,app:1,helper:1$/);
        const helper = pod?.object.status?.containerStatuses?.find(({ name }) => name === 'helper');
        const startedAt = Date.parse(helper?.state?.running?.startedAt ?? '');
        assert.ok((patches[1]?.receivedAt ?? 0) >= startedAt, 'the second waits for the first');
      },
      { nodes: 1 },
    );

    rule(
      'the grace period passes between closing the gate and the change',
      async (c) => {
        await c.rolledOut(shape({}, { annotations: { 'apps.kruise.io/inplace-update-grace': '5' } }));
        await change(c, { main: 'app:v2' });
        await untilDone(c);
        const all = await writes(c);
        const shut = all.findIndex((record) => wordOf(record) === SHUT);
        const [begun, patched] = all.slice(shut);
        const waited = (patched?.receivedAt ?? 0) - (begun?.receivedAt ?? 0);
        // From a time in whole seconds, and each request a moment after it was decided.
        assert.ok(waited >= 3_500, `${waited} ms`);
      },
      { nodes: 1 },
    );

    rule('pods without the gate are recreated once, and updated in place afterwards', async (c) => {
      await c.rolledOut();
      await setRolling(c, inPlace);
      await c.setImage('app:v2');
      await untilDone(c);
      assert.equal((await c.podWrites('delete')).length, 3);
      const before = await c.pods();
      await c.setImage('app:v3');
      const after = await untilDone(c);
      assert.deepEqual(after.map(({ uid }) => uid).toSorted(), before.map(({ uid }) => uid).toSorted());
      assert.equal((await c.podWrites('in-place')).length, 3);
    });

    rule('a pod whose in-place update misses the progress deadline is recreated', async (c) => {
      const [late = ''] = c.nodes;
      await c.rolledOut(shape({}, { annotations: { 'edgeset.io/progress-deadline-seconds': '4' } }));
      const before = await c.podOn(late);
      await c.cluster.behave([late], { startMs: 60_000 });
      await setRolling(c, { selector: { matchLabels: { 'kubernetes.io/hostname': late } } });
      await c.api.merge(`/api/v1/nodes/${late}`, { metadata: { labels: { 'kubernetes.io/hostname': late } } });
      await change(c, { main: 'app:v2' });
      await c.until('it is recreated', async () => (await c.podWrites('delete')).length === 1);
      await c.cluster.behave([late], undefined);
      await c.untilRunning('app:v2', [late]);
      assert.notEqual((await c.podOn(late)).uid, before.uid);
      assert.deepEqual(
        (await c.podWrites()).filter(({ node }) => node === late).map(({ kind }) => kind),
        ['create', 'in-place', 'delete', 'create'],
      );
    });

    rule(
      'resources that the node cannot provide are reported, and the pod is recreated after the deadline',
      async (c) => {
        const podAnnotations = { 'sim.edgeset.io/resize': 'infeasible' };
        await c.rolledOut(shape({}, { podAnnotations, annotations: { 'edgeset.io/progress-deadline-seconds': '4' } }));
        await change(c, { cpu: '200m' });
        assert.match((await c.untilEvent('FailedUpdatePodInPlace')).note ?? '', /capacity/);
        const [pod] = await untilDone(c);
        assert.equal(pod?.object.spec?.containers[0]?.resources?.requests?.cpu, '200m');
        assert.deepEqual(
          (await c.podWrites()).map(({ kind }) => kind),
          ['create', 'in-place', 'delete', 'create'],
        );
      },
      { nodes: 1 },
    );

    rule(
      'a partition and a pause also apply to in-place updates',
      async (c) => {
        await c.rolledOut(shape({}, { ...starting(1500), rollingUpdate: { ...inPlace, partition: 1 } }));
        const before = await c.pods();
        await change(c, { main: 'app:v2' });
        await untilChanged(c);
        await setRolling(c, { paused: true });
        await c.until('the one that was begun ends well', async () => (await c.running('app:v2')).length === 1);
        await c.expectNoUpdatesFor(1);
        await setRolling(c, { paused: false });
        await c.untilRunning('app:v2', c.nodes.slice(1));
        await c.expectNoUpdatesFor(1);
        await setRolling(c, { partition: 0 });
        const after = await untilDone(c);
        assert.deepEqual(after.map(({ uid }) => uid).toSorted(), before.map(({ uid }) => uid).toSorted());
        assert.deepEqual((await c.podWrites('in-place')).length, 3);
      },
      { nodes: 3 },
    );

    rule(
      'the same pods follow a template that is changed midway, and back',
      async (c) => {
        await c.rolledOut(shape({}, starting(1500)));
        const before = await c.pods();
        await change(c, { main: 'app:v2' });
        await c.untilUpdates(1);
        await change(c, { main: 'app:v3' });
        await c.untilRunning('app:v3', c.nodes);
        await change(c, { main: 'app:v4' });
        await c.untilUpdates((await c.updates()).length + 1);
        await change(c, { main: 'app:v3' });
        await c.untilRunning('app:v3', c.nodes);
        const after = await untilDone(c);
        assert.deepEqual(after.map(({ uid }) => uid).toSorted(), before.map(({ uid }) => uid).toSorted());
        assert.deepEqual(await c.podWrites('delete'), []);
      },
      { nodes: 2 },
    );

    rule('the strategy can change midway, to in place and back', async (c) => {
      await c.rolledOut(shape({}, starting(1200)));
      await change(c, { main: 'app:v2' });
      await untilChanged(c);
      await setRolling(c, { rollingUpdateType: 'Standard' });
      await c.until('one is recreated', async () => (await c.podWrites('delete')).length === 1);
      await setRolling(c, inPlace);
      await c.untilRunning('app:v2');
      await untilDone(c);
      assert.equal((await c.updates()).length, 3, 'once a node');
    });

    rule('a version that crashes is halted, and the next one repairs it in place', async (c) => {
      await c.rolledOut(shape());
      const before = await c.pods();
      await change(c, { main: 'app:v2--crash-loop' });
      await c.untilCondition('Halted');
      assert.equal((await c.updates()).length, 1);
      await change(c, { main: 'app:v3' });
      const after = await untilDone(c);
      assert.deepEqual(after.map(({ uid }) => uid).toSorted(), before.map(({ uid }) => uid).toSorted());
    });

    rule('a node that goes offline midway blocks no other, and is updated when it is back', async (c) => {
      await c.rolledOut(shape({}, starting(2500)));
      await change(c, { main: 'app:v2' });
      await c.untilUpdates(1);
      const [away = ''] = await c.updatedNodes();
      await c.cluster.offline([away]);
      await c.untilRunning(
        'app:v2',
        c.nodes.filter((name) => name !== away),
      );
      await c.cluster.online([away]);
      await c.untilRunning('app:v2');
      await untilDone(c);
      assert.equal((await c.podWrites('in-place')).length, 3);
    });
  },
  { kind: 'advanced' },
);
