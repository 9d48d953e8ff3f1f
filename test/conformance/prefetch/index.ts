import assert from 'node:assert/strict';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { NodeBehaviour } from '../cluster.ts';
import { type Case, refusePods, type Shape, section, strategyKey } from '../kit/index.ts';
import {
  announced,
  announceNext,
  ask,
  madePulls,
  outcomeOn,
  pullPods,
  untilClean,
  untilFailed,
  untilPulling,
  untilReady,
} from './kit.ts';

export { aheadRules } from './ahead.ts';

/** Long enough for a busy machine to see the pull pod. */
const SLOW = { startMs: 8_000 };

/** The images of the announced revision, which the first node asks for; with the behavior they take their time. */
const requested = async (c: Case, behaviour?: NodeBehaviour, shape?: Shape): Promise<string> => {
  const hash = await announced(c, 'app:v2', shape);
  if (behaviour) await c.cluster.behave(c.nodes, behaviour);
  await ask(c, c.nodes[0], hash);
  return hash;
};

const untilDone = async (c: Case, hash: string): Promise<void> => {
  await untilReady(c, c.nodes[0], hash);
  await untilClean(c);
};

/** Conditions follow the numbers. */
const numbersOf = ({ status }: DaemonSet) => ({ ...status, conditions: undefined });

