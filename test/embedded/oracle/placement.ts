import type { ScenarioCluster } from './cluster.ts';
import type { Scenario } from './scenario.ts';
import { createDaemonSet, createReady, podOn, statusOf, untilReady, untilStatus, withoutUid } from './steps.ts';

const taint = (cluster: ScenarioCluster, node: string | undefined, effect: string): Promise<unknown> =>
  cluster.patch('nodes', node ?? '', { spec: { taints: [{ key: 'mine', value: 'yes', effect }] } });

/** Scenarios about placement. */
export const placement: readonly Scenario[] = [
  {
    name: 'each node gets a pod, pinned, labelled and owned',
    async run(cluster) {
      await createReady(cluster, { podSpec: { tolerations: [{ key: 'mine', operator: 'Exists' }] } });
      const pod = await podOn(cluster, cluster.nodes[0]);
      const { affinity, tolerations } = pod.spec as { affinity: unknown; tolerations: { key: string }[] };
      const { generateName, labels = {}, ownerReferences = [] } = pod.metadata;
      return {
        generateName,
        labels: Object.keys(labels).toSorted(),
        owners: ownerReferences.map(withoutUid),
        affinity: JSON.parse(JSON.stringify(affinity).replaceAll(cluster.namespace, 'node')) as unknown,
        tolerations: tolerations.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      };
    },
  },
  {
    name: 'a pod on the host network tolerates an unavailable network too',
    nodes: 1,
    async run(cluster) {
      await createReady(cluster, { podSpec: { hostNetwork: true } });
      const { tolerations } = (await podOn(cluster, cluster.nodes[0])).spec as { tolerations: { key: string }[] };
      return tolerations.map(({ key }) => key).toSorted();
    },
  },
  {
    name: 'a node selector and a required node affinity both apply',
    async run(cluster) {
      const [first = '', second = '', third = ''] = cluster.nodes;
      for (const node of [first, second])
        await cluster.patch('nodes', node, { metadata: { labels: { tier: 'gold' } } });
      await cluster.untilIdle();
      const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: [second] }] }];
      await createDaemonSet(cluster, {
        podSpec: {
          nodeSelector: { case: cluster.namespace, tier: 'gold' },
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
        },
      });
      await untilReady(cluster, 'app:v1', 1);
      await cluster.patch('nodes', third, { metadata: { labels: { tier: 'gold' } } });
      await untilReady(cluster, 'app:v1', 2);
    },
  },
  {
    name: 'a node that loses the selected label loses its pod',
    async run(cluster) {
      await createReady(cluster);
      await cluster.patch('nodes', cluster.nodes[1] ?? '', { metadata: { labels: { case: 'other' } } });
      await untilStatus(cluster, { desiredNumberScheduled: 2, numberReady: 2, numberMisscheduled: 0 });
    },
  },
  {
    name: 'NoSchedule prevents new pods',
    async run(cluster) {
      await taint(cluster, cluster.nodes[0], 'NoSchedule');
      // The controller's node and DaemonSet watches aren't ordered relative to each other.
      await cluster.untilIdle();
      await createDaemonSet(cluster);
      await untilReady(cluster, 'app:v1', 2);
    },
  },
  {
    name: 'NoSchedule keeps a running pod, which counts as misscheduled at the next sync',
    async run(cluster) {
      await createReady(cluster);
      await untilStatus(cluster, { numberAvailable: 3 });
      // The controller syncs once more after its own status update.
      await cluster.untilIdle();
      await taint(cluster, cluster.nodes[0], 'NoSchedule');
      await cluster.untilIdle();
      const before = await statusOf(cluster);
      await cluster.patch('daemonsets', 'app', { metadata: { annotations: { look: 'again' } } });
      await untilStatus(cluster, { desiredNumberScheduled: 2, numberMisscheduled: 1 });
      return { before: before.desiredNumberScheduled };
    },
  },
  {
    name: 'a misscheduled pod counts again when the taint is removed',
    async run(cluster) {
      await createReady(cluster);
      await taint(cluster, cluster.nodes[0], 'NoSchedule');
      await cluster.patch('daemonsets', 'app', { metadata: { annotations: { look: 'again' } } });
      await untilStatus(cluster, { numberMisscheduled: 1 });
      await cluster.patch('nodes', cluster.nodes[0] ?? '', { spec: { taints: null } });
      await untilStatus(cluster, { numberMisscheduled: 0, desiredNumberScheduled: 3 });
    },
  },
  {
    name: 'NoExecute deletes a running pod, and the node gets a new one when the taint is removed',
    async run(cluster) {
      await createReady(cluster);
      await taint(cluster, cluster.nodes[0], 'NoExecute');
      await untilStatus(cluster, { desiredNumberScheduled: 2, numberReady: 2, numberMisscheduled: 0 });
      await cluster.patch('nodes', cluster.nodes[0] ?? '', { spec: { taints: null } });
      await untilReady(cluster);
    },
  },
  {
    name: 'PreferNoSchedule changes nothing',
    async run(cluster) {
      await taint(cluster, cluster.nodes[0], 'PreferNoSchedule');
      await createReady(cluster);
    },
  },
  {
    name: 'a cordoned node gets its pod',
    async run(cluster) {
      await cluster.patch('nodes', cluster.nodes[0] ?? '', { spec: { unschedulable: true } });
      await createReady(cluster);
    },
  },
  {
    name: 'spec.nodeName in the template selects only that node',
    async run(cluster) {
      await createDaemonSet(cluster, { podSpec: { nodeName: cluster.nodes[1] } });
      await untilReady(cluster, 'app:v1', 1);
    },
  },
  {
    name: 'a node that joins later gets a pod',
    async run(cluster) {
      await createReady(cluster);
      await cluster.addNodes([`${cluster.namespace}-9`], { labels: { case: cluster.namespace } });
      await untilReady(cluster, 'app:v1', 4);
    },
  },
  {
    name: 'an offline node keeps its pod, which is no longer ready',
    async run(cluster) {
      await createReady(cluster);
      await cluster.offline(cluster.nodes.slice(0, 1));
      await untilStatus(cluster, { numberReady: 2 });
      await cluster.untilIdle();
      // Whether the taint precedes the last sync, so that the node counts as misscheduled, is random.
      const { numberReady, numberAvailable, currentNumberScheduled, numberMisscheduled } = await statusOf(cluster);
      const offline = {
        numberReady,
        numberAvailable,
        there: (currentNumberScheduled ?? 0) + (numberMisscheduled ?? 0),
      };
      await cluster.online(cluster.nodes.slice(0, 1));
      await untilStatus(cluster, { desiredNumberScheduled: 3, numberMisscheduled: 0, numberReady: 3 });
      return offline;
    },
  },
];
