import assert from 'node:assert/strict';
import type { Pod, PodSpec } from 'kubernetes-types/core/v1.d.ts';
import type { AdvancedDaemonSet } from '../../../src/kinds/advanced/index.ts';
import { type Case, type PodView, refusePods, section } from '../kit/index.ts';
import { kinds } from '../kit/kinds.ts';
import { edgeset, succeeds, untilSaid } from '../plugin/run.ts';

const GATE = 'InPlaceUpdateReady';
const inPlace = { rollingUpdateType: 'InPlaceIfPossible' } as const;

const withCpu = (cpu: string): Partial<PodSpec> => ({
  containers: [{ name: 'app', image: 'app:v1', resources: { requests: { cpu } } }],
});
const setCpu = (c: Case, cpu: string): Promise<unknown> => c.change({ spec: { template: { spec: withCpu(cpu) } } });

const refuseResize = (c: Case): Promise<() => Promise<void>> =>
  refusePods(c, { operation: 'UPDATE', subresource: 'resize', expression: 'false', message: 'at most 500m' });

const refuseCreation = (c: Case): Promise<() => Promise<void>> =>
  refusePods(c, { operation: 'CREATE', expression: 'false', message: 'no pods today' });

/** Names of pods of the DaemonSet that were ever out of service for an in-place update. */
const everClosed = async (c: Case): Promise<string[]> =>
  (await c.cluster.audit.read())
    .filter(
      ({ namespace, resource, code, dryRun }) =>
        namespace === c.namespace && resource === 'pods/status' && code < 300 && !dryRun,
    )
    .filter(({ response }) =>
      (response as Pod).status?.conditions?.some(({ type, status }) => type === GATE && status === 'False'),
    )
    .map(({ name }) => name);

const uidsOf = (pods: readonly PodView[]): string[] => pods.map(({ uid }) => uid).toSorted();

/** Both objects are stalled for one reason, with one text. Resolves with the text. */
const untilBothStalled = async (c: Case, reason: string): Promise<string> => {
  const found = await c.until('both objects are stalled alike', async () => {
    const ofDaemonSet = (await c.advanced()).status?.conditions?.find(({ type }) => type === 'Stalled');
    const ofRollout = await c.condition('Stalled');
    const isAlike = ofDaemonSet?.message === ofRollout?.message && ofDaemonSet?.reason === ofRollout?.reason;
    return ofRollout?.status === 'True' && ofDaemonSet?.status === 'True' && isAlike && ofRollout;
  });
  assert.equal(found.reason, reason);
  return found.message;
};

const untilNotStalled = (c: Case): Promise<unknown> =>
  c.until('neither object is stalled', async () => {
    const ofDaemonSet = (await c.advanced()).status?.conditions?.find(({ type }) => type === 'Stalled');
    return ofDaemonSet?.status === 'False' && (await c.condition('Stalled'))?.status === 'False';
  });

/** What the commands say of it: `wait` ends, `status` and `explain` quote the API server. */
const untilCommandsSay = async (c: Case, said: RegExp): Promise<void> => {
  const waited = await edgeset(c, 'wait', 'ads/app', '--timeout', '60s');
  assert.equal(waited.code, 3, waited.stderr);
  assert.match(waited.stderr, said);
  await untilSaid(c, said, 'explain', 'ads/app');
  const [row, notes] = succeeds(await edgeset(c, 'status', 'ads/app'));
  assert.match(row, /Pods are refused/);
  assert.match(notes, said);
};

