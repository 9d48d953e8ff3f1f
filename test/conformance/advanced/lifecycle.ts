import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import path from 'node:path';
import { controllerOf } from '../../../src/rollout/index.ts';
import { type Case, type PodView, type Shape, section } from '../kit/index.ts';
import { podPath } from './strategy.ts';

const FINALIZER = 'edgeset.io/pre-delete';
const STATE = 'lifecycle.apps.kruise.io/state';
const setPath = (c: Case): string => `/apis/apps.kruise.io/v1beta1/namespaces/${c.namespace}/daemonsets/app`;

/** kubectl is started several times for each pod, one after the other. */
const DRAINED_WITHIN_MS = 90_000;

/** Pods with a label that the hook holds them by. */
const hooked: Shape = {
  podLabels: { hold: 'yes' },
  spec: { lifecycle: { preDelete: { labelsHandler: { hold: 'yes' }, markPodNotReady: true } } },
};

const stateOf = ({ object }: PodView): string | undefined => object.metadata?.labels?.[STATE];
const isPreparing = (pod: PodView): boolean => stateOf(pod) === 'PreparingDelete' && !pod.terminating;
const inService = ({ object }: PodView): string | undefined =>
  object.status?.conditions?.find(({ type }) => type === 'KruisePodReady')?.status;

const preparing = async (c: Case): Promise<PodView[]> => (await c.pods()).filter(isPreparing);
const untilPreparing = (c: Case, count: number): Promise<PodView[]> =>
  c.until(`${count} pods are prepared`, async () => {
    const found = await preparing(c);
    return found.length === count && found;
  });

const letGo = (c: Case, pod: PodView): Promise<unknown> =>
  c.api.merge(podPath(c, pod), { metadata: { labels: { hold: null } } });

const finalizersOf = async (c: Case): Promise<readonly string[]> => (await c.advanced()).metadata.finalizers ?? [];
const untilHeld = (c: Case): Promise<unknown> =>
  c.until('it is held', async () => (await finalizersOf(c)).includes(FINALIZER));
const isGone = async (c: Case): Promise<boolean> => (await c.api.find(setPath(c))) === undefined;
const untilAllGone = (c: Case): Promise<unknown> =>
  c.until('DaemonSet and pods are gone', async () => (await isGone(c)) && (await c.pods()).length === 0);

/** Runs the sample controller of examples/ on the case's namespace until it is stopped. */
const runSample = (c: Case, command: readonly string[]): (() => void) => {
  const script = path.resolve('examples/drain-before-delete/drain-before-delete.sh');
  const env = { ...process.env, KUBECONFIG: c.cluster.kubeconfig, NAMESPACE: c.namespace, HOLD_LABEL: 'hold' };
  const child = spawn(script, command, { env, detached: true, stdio: 'ignore' });
  return () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
};

