// What docs/explanation/comparison.md says of others, where they can be run: Kubernetes' own controller and OpenKruise Rollouts.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { pods } from '../../src/kube/index.ts';
import { eventually } from '../support/index.ts';
import { type Json, type RealCluster, startCluster } from './index.ts';
import { startOpenKruiseRollouts } from './openkruise-rollouts/openkruise-rollouts.ts';

let cluster: RealCluster;
before(async () => {
  cluster = await startCluster();
});
after(() => cluster.stop());

const patience = { withinMs: 60_000, everyMs: 20 };

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false;

/** A native DaemonSet that Kubernetes' controller rolls out, with a ready pod on each of its nodes. */
const rolledOut = async (name: string, count: number, maxUnavailable: number) => {
  const { client, plane } = cluster;
  const namespace = await cluster.createNamespace(name);
  const nodes = Array.from({ length: count }, (_, index) => `${namespace}-${index}`);
  await cluster.addNodes(nodes, { labels: { case: namespace } });
  const path = `/apis/apps/v1/namespaces/${namespace}/daemonsets/app`;
  const podSpec = (image: string) => ({ nodeSelector: { case: namespace }, containers: [{ name: 'app', image }] });
  await plane.api.apply(path, {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'app' },
    spec: {
      selector: { matchLabels: { app: 'app' } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable } },
      template: { metadata: { labels: { app: 'app' } }, spec: podSpec('app:v1') },
    },
  });
  const list = async (): Promise<Pod[]> => (await client.list(pods, { namespace })).items;
  const until = (what: string, test: (all: Pod[]) => boolean) =>
    eventually(what, async () => test(await list()), patience);
  await until('all pods are ready', (all) => all.length === count && all.every(isReady));
  return {
    nodes,
    until,
    get: () => plane.api.get<DaemonSet>(path),
    patch: (spec: Json) => plane.api.patch(path, { spec }, 'merge-patch'),
    release: (image: string) => plane.api.patch(path, { spec: { template: { spec: podSpec(image) } } }, 'merge-patch'),
  };
};

describe("Kubernetes' own DaemonSet controller", { concurrency: true }, () => {
  it('replaces old pods that are down all at once, whatever the budget', async () => {
    const { nodes, until, release } = await rolledOut('down', 6, 1);
    await cluster.behave(nodes.slice(0, 4), { behaviour: 'crash-loop', stopMs: 2_000 });
    await until('four are down', (all) => all.filter((pod) => !isReady(pod)).length === 4);
    await release('app:v2');
    await until('four terminate together', (all) => all.filter((pod) => pod.metadata?.deletionTimestamp).length === 4);
  });

  it('leaves an unreachable node out of the desired number, while its pod never goes', async () => {
    const { nodes, until, get, release } = await rolledOut('cut', 4, 1);
    const cut = nodes[0]!;
    await cluster.offline([cut]);
    // The controller counts when it next looks at the DaemonSet, not when the taint comes.
    const isTainted = async (): Promise<boolean> =>
      (await cluster.plane.api.get<Node>(`/api/v1/nodes/${cut}`)).spec?.taints?.some(
        ({ key, effect }) => key === 'node.kubernetes.io/unreachable' && effect === 'NoSchedule',
      ) ?? false;
    await eventually('its node is tainted', isTainted, patience);
    await until('its pod is marked', (all) => all.some((pod) => !isReady(pod)));
    await release('app:v2');
    await eventually('three are desired', async () => (await get()).status?.desiredNumberScheduled === 3, patience);
    await until('its pod terminates, and stays', (all) =>
      all.some(({ metadata, spec }) => spec?.nodeName === cut && metadata?.deletionTimestamp),
    );
  });

  it('keeps maxUnavailable when the strategy becomes OnDelete', async () => {
    const { get, patch } = await rolledOut('keeps', 1, 2);
    await patch({ updateStrategy: { type: 'OnDelete' } });
    const { spec } = await get();
    assert.deepEqual(spec?.updateStrategy, {
      type: 'OnDelete',
      rollingUpdate: { maxUnavailable: 2, maxSurge: 0 },
    });
  });
});

// When this fails, that version leads native DaemonSets: measure what it does, and correct the page.
it('OpenKruise Rollouts, as released, refuses to lead a native DaemonSet', async () => {
  const { plane } = cluster;
  const namespace = await cluster.createNamespace('steps');
  const theirs = await startOpenKruiseRollouts(plane);
  await assert.rejects(
    plane.api.apply(`/apis/rollouts.kruise.io/v1beta1/namespaces/${namespace}/rollouts/app`, {
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      metadata: { name: 'app' },
      spec: {
        workloadRef: { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'app' },
        strategy: { canary: { steps: [{ replicas: 1, pause: {} }, { replicas: '100%' }] } },
      },
    }),
    /WorkloadRef kind is not supported/,
  );
  await theirs.stop();
});