export const refusals = section(
  'What the API server refuses',
  (rule) => {
    rule(
      'a pod that may not be resized stays in service, and is recreated in its turn',
      async (c) => {
        await c.rolledOut({ podSpec: withCpu('200m'), rollingUpdate: { ...inPlace, maxUnavailable: 1 } });
        const before = await c.pods();
        await refuseResize(c);
        await setCpu(c, '800m');
        await c.untilCondition('Complete');
        const after = await c.pods();
        assert.deepEqual(
          after.filter(({ uid }) => uidsOf(before).includes(uid)),
          [],
        );
        for (const { object } of after) assert.equal(object.spec?.containers[0]?.resources?.requests?.cpu, '800m');
        assert.deepEqual(await everClosed(c), []);
        assert.deepEqual(
          (await c.podWrites()).map(({ kind }) => kind).filter((kind) => kind !== 'create'),
          c.nodes.map(() => 'delete'),
        );
        const { note = '' } = await c.untilEvent('FailedUpdatePodInPlace');
        assert.match(note, /at most 500m.*It is recreated instead/);
        assert.equal((await c.condition('Stalled'))?.status, 'False');
      },
      { nodes: 3, budget: 1, refusals: true },
    );

    rule(
      'while neither a resize nor a new pod is accepted, every pod stays in service, and the rollout says why',
      async (c) => {
        await c.rolledOut({ podSpec: withCpu('200m'), rollingUpdate: { ...inPlace, maxUnavailable: 2 } });
        const before = await c.pods();
        const permitResize = await refuseResize(c);
        const permitPods = await refuseCreation(c);
        await setCpu(c, '800m');
        const message = await untilBothStalled(c, 'FailedCreate');
        assert.match(message, /no pods today.*at most 500m/s);
        await untilCommandsSay(c, /no pods today/);
        await c.expectNoUpdatesFor(3);
        assert.deepEqual(uidsOf(await c.pods()), uidsOf(before));
        assert.deepEqual(await everClosed(c), []);
        const { numberAvailable, updatedNumberScheduled } = (await c.advanced()).status ?? {};
        assert.deepEqual([numberAvailable, updatedNumberScheduled], [c.nodes.length, 0]);
        // The other way round, some would be recreated.
        await permitResize();
        await permitPods();
        await c.untilCondition('Complete', 'True', 120_000);
        await untilNotStalled(c);
        assert.deepEqual(uidsOf(await c.pods()), uidsOf(before), 'resized in place after all');
      },
      { nodes: 3, budget: 2, refusals: true },
    );

    rule(
      'new pods: both objects and every command say why, and it heals',
      async (c) => {
        const lift = await refuseCreation(c);
        await c.create();
        assert.match(await untilBothStalled(c, 'FailedCreate'), /no pods today/);
        await untilCommandsSay(c, /no pods today/);
        await lift();
        await c.untilRunning('app:v1', c.nodes, 120_000);
        await untilNotStalled(c);
        assert.equal((await edgeset(c, 'wait', 'ads/app', '--timeout', '60s')).code, 0);
      },
      { nodes: 2, refusals: true },
    );

    rule('a misspelled field of the template, and no pod is replaced for it', async (c) => {
      await c.rolledOut();
      const before = await c.pods();
      const misspelled = { name: 'app', image: 'app:v2', livenessProb: { tcpSocket: { port: 80 } } };
      await c.change({ spec: { template: { spec: { containers: [misspelled] } } } });
      const stalled = await c.until('it stalls', async () =>
        (await c.advanced()).status?.conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True'),
      );
      assert.equal(stalled.reason, 'InvalidTemplate');
      assert.match(stalled.message, /unknown field "spec\.template\.spec\.containers\[0\]\.livenessProb"/);
      assert.equal((await c.untilCondition('Stalled')).reason, 'InvalidPolicy');
      await untilSaid(c, /livenessProb/, 'explain', 'ads/app');
      await c.expectNoUpdatesFor(2);
      assert.deepEqual(uidsOf(await c.pods()), uidsOf(before));
      await c.change({ spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v3' }] } } } });
      await c.untilRunning('app:v3');
    });

    rule('a misspelled field that was accepted before is reported, and holds nothing', async (c) => {
      await c.rolledOut();
      const before = await c.pods();
      // The revision on record is without the field, as an earlier manager would have recorded it.
      await c.manager.stop();
      const misspelled = { name: 'app', image: 'app:v1', livenessProb: { tcpSocket: { port: 80 } } };
      await c.change({ spec: { template: { spec: { containers: [misspelled] } } } });
      await c.startManager();
      const { note } = await c.untilEvent('UnknownFields');
      assert.match(note ?? '', /livenessProb/);
      await c.until('it has seen the template', async () => {
        const { metadata, status } = await c.advanced();
        return status?.observedGeneration === metadata.generation;
      });
      assert.equal((await c.advanced()).status?.conditions?.find(({ type }) => type === 'Stalled')?.status, 'False');
      assert.deepEqual(uidsOf(await c.pods()), uidsOf(before));
      await c.change({ spec: { template: { spec: { containers: [{ name: 'app', image: 'app:v2' }] } } } });
      await c.untilRunning('app:v2');
    });

    rule(
      'a name for which there can be no DaemonRollout',
      async (c) => {
        const { make, path } = kinds.advanced;
        const named = (length: number): object => {
          const object = make(c.namespace, {}) as AdvancedDaemonSet;
          return { ...object, metadata: { ...object.metadata, name: 'n'.repeat(length) } };
        };
        await assert.rejects(c.api.create(path(c.namespace), named(239)), /must be at most 238 characters long/);
        await c.api.create(path(c.namespace), named(238));
        const longest = `${path(c.namespace)}/${'n'.repeat(238)}`;
        await c.until('the longest is served', async () => {
          const { status } = await c.api.get<AdvancedDaemonSet>(longest);
          return status?.numberAvailable === 1;
        });
        await c.api.merge(longest, { metadata: { labels: { any: 'thing' } } });
        await c.api.remove(longest);
      },
      { nodes: 1, daemonSets: ['n'.repeat(238)] },
    );
  },
  { kind: 'advanced' },
);
