import assert from 'node:assert/strict';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf } from '../../../src/rollout/index.ts';
import { nodeOf } from '../../invariants/index.ts';
import type { AuditRecord } from '../../judge/audit/audit-record.ts';
import { type Case, deletedTerminalPod, type PodView, refusePods, section } from '../kit/index.ts';
import { deleteByHand, podPath } from './strategy.ts';

const podsPath = (c: Case): string => `/api/v1/namespaces/${c.namespace}/pods`;

/** Puts a node among those that the DaemonSet is for, or takes it away from them. */
const belongs = (c: Case, node: string, yes: boolean): Promise<unknown> =>
  c.api.merge(`/api/v1/nodes/${node}`, { metadata: { labels: { case: yes ? c.namespace : 'none' } } });

const taint = (c: Case, node: string, effect: 'NoSchedule' | 'NoExecute' | undefined): Promise<unknown> =>
  c.api.merge(`/api/v1/nodes/${node}`, { spec: { taints: effect ? [{ key: 'mine', effect }] : null } });

const creations = async (c: Case): Promise<AuditRecord[]> =>
  (await c.calls())
    .filter(({ verb, resource }) => verb === 'create' && resource === 'pods')
    .toSorted((a, b) => a.receivedAt - b.receivedAt);

const byNode = async (c: Case, node: string): Promise<PodView[]> => (await c.pods()).filter((pod) => pod.node === node);

const uidsOf = (pods: readonly PodView[]): string[] => pods.map(({ uid }) => uid).toSorted();

/** Resolves once the condition has held on every look for so long. */
const holdsFor = async (c: Case, what: string, seconds: number, holds: () => Promise<boolean>): Promise<void> => {
  const end = performance.now() + seconds * 1000;
  await c.until(`the time has ended in which ${what}`, async () => {
    assert.ok(await holds(), what);
    return performance.now() > end;
  });
};

/** When managers took pods of the node away, milliseconds. */
const removedFrom = async (c: Case, node: string): Promise<number[]> =>
  (await c.calls())
    .filter(({ verb, resource, code }) => verb === 'delete' && resource === 'pods' && code < 300)
    .filter(({ response }) => nodeOf((response ?? {}) as Pod) === node)
    .map(({ receivedAt }) => receivedAt)
    .toSorted((a, b) => a - b);