export const prefetchRules = section('Images pulled ahead', (rule) => {
  rule('are pulled where a pod requests them, and nothing is left behind', async (c) => {
    const hash = await announced(c);
    const [node] = c.nodes;
    const counted = await c.until('the status is at rest', async () => {
      const daemonSet = await c.daemonSet();
      const ready = daemonSet.status?.conditions?.find(({ type }) => type === 'Ready');
      return ready?.status === 'True' && numbersOf(daemonSet);
    });
    const own = await c.podOn(node);
    await c.cluster.behave(c.nodes, SLOW);
    await ask(c, node, hash);
    const pull = await untilPulling(c);
    assert.deepEqual(
      pull.spec?.containers.map(({ image }) => image),
      ['app:v2'],
    );
    await untilReady(c, node, hash);
    await untilClean(c);
    assert.equal((await c.podOn(node)).uid, own.uid);
    assert.deepEqual(numbersOf(await c.daemonSet()), counted, 'the DaemonSet never counted it');
    assert.deepEqual([(await madePulls(c)).length, await c.updates()], [1, []]);
    for (const other of c.nodes.slice(1)) assert.equal(await outcomeOn(c, other), undefined);
  });

  rule(
    'are all images of the template, each with its own pull policy',
    async (c) => {
      const sidecar = { name: 'side', image: 'side:v1', restartPolicy: 'Always', imagePullPolicy: 'Always' };
      const podSpec = {
        initContainers: [{ name: 'init', image: 'init:v1', command: ['prepare'] }, sidecar],
        imagePullSecrets: [{ name: 'registry' }],
        tolerations: [{ key: 'edge', operator: 'Exists' }],
      };
      const hash = await requested(c, SLOW, { podSpec });
      const { spec } = await untilPulling(c);
      const images = spec?.containers.map(({ image, imagePullPolicy }) => `${image} ${imagePullPolicy}`);
      assert.deepEqual(images, ['init:v1 IfNotPresent', 'side:v1 Always', 'app:v2 IfNotPresent']);
      assert.deepEqual(spec?.imagePullSecrets, [{ name: 'registry' }]);
      assert.ok(spec.tolerations?.some(({ key }) => key === 'edge'));
      await untilDone(c, hash);
    },
    { nodes: 1 },
  );

  rule(
    'that cannot be pulled are reported with the cause, and pulled once it is fixed',
    async (c) => {
      const hash = await requested(c, { behaviour: 'not-pullable' });
      assert.match(await untilFailed(c, c.nodes[0]), new RegExp(`^controllerrevision: ${hash}; app:v2: .*app:v2`));
      await untilClean(c);
      await c.cluster.behave(c.nodes, undefined);
      await untilDone(c, hash);
    },
    { nodes: 1 },
  );

  rule(
    'of a revision that is superseded midway are abandoned, and those of the next one are pulled on request',
    async (c) => {
      const hash = await requested(c, SLOW);
      await untilPulling(c);
      const next = await announceNext(c, 'app:v3');
      await untilClean(c);
      assert.equal((await outcomeOn(c, c.nodes[0]))?.message, `controllerrevision: ${hash}`);
      await ask(c, c.nodes[0], next);
      await untilReady(c, c.nodes[0], next);
      await untilClean(c);
    },
    { nodes: 1 },
  );

  rule(
    'are pulled by one pod even if the manager is killed midway',
    async (c) => {
      const hash = await announced(c);
      await c.cluster.behave(c.nodes, SLOW);
      for (const node of c.nodes) await ask(c, node, hash);
      await c.until('both are under way', async () => (await pullPods(c)).length === 2, 60_000, 50);
      c.manager.kill('SIGKILL');
      await c.startManager();
      for (const node of c.nodes) await untilReady(c, node, hash);
      await untilClean(c);
      assert.equal((await madePulls(c)).length, 2);
    },
    { nodes: 2 },
  );

  rule(
    'are no longer waited for when the annotation is removed while no manager runs',
    async (c) => {
      await requested(c, { startMs: 60_000 });
      await untilPulling(c);
      c.manager.kill('SIGKILL');
      await c.annotate({ [strategyKey]: null });
      await c.startManager();
      await untilClean(c);
    },
    { nodes: 1 },
  );

  rule(
    'are garbage-collected with the pod that requested them when no manager runs',
    async (c) => {
      await requested(c, { startMs: 60_000 });
      await untilPulling(c);
      c.manager.kill('SIGKILL');
      await c.kubectl(['delete', 'daemonset', 'app', '--wait=false']);
      await untilClean(c, 45_000);
    },
    { nodes: 1 },
  );

  rule(
    'of a node that goes offline midway are abandoned in time, and pulled when it is back',
    async (c) => {
      const timeout = { 'apps.kruise.io/image-predownload-timeout-seconds': '25' };
      const hash = await announced(c, 'app:v2', { annotations: timeout });
      const [node = ''] = c.nodes;
      await c.cluster.behave([node], { startMs: 20_000 });
      await ask(c, node, hash);
      await untilPulling(c);
      await c.cluster.offline([node]);
      assert.match(await untilFailed(c, node), /; not present after 25 s: node \S+ is not ready$/);
      await untilClean(c);
      await c.cluster.behave([node], undefined);
      await c.cluster.online([node]);
      await untilReady(c, node, hash);
      await untilClean(c);
    },
    { nodes: 2 },
  );

  rule(
    'whose pull pod is refused are reported with the reason, and pulled once it is permitted',
    async (c) => {
      const hash = await announced(c);
      const lift = await refusePods(c, {
        operation: 'CREATE',
        expression: "!('edgeset.io/prefetch' in object.metadata.?labels.orValue({}))",
        message: 'no pulls in this namespace',
      });
      await ask(c, c.nodes[0], hash);
      assert.match(await untilFailed(c, c.nodes[0]), /no pull pod can be created: .*no pulls in this namespace/);
      await lift();
      await untilDone(c, hash);
    },
    { nodes: 1, refusals: true },
  );

  rule(
    'comply with Pod Security level restricted',
    async (c) => {
      const hash = await announced(c);
      await c.api.merge(`/api/v1/namespaces/${c.namespace}`, {
        metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      });
      await ask(c, c.nodes[0], hash);
      await untilDone(c, hash);
    },
    { nodes: 1 },
  );

  rule(
    'do not match any DaemonSet, even with a selector for pods without labels',
    async (c) => {
      const hash = await announced(c);
      await c.cluster.behave(c.nodes, SLOW);
      const greedy: DaemonSet = {
        metadata: { name: 'greedy', namespace: c.namespace },
        spec: {
          selector: { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['app'] }] },
          updateStrategy: { type: 'OnDelete' },
          template: {
            metadata: { labels: { own: 'greedy' } },
            spec: { nodeSelector: { case: c.namespace }, containers: [{ name: 'app', image: 'greedy:v1' }] },
          },
        },
      };
      await c.api.create(`/apis/apps/v1/namespaces/${c.namespace}/daemonsets`, greedy);
      await ask(c, c.nodes[0], hash);
      const { metadata } = await untilPulling(c);
      await untilDone(c, hash);
      const [made] = await madePulls(c);
      assert.equal((await madePulls(c)).length, 1, 'nobody else has deleted it');
      assert.equal(metadata?.ownerReferences?.length, 1);
      assert.ok(made);
    },
    { nodes: 1, daemonSets: ['app', 'greedy'] },
  );

  rule(
    'are ignored in automatic mode',
    async (c) => {
      await c.rolledOut();
      const { name } = await c.podOn(c.nodes[0]);
      const condition = (type: string, status: string, reason: string) => ({
        type,
        status,
        reason,
        message: 'controllerrevision: abc',
      });
      await c.api.patch(`/api/v1/namespaces/${c.namespace}/pods/${name}/status`, {
        status: {
          conditions: [
            condition('PodNeedUpgrade', 'True', 'NewRevision'),
            condition('PodImageReady', 'False', 'PullingImage'),
          ],
        },
      });
      await c.expectNoUpdatesFor(3);
      assert.deepEqual([await pullPods(c), await madePulls(c)], [[], []]);
    },
    { nodes: 1 },
  );
});