export const lifecycle = section(
  'preDelete hook',
  (rule) => {
    rule('the sample controller drains each pod before it is deleted', async (c) => {
      await c.rolledOut(hooked);
      const drained = new Set<string>();
      const stop = runSample(c, [
        'sh',
        '-c',
        `kubectl -n ${c.namespace} annotate --overwrite pod "$1" example.com/drained=yes`,
        'drain',
      ]);
      try {
        await c.setImage('app:v2');
        await c.until(
          'all run v2',
          async () => {
            for (const { uid, object } of await c.pods())
              if (object.metadata?.annotations?.['example.com/drained'] === 'yes') drained.add(uid);
            return (await c.running('app:v2')).length === c.nodes.length;
          },
          DRAINED_WITHIN_MS,
        );
        await c.untilCondition('Complete');
        assert.equal((await c.updates()).length, c.nodes.length);
        assert.equal(drained.size, c.nodes.length);
      } finally {
        stop();
      }
    });

    rule('a finalizer of the hook also holds a pod, and is removed by its controller', async (c) => {
      const finalizers = ['example.com/drain'];
      await c.rolledOut({ spec: { lifecycle: { preDelete: { finalizersHandler: finalizers } } } });
      for (const pod of await c.pods()) await c.api.merge(podPath(c, pod), { metadata: { finalizers } });
      await c.setImage('app:v2');
      for (const _ of c.nodes) {
        const [pod] = await untilPreparing(c, 1);
        assert.ok(pod?.ready, 'it stays in service where nothing else is asked for');
        await c.api.merge(podPath(c, pod), { metadata: { finalizers: null } });
        await c.until('it is gone', async () => (await c.pods()).every(({ uid }) => uid !== pod.uid));
      }
      await c.untilComplete('app:v2');
    });

    rule(
      'a pod that is being prepared counts as down, and is back in service when the template is reverted',
      async (c) => {
        await c.rolledOut(hooked);
        const before = (await c.pods()).map(({ uid }) => uid).toSorted();
        await c.setImage('app:v2');
        const [pod] = await untilPreparing(c, 1);
        await c.until('it is out of service', async () => {
          const now = (await c.pods()).find(({ uid }) => uid === pod?.uid);
          return now && inService(now) === 'False' && !now.ready;
        });
        await c.expectNoUpdatesFor(1.5);
        await c.setImage('app:v1');
        await c.until('all are in service', async () =>
          (await c.pods()).every((one) => !isPreparing(one) && inService(one) === 'True' && one.ready),
        );
        assert.deepEqual((await c.pods()).map(({ uid }) => uid).toSorted(), before);
        await c.untilCondition('Complete');
      },
    );

    rule('the annotation bounds the wait, and a timeout is reported', async (c) => {
      await c.startRollout('app:v2', { ...hooked, annotations: { 'edgeset.io/predelete-timeout-seconds': '2' } });
      await c.untilEvent('PreDeleteTimeout');
      await c.untilComplete('app:v2');
      await c.until('each is told', async () => (await c.events('PreDeleteTimeout')).length >= c.nodes.length);
      assert.equal((await c.events('PreDeleteTimeout')).length, c.nodes.length);
    });

    rule('the old pod of a surge goes through the hook once', async (c) => {
      await c.startRollout('app:v2', { ...hooked, rollingUpdate: { maxSurge: 1 } });
      for (const _ of c.nodes) {
        const [pod] = await untilPreparing(c, 1);
        assert.ok(pod);
        const asks = async (): Promise<number> =>
          (await c.calls()).filter(({ verb, name }) => verb === 'patch' && name === pod.name).length;
        await c.until('it is out of service', async () =>
          (await c.pods()).some((now) => now.uid === pod.uid && inService(now) === 'False'),
        );
        const before = await asks();
        await c.expectNoUpdatesFor(1.5);
        assert.equal(await asks(), before, 'nobody writes to it while it waits');
        await letGo(c, pod);
        await c.until('it is gone', async () => (await c.pods()).every(({ uid }) => uid !== pod.uid));
      }
      await c.untilComplete('app:v2');
    });

    rule('a user who deletes a pod does not wait for the hook', async (c) => {
      await c.rolledOut(hooked);
      const old = await c.podOn(c.nodes[0]);
      await c.api.remove(podPath(c, old));
      await c.until('the node has another', async () => {
        const [pod, ...others] = (await c.pods()).filter(({ node }) => node === old.node);
        return pod?.ready && pod.uid !== old.uid && others.length === 0;
      });
      assert.deepEqual(await c.updates(), []);
    });

    rule('a pod whose node stopped being eligible goes through the hook', async (c) => {
      await c.rolledOut(hooked);
      const [left = ''] = c.nodes;
      await c.api.merge(`/api/v1/nodes/${left}`, { metadata: { labels: { case: 'other' } } });
      const [pod] = await untilPreparing(c, 1);
      assert.equal(pod?.node, left);
      await c.api.merge(`/api/v1/nodes/${left}`, { metadata: { labels: { case: c.namespace } } });
      await c.until('it is back', async () => {
        const now = await c.podOn(left);
        return now.uid === pod.uid && stateOf(now) === 'Normal' && inService(now) === 'True' && now.ready;
      });
      await c.api.merge(`/api/v1/nodes/${left}`, { metadata: { labels: { case: 'other' } } });
      const [again] = await untilPreparing(c, 1);
      assert.ok(again);
      await letGo(c, again);
      await c.until('it is gone', async () => (await c.pods()).every(({ node }) => node !== left));
    });

    rule('markPodNotReady that is set later reports that it applies to new pods only', async (c) => {
      const preDelete = { labelsHandler: { hold: 'yes' } };
      await c.rolledOut({ ...hooked, spec: { lifecycle: { preDelete } } });
      await c.change({ spec: { lifecycle: { preDelete: { ...preDelete, markPodNotReady: true } } } });
      await c.setImage('app:v2');
      const [pod] = await untilPreparing(c, 1);
      assert.ok(pod?.ready);
      await c.untilEvent('MarkPodNotReadyIneffective');
    });

    rule('the DaemonSet has the finalizer only while it has a hook', async (c) => {
      await c.rolledOut({ podLabels: { hold: 'yes' } });
      assert.deepEqual(await finalizersOf(c), []);
      await c.change({ spec: hooked.spec });
      await untilHeld(c);
      await c.change({ spec: { lifecycle: null } });
      await c.until('it is let go', async () => (await finalizersOf(c)).length === 0);
    });

    rule('a DaemonSet that is deleted is gone once each pod was released', async (c) => {
      await c.rolledOut(hooked);
      await untilHeld(c);
      await c.api.remove(setPath(c));
      const [first, ...others] = await untilPreparing(c, c.nodes.length);
      assert.ok(first);
      await c.until('all are out of service', async () => (await c.pods()).every((pod) => inService(pod) === 'False'));
      await c.until('its status says so', async () => {
        const { conditions } = (await c.advanced()).status ?? {};
        return conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'Deleted');
      });
      await c.until('the DaemonRollout, too', async () => (await c.condition('Complete'))?.reason === 'Deleted');
      await c.untilEvent('AwaitingPreDelete');
      await letGo(c, first);
      await c.until('it is gone', async () => (await c.pods()).length === others.length);
      assert.equal(await isGone(c), false);
      for (const pod of others) await letGo(c, pod);
      await untilAllGone(c);
    });

    rule('--cascade=orphan keeps the pods, in service and without an owner', async (c) => {
      await c.rolledOut(hooked);
      await untilHeld(c);
      const before = (await c.pods()).map(({ uid }) => uid).toSorted();
      await c.setImage('app:v2');
      await untilPreparing(c, 1);
      await c.kubectl(['delete', 'ads', 'app', '--cascade=orphan', '--timeout=30s']);
      const left = await c.pods();
      assert.deepEqual(left.map(({ uid }) => uid).toSorted(), before);
      for (const pod of left) {
        assert.equal(controllerOf(pod.object), undefined);
        assert.deepEqual([isPreparing(pod), pod.terminating, inService(pod)], [false, false, 'True']);
      }
    });

    rule(
      "--cascade=foreground deletes pods immediately; the controllers of the hook's finalizers are notified",
      async (c) => {
        const finalizers = ['example.com/drain'];
        await c.rolledOut({ spec: { lifecycle: { preDelete: { finalizersHandler: finalizers } } } });
        for (const pod of await c.pods()) await c.api.merge(podPath(c, pod), { metadata: { finalizers } });
        await untilHeld(c);
        await c.api.remove(setPath(c), { propagationPolicy: 'Foreground' });
        await c.until('all are told', async () => (await c.pods()).every((pod) => stateOf(pod) === 'PreparingDelete'));
        for (const pod of await c.pods()) await c.api.merge(podPath(c, pod), { metadata: { finalizers: null } });
        await untilAllGone(c);
      },
    );

    rule('a DaemonSet without a hook is deleted without the manager; one with a hook waits for the next', async (c) => {
      await c.rolledOut(hooked);
      await untilHeld(c);
      await c.create({ name: 'plain' });
      await c.until('it runs', async () => (await c.pods('plain')).filter(({ ready }) => ready).length === 3);
      await c.manager.stop();
      await c.kubectl(['delete', 'ads', 'plain', '--timeout=30s']);
      await c.api.remove(setPath(c));
      await c.until('the pods of the other are gone', async () => (await c.pods('plain')).length === 0);
      assert.deepEqual(
        (await c.pods()).filter(({ terminating }) => terminating),
        [],
      );
      await c.startManager();
      for (const pod of await untilPreparing(c, c.nodes.length)) await letGo(c, pod);
      await untilAllGone(c);
    });
  },
  { kind: 'advanced' },
);