export const placement = section(
  'Pods on nodes',
  (rule) => {
    rule('a pod that has ended and that a finalizer holds is replaced, and holds up no rollout', deletedTerminalPod);

    rule(
      'pods are created in batches of 1, 2, 4, one after the other',
      async (c) => {
        await c.rolledOut();
        const all = await creations(c);
        assert.equal(all.length, 7);
        const isDaemonPod = ({ response }: AuditRecord): boolean =>
          (response as Pod).metadata?.annotations?.['cluster-autoscaler.kubernetes.io/daemonset-pod'] === 'true';
        assert.ok(all.every(isDaemonPod), 'autoscalers count them as those of a DaemonSet');
        // A batch is followed by one of its own size, or half of it, if the API server was slow.
        for (const [index, { receivedAt }] of all.entries()) {
          const answered = all.filter(({ answeredAt }) => answeredAt <= receivedAt).length;
          const inFlight = index + 1 - answered;
          assert.ok(inFlight <= answered + 1, `${inFlight} creations in flight after ${answered}`);
        }
      },
      { nodes: 7 },
    );

    rule(
      'no more than burstReplicas creations are in flight at a time',
      async (c) => {
        await c.rolledOut({ spec: { burstReplicas: 1 }, rollingUpdate: { maxUnavailable: '100%' } });
        await c.bringTo('app:v2');
        const writes = (await c.calls())
          .filter(({ verb, resource }) => resource === 'pods' && (verb === 'create' || verb === 'delete'))
          .toSorted((a, b) => a.receivedAt - b.receivedAt);
        assert.equal(writes.filter(({ verb }) => verb === 'delete').length, 5);
        for (const verb of ['create', 'delete'] as const) {
          const same = writes.filter((write) => write.verb === verb);
          for (const [index, { receivedAt }] of same.entries())
            assert.ok((same[index - 1]?.answeredAt ?? 0) <= receivedAt, `two ${verb}s at a time`);
        }
      },
      { nodes: 5, budget: '100%' },
    );

    rule(
      'refused pods are retried with back-off, reported once, and created once they are permitted',
      async (c) => {
        const lift = await refusePods(c, {
          operation: 'CREATE',
          expression: "!object.metadata.name.startsWith('app-')",
          message: 'no pods today',
        });
        await c.create();
        await c.untilEvent('FailedCreate');
        const stalled = await c.until('it stalls', async () => {
          const { conditions } = (await c.advanced()).status ?? {};
          return conditions?.find(({ type, status }) => type === 'Stalled' && status === 'True');
        });
        assert.match(stalled.message, /no pods today/);
        await holdsFor(c, 'no storm is made', 5, async () => (await creations(c)).length <= 4);
        await lift();
        await c.untilRunning('app:v1');
        assert.equal((await c.events('FailedCreate')).length, 1);
      },
      { refusals: true },
    );

    rule('of several pods on a node the oldest stays', async (c) => {
      await c.rolledOut();
      const before = await c.pods();
      const old = await c.podOn(c.nodes[0]);
      const { metadata = {}, spec } = old.object;
      // Creation times have whole seconds.
      const created = Date.parse(metadata.creationTimestamp ?? '');
      await c.until('the next pod is younger', () => Date.now() >= created + 1_000);
      const extra = await c.api.create<Pod>(podsPath(c), {
        metadata: { name: 'app-extra', labels: metadata.labels, ownerReferences: metadata.ownerReferences },
        spec: { nodeName: old.node, nodeSelector: spec?.nodeSelector, containers: [{ name: 'app', image: 'app:v1' }] },
      });
      await c.until('one is left', async () => {
        const here = await byNode(c, old.node);
        return here.every(({ uid }) => uid !== extra.metadata?.uid) && here.length === 1;
      });
      assert.deepEqual(uidsOf(await c.pods()), uidsOf(before));
    });

    rule('failed pods are replaced with back-off, also by the next manager', async (c) => {
      const [sick = ''] = c.nodes;
      await c.rolledOut();
      await c.cluster.behave([sick], { behaviour: 'failed', startMs: 100, dieMs: 200 });
      await c.until('it was replaced three times', async () => (await removedFrom(c, sick)).length === 3);
      await c.until('it has a fourth', async () => (await byNode(c, sick)).some(({ terminating }) => !terminating));
      c.manager.kill('SIGKILL');
      await c.manager.exit;
      await c.startManager();
      const times = await c.until('it is replaced again', async () => {
        const found = await removedFrom(c, sick);
        return found.length > 3 && found;
      });
      // At once, after 1 s, after 2 s; then after 4 s by the next leader, which reads times in whole seconds. Each is
      // decided a moment before it arrives.
      const waits = times.slice(1, 4).map((time, index) => time - (times[index] ?? 0));
      for (const [index, least] of [750, 1_500, 2_500].entries())
        assert.ok((waits[index] ?? 0) >= least, `waits of ${waits.join(', ')} ms`);
      await c.untilEvent('FailedDaemonPod');
      await c.cluster.behave([sick], undefined);
      await c.untilRunning('app:v1');
    });

    rule('a pod that has ended by itself is replaced', async (c) => {
      await c.rolledOut();
      const old = await c.podOn(c.nodes[1]);
      await c.api.merge(`${podPath(c, old)}/status`, { status: { phase: 'Succeeded' } });
      await c.until('another runs there', async () => {
        const here = await byNode(c, old.node);
        return here.length === 1 && here[0]?.uid !== old.uid && here[0]?.ready;
      });
    });

    rule('an untolerated taint: NoSchedule keeps the pod and admits no new one, NoExecute removes it', async (c) => {
      const [kept = '', cleared = '', other = ''] = c.nodes;
      await c.rolledOut();
      const before = await c.podOn(kept);
      await taint(c, kept, 'NoSchedule');
      await taint(c, cleared, 'NoExecute');
      await c.until('it is removed', async () => (await byNode(c, cleared)).length === 0);
      await holdsFor(c, 'the other keeps its pod', 2, async () => (await c.podOn(kept)).uid === before.uid);
      await c.until('the status counts them', async () => {
        const { desiredNumberScheduled, numberMisscheduled } = (await c.advanced()).status ?? {};
        return desiredNumberScheduled === 1 && numberMisscheduled === 1;
      });
      await c.api.remove(podPath(c, before));
      await c.until('it is gone', async () => (await byNode(c, kept)).length === 0);
      await holdsFor(c, 'none comes', 2, async () => (await c.pods()).every(({ node }) => node === other));
      for (const node of [kept, cleared]) await taint(c, node, undefined);
      await c.untilRunning('app:v1');
    });

    rule(
      'pods of nodes that cease to be eligible are removed one by one, and those of offline nodes block no other',
      async (c) => {
        const [away = '', ...online] = c.nodes;
        await c.rolledOut({ podAnnotations: { 'sim.edgeset.io/stop-ms': '700' } });
        await c.cluster.offline([away]);
        for (const node of c.nodes) await belongs(c, node, false);
        let most = 0;
        await c.until(
          'the pods of online nodes are gone',
          async () => {
            const pods = await c.pods();
            const there = pods.filter(({ node }) => online.includes(node));
            // One that has ended takes nothing down.
            const ending = there.filter(({ terminating, object }) => terminating && object.status?.phase === 'Running');
            most = Math.max(most, ending.length);
            return there.length === 0;
          },
          60_000,
          50,
        );
        assert.equal(most, 1);
        await c.cluster.online([away]);
        await c.until('all are gone', async () => (await c.pods()).length === 0);
        for (const node of c.nodes) await belongs(c, node, true);
        await c.untilRunning('app:v1');
      },
      { nodes: 4 },
    );

    rule(
      'a pod that was never bound is deleted with its Node object; a bound one is left to pod garbage collection',
      async (c) => {
        const [bound = '', , lost = ''] = c.nodes;
        await c.rolledOut({ rollingUpdate: { partition: 2 } });
        await c.change({ spec: { template: { spec: { schedulerName: 'none' } } } });
        const waiting = await c.until('a new pod waits', async () => {
          const [pod, ...others] = await byNode(c, lost);
          return pod && others.length === 0 && !pod.terminating && pod.object.spec?.nodeName === undefined && pod;
        });
        await c.cluster.removeNodes([bound, lost]);
        await c.until('the unbound one is gone', async () => (await c.pods()).every(({ uid }) => uid !== waiting.uid));
        const deleted = (await c.calls()).filter(({ verb, resource }) => verb === 'delete' && resource === 'pods');
        assert.deepEqual(
          deleted.map(({ response }) => nodeOf((response ?? {}) as Pod)),
          [lost, lost],
        );
        const { desiredNumberScheduled } = await c.until('the status says so', async () => {
          const { status } = await c.advanced();
          return status?.desiredNumberScheduled === 1 && status;
        });
        assert.equal(desiredNumberScheduled, 1);
      },
    );

    rule('an orphaned pod is adopted unchanged, immediately or by the next manager', async (c) => {
      await c.rolledOut();
      const before = uidsOf(await c.pods());
      const { uid } = (await c.advanced()).metadata;
      const disown = async (node: string | undefined): Promise<void> => {
        await c.api.merge(podPath(c, await c.podOn(node)), { metadata: { ownerReferences: null } });
      };
      const untilOurs = (): Promise<unknown> =>
        c.until('all are its own', async () =>
          (await c.pods()).every(({ object }) => controllerOf(object)?.uid === uid),
        );
      await disown(c.nodes[0]);
      await untilOurs();
      await c.manager.stop();
      await disown(c.nodes[1]);
      await c.startManager();
      await untilOurs();
      assert.deepEqual(uidsOf(await c.pods()), before);
    });

    rule(
      'a pod that was relabelled while no manager ran is released by the next one, and its node gets another pod',
      async (c) => {
        await c.rolledOut();
        const old = await c.podOn(c.nodes[2]);
        await c.manager.stop();
        await c.api.merge(podPath(c, old), { metadata: { labels: { app: 'other' } } });
        await c.startManager();
        await c.until('it is nobody’s', async () => controllerOf(await c.api.get<Pod>(podPath(c, old))) === undefined);
        await c.untilRunning('app:v1');
        assert.equal((await c.api.get<Pod>(podPath(c, old))).metadata?.deletionTimestamp, undefined);
      },
    );

    for (const [what, partition] of [
      ['number', 2],
      ['percentage', '67%'],
    ] as const)
      rule(
        `with progressive creation new nodes get pods only as far as the partition permits, a ${what}`,
        async (c) => {
          const byField = partition === 2;
          await c.create({
            rollingUpdate: { partition },
            ...(byField
              ? {
                  spec: {
                    scaleStrategy: { partitionedScaling: true },
                    updateStrategy: { rollingUpdate: { partition } },
                  },
                }
              : { annotations: { 'daemonset.kruise.io/progressive-create-pod': 'true' } }),
          });
          await c.until('one runs', async () => (await c.running('app:v1')).length === 1);
          await holdsFor(c, 'there is one', 2, async () => (await c.pods()).length === 1);
          await c.change({ spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } });
          await c.until('two run', async () => (await c.running('app:v1')).length === 2);
          await holdsFor(c, 'there are two', 1, async () => (await c.pods()).length === 2);
          await c.change({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
          await c.untilRunning('app:v1');
        },
      );

    rule('an owner reference may name either version', async (c) => {
      await c.rolledOut({ version: 'v1alpha1' });
      const before = uidsOf(await c.pods());
      const pods = await c.pods();
      for (const [index, version] of (['v1alpha1', 'v1beta1'] as const).entries()) {
        const pod = pods[index];
        assert.ok(pod);
        const owners = (pod.object.metadata?.ownerReferences ?? []).map((owner) => ({
          ...owner,
          apiVersion: `apps.kruise.io/${version}`,
        }));
        await c.api.merge(podPath(c, pod), { metadata: { ownerReferences: owners } });
      }
      await holdsFor(c, 'they are its own', 1.5, async () => uidsOf(await c.pods()).join() === before.join());
      await c.setImage('app:v2');
      await c.untilRunning('app:v2');
      assert.equal((await c.updates()).length, c.nodes.length);
    });

    rule(
      'two managers that create the same pods create each pod once',
      async (c) => {
        await c.startManager();
        await c.create();
        await c.untilRunning('app:v1');
        await holdsFor(c, 'each node has one pod', 2, async () => (await c.pods()).length === c.nodes.length);
        const made = (await creations(c)).filter(({ code }) => code === 201);
        assert.equal(made.length, c.nodes.length);
      },
      { nodes: 5, expected: /./ },
    );

    rule('a recreated pod has the current revision, even under a partition', async (c) => {
      await c.startRollout('app:v2', { rollingUpdate: { partition: 3 } });
      assert.equal((await deleteByHand(c, c.nodes[1])).image, 'app:v2');
      await c.until('it counts as updated', async () => (await c.advanced()).status?.updatedNumberScheduled === 1);
      assert.deepEqual(await c.updates(), []);
    });

    rule('an unschedulable pod is reported, also beside an old one', async (c) => {
      const container = (image: string) => [{ name: 'app', image, ports: [{ containerPort: 80, hostPort: 8080 }] }];
      await c.rolledOut({ rollingUpdate: { maxSurge: 1 }, podSpec: { containers: container('app:v1') } });
      await c.change({ spec: { template: { spec: { containers: container('app:v2') } } } });
      // The scheduler may not have observed a new node, or a port that was just released: that is reported, too.
      const told = async () =>
        (await c.events('FailedPlacement')).filter(({ note = '' }) =>
          /next to the old pod: not scheduled \(.*free ports/.test(note),
        );
      await c.until('it is told', async () => (await told()).length > 0);
      assert.deepEqual(await c.running('app:v1'), c.nodes);
      await c.change({ spec: { updateStrategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } } });
      await c.untilComplete('app:v2');
      assert.equal((await told()).length, 1);
    });
  },
  { kind: 'advanced' },
);
