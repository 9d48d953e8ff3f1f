import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { controllerRevisions } from '../../../src/kube/index.ts';
import { type Case, section, strategyKey } from '../kit/index.ts';

type Numbers = Record<string, number | undefined>;

const counted = [
  'desiredNumberScheduled',
  'currentNumberScheduled',
  'numberMisscheduled',
  'numberReady',
  'numberAvailable',
  'numberUnavailable',
  'updatedNumberScheduled',
];

/** What the status counts, once it says this. */
const untilCounted = (c: Case, wanted: Numbers): Promise<unknown> =>
  c.until(`the status says ${JSON.stringify(wanted)}`, async () => {
    const status = ((await c.advanced()).status ?? {}) as Numbers;
    const wrong = Object.entries(wanted).filter(([key, value]) => status[key] !== value);
    if (wrong.length === 0) return true;
    throw new Error(`it says ${JSON.stringify(Object.fromEntries(wrong.map(([key]) => [key, status[key]])))}`);
  });

const conditions = async (c: Case): Promise<Record<string, string>> =>
  Object.fromEntries(
    ((await c.advanced()).status?.conditions ?? []).map(({ type, status, reason }) => [type, `${status} ${reason}`]),
  );

/** Words of each line. */
const table = (text: string): string[][] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => line.split(/ {2,}/).map((word) => word.trim()));

export const status = section(
  'Status of Advanced DaemonSets',
  (rule) => {
    rule('counts nodes and pods as native DaemonSets do, and names the revision', async (c) => {
      const [first = ''] = c.nodes;
      await c.rolledOut({ minReadySeconds: 2 });
      const all = { currentNumberScheduled: 3, desiredNumberScheduled: 3, numberMisscheduled: 0 };
      await untilCounted(c, {
        ...all,
        numberReady: 3,
        numberAvailable: 3,
        numberUnavailable: 0,
        updatedNumberScheduled: 3,
        observedGeneration: 1,
      });
      const { status: found } = await c.advanced();
      const [revision] = (await c.cluster.client.list(controllerRevisions, { namespace: c.namespace })).items;
      const hash = revision?.metadata?.labels?.['controller-revision-hash'];
      assert.deepEqual([found?.updateRevision, found?.daemonSetHash, found?.collisionCount], [hash, hash, undefined]);
      const said = {
        Ready: 'True Complete',
        Reconciling: 'False Complete',
        Stalled: 'False NothingInTheWay',
        Paused: 'False NotPaused',
      };
      await c.until('conditions say so too', async () => isDeepStrictEqual(await conditions(c), said));

      await c.breakPod(first);
      await untilCounted(c, { ...all, numberReady: 2, numberAvailable: 2, numberUnavailable: 1 });
      await c.setImage('app:v2--never-ready');
      await untilCounted(c, { observedGeneration: 2, updatedNumberScheduled: 1 });
      assert.equal((await conditions(c)).Ready?.split(' ')[0], 'False');
    });

    rule('a pod that is ready counts as available after minReadySeconds', async (c) => {
      await c.create({ minReadySeconds: 6 });
      await untilCounted(c, { numberReady: 3, numberAvailable: 0, numberUnavailable: 3 });
      await untilCounted(c, { numberReady: 3, numberAvailable: 3, numberUnavailable: 0 });
    });

    rule('a pod on a node that is no longer eligible is misscheduled', async (c) => {
      const [tainted = ''] = c.nodes;
      await c.rolledOut();
      await c.api.patch(`/api/v1/nodes/${tainted}`, { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } });
      await untilCounted(c, {
        desiredNumberScheduled: 2,
        currentNumberScheduled: 2,
        numberMisscheduled: 1,
        numberAvailable: 2,
        updatedNumberScheduled: 2,
      });
      assert.ok((await c.podOn(tainted)).ready, 'it stays');
      await c.api.merge(`/api/v1/nodes/${tainted}`, { spec: { taints: null } });
      await untilCounted(c, { desiredNumberScheduled: 3, numberMisscheduled: 0 });
    });

    rule("its numbers are a native DaemonSet's on the same nodes, also while some are offline", async (c) => {
      const [away = '', tainted = ''] = c.nodes;
      const native = { name: 'native', updateStrategy: 'RollingUpdate', annotations: { [strategyKey]: null } } as const;
      await c.rolledOut();
      await c.create(native, 'native');
      const numbers = async (path: string): Promise<Numbers> => {
        const { status: found = {} } = await c.api.get<{ status?: Numbers }>(path);
        // Go omits those that are 0.
        return Object.fromEntries(counted.map((name) => [name, found[name] ?? 0]));
      };
      const nativePath = `/apis/apps/v1/namespaces/${c.namespace}/daemonsets/native`;
      let looks = 0;
      const untilBoth = (wanted: Numbers): Promise<unknown> =>
        c.until(`both count ${JSON.stringify(wanted)}`, async () => {
          // The native controller counts again when the DaemonSet or a pod changes, not for every taint of a node.
          await c.api.merge(nativePath, { metadata: { annotations: { looks: String(++looks) } } });
          const both = await Promise.all([
            numbers(nativePath),
            numbers(`/apis/apps.kruise.io/v1beta1/namespaces/${c.namespace}/daemonsets/app`),
          ]);
          if (both.every((found) => isDeepStrictEqual(found, { ...found, ...wanted })) && isDeepStrictEqual(...both))
            return true;
          throw new Error(`they count ${JSON.stringify(both)}`);
        });
      const [all, two] = [3, 2].map((count) => ({
        desiredNumberScheduled: count,
        currentNumberScheduled: count,
        numberReady: count,
        numberAvailable: count,
        updatedNumberScheduled: count,
        numberUnavailable: 0,
        numberMisscheduled: 3 - count,
      }));
      await untilBoth({ ...all });
      await c.cluster.offline([away]);
      await untilBoth({ ...two });
      const pod = await c.podOn(away);
      const { eligible, offline } = (await c.status()).nodes ?? {};
      assert.deepEqual({ eligible, offline }, { eligible: 3, offline: 1 }, 'the rollout has the node');
      await c.untilCondition('Complete');
      await c.cluster.online([away]);
      await untilBoth({ ...all });
      assert.equal((await c.podOn(away)).uid, pod.uid, 'the pod is kept');
      await c.api.patch(`/api/v1/nodes/${tainted}`, { spec: { taints: [{ key: 'mine', effect: 'NoSchedule' }] } });
      await untilBoth({ ...two });
    });

    rule('kubectl prints it by both short names, with columns of native DaemonSets', async (c) => {
      await c.rolledOut();
      await untilCounted(c, { numberAvailable: 3, updatedNumberScheduled: 3 });
      for (const name of ['ads', 'daemon', 'daemonsets.apps.kruise.io']) {
        const [head, row] = table(await c.kubectl(['get', name]));
        assert.deepEqual(head, ['NAME', 'DESIRED', 'CURRENT', 'READY', 'UP-TO-DATE', 'AVAILABLE', 'AGE']);
        assert.deepEqual(row?.slice(0, 6), ['app', '3', '3', '3', '3', '3']);
        assert.match(row[6] ?? '', /^\d+[sm]/);
      }
      const [head, row] = table(await c.kubectl(['get', 'ads', 'app', '-o', 'wide']));
      assert.deepEqual(head?.slice(7), ['CONTAINERS', 'IMAGES']);
      assert.deepEqual(row?.slice(7), ['app', 'app:v1']);
      const waited = await c.kubectl(['wait', '--for=condition=Ready', 'ads/app', '--timeout=10s']);
      assert.match(waited, /condition met/);
    });
  },
  { kind: 'advanced' },
);
