import { create, podOn, settled, statusOf, untilReady, untilStatus, withoutUid } from './acts.ts';
import type { Situation } from './situation.ts';
import type { Stage } from './stage.ts';

const taint = (stage: Stage, node: string | undefined, effect: string): Promise<unknown> =>
  stage.patch('nodes', node ?? '', { spec: { taints: [{ key: 'mine', value: 'yes', effect }] } });

/** Which nodes get a pod, and keep it. */
export const placement: readonly Situation[] = [
  {
    name: 'each node gets a pod, pinned, labelled and owned',
    async play(stage) {
      await settled(stage, { podSpec: { tolerations: [{ key: 'mine', operator: 'Exists' }] } });
      const pod = await podOn(stage, stage.nodes[0]);
      const { affinity, tolerations } = pod.spec as { affinity: unknown; tolerations: { key: string }[] };
      const { generateName, labels = {}, ownerReferences = [] } = pod.metadata;
      return {
        generateName,
        labels: Object.keys(labels).toSorted(),
        owners: ownerReferences.map(withoutUid),
        affinity: JSON.parse(JSON.stringify(affinity).replaceAll(stage.namespace, 'node')) as unknown,
        tolerations: tolerations.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
      };
    },
  },
  {
    name: 'a pod on the host network tolerates an unavailable network too',
    nodes: 1,
    async play(stage) {
      await settled(stage, { podSpec: { hostNetwork: true } });
      const { tolerations } = (await podOn(stage, stage.nodes[0])).spec as { tolerations: { key: string }[] };
      return tolerations.map(({ key }) => key).toSorted();
    },
  },
  {
    name: 'a node selector and a required affinity choose among the nodes',
    async play(stage) {
      const [first = '', second = '', third = ''] = stage.nodes;
      for (const node of [first, second]) await stage.patch('nodes', node, { metadata: { labels: { tier: 'gold' } } });
      await stage.quiet();
      const terms = [{ matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'NotIn', values: [second] }] }];
      await create(stage, {
        podSpec: {
          nodeSelector: { case: stage.namespace, tier: 'gold' },
          affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } } },
        },
      });
      await untilReady(stage, 'app:v1', 1);
      await stage.patch('nodes', third, { metadata: { labels: { tier: 'gold' } } });
      await untilReady(stage, 'app:v1', 2);
    },
  },
  {
    name: 'a node that loses the label that was asked for loses its pod',
    async play(stage) {
      await settled(stage);
      await stage.patch('nodes', stage.nodes[1] ?? '', { metadata: { labels: { case: 'other' } } });
      await untilStatus(stage, { desiredNumberScheduled: 2, numberReady: 2, numberMisscheduled: 0 });
    },
  },
  {
    name: 'NoSchedule keeps new pods away',
    async play(stage) {
      await taint(stage, stage.nodes[0], 'NoSchedule');
      // The controller's watches of nodes and of DaemonSets are not ordered among themselves.
      await stage.quiet();
      await create(stage);
      await untilReady(stage, 'app:v1', 2);
    },
  },
  {
    name: 'NoSchedule leaves a running pod, and counts it as misscheduled once it is looked at',
    async play(stage) {
      await settled(stage);
      await untilStatus(stage, { numberAvailable: 3 });
      // The controller looks once more at what it has written itself.
      await stage.quiet();
      await taint(stage, stage.nodes[0], 'NoSchedule');
      await stage.quiet();
      const before = await statusOf(stage);
      await stage.patch('daemonsets', 'app', { metadata: { annotations: { look: 'again' } } });
      await untilStatus(stage, { desiredNumberScheduled: 2, numberMisscheduled: 1 });
      return { before: before.desiredNumberScheduled };
    },
  },
  {
    name: 'a pod that was misscheduled counts again when the taint is gone',
    async play(stage) {
      await settled(stage);
      await taint(stage, stage.nodes[0], 'NoSchedule');
      await stage.patch('daemonsets', 'app', { metadata: { annotations: { look: 'again' } } });
      await untilStatus(stage, { numberMisscheduled: 1 });
      await stage.patch('nodes', stage.nodes[0] ?? '', { spec: { taints: null } });
      await untilStatus(stage, { numberMisscheduled: 0, desiredNumberScheduled: 3 });
    },
  },
  {
    name: 'NoExecute removes a running pod, and the node gets one again when it is gone',
    async play(stage) {
      await settled(stage);
      await taint(stage, stage.nodes[0], 'NoExecute');
      await untilStatus(stage, { desiredNumberScheduled: 2, numberReady: 2, numberMisscheduled: 0 });
      await stage.patch('nodes', stage.nodes[0] ?? '', { spec: { taints: null } });
      await untilReady(stage);
    },
  },
  {
    name: 'PreferNoSchedule changes nothing',
    async play(stage) {
      await taint(stage, stage.nodes[0], 'PreferNoSchedule');
      await settled(stage);
    },
  },
  {
    name: 'a cordoned node gets its pod',
    async play(stage) {
      await stage.patch('nodes', stage.nodes[0] ?? '', { spec: { unschedulable: true } });
      await settled(stage);
    },
  },
  {
    name: 'spec.nodeName in the template means that node only',
    async play(stage) {
      await create(stage, { podSpec: { nodeName: stage.nodes[1] } });
      await untilReady(stage, 'app:v1', 1);
    },
  },
  {
    name: 'a node that joins later gets a pod',
    async play(stage) {
      await settled(stage);
      await stage.addNodes([`${stage.namespace}-9`], { labels: { case: stage.namespace } });
      await untilReady(stage, 'app:v1', 4);
    },
  },
  {
    name: 'an offline node keeps its pod, which is no longer ready',
    async play(stage) {
      await settled(stage);
      await stage.offline(stage.nodes.slice(0, 1));
      await untilStatus(stage, { numberReady: 2 });
      await stage.quiet();
      // Whether the node's taint comes before the last look at the DaemonSet, and the node counts as misscheduled, is chance.
      const { numberReady, numberAvailable, currentNumberScheduled, numberMisscheduled } = await statusOf(stage);
      const offline = {
        numberReady,
        numberAvailable,
        there: (currentNumberScheduled ?? 0) + (numberMisscheduled ?? 0),
      };
      await stage.online(stage.nodes.slice(0, 1));
      await untilStatus(stage, { desiredNumberScheduled: 3, numberMisscheduled: 0, numberReady: 3 });
      return offline;
    },
  },
];
