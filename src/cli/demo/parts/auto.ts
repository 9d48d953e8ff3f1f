import { native } from '../../plugin/kinds/native.ts';
import { count, listNames } from '../step.ts';
import { type Part } from './part.ts';

const controlPlane = 'openyurt-e2e-test-control-plane';
const worker = 'openyurt-e2e-test-worker';
const offline = ['openyurt-e2e-test-worker2', 'openyurt-e2e-test-worker3'];
const workers = [worker, ...offline];
const CONTROL_PLANE_ROLE = 'node-role.kubernetes.io/control-plane';

const [before, after] = ['nginx:1.19.4', 'nginx:1.19.5'];
/** Long enough for a wrong controller to replace the pods on the offline nodes. */
const UNCHANGED_MS = 12_000;

/** OpenYurt's walkthrough of its Auto model, with the same names. */
export const autoPart = (): Part => ({
  heading: 'three workers, two of them cut off',
  nodes: [
    {
      name: controlPlane,
      labels: { [CONTROL_PLANE_ROLE]: '' },
      taints: [{ key: CONTROL_PLANE_ROLE, effect: 'NoSchedule' }],
    },
    ...workers.map((name) => ({ name })),
  ],
  kind: native,
  eligible: workers,
  daemonSet: {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: {
      name: 'nginx-daemonset',
      namespace: 'default',
      annotations: { 'apps.openyurt.io/update-strategy': 'auto' },
    },
    spec: {
      selector: { matchLabels: { app: 'nginx' } },
      updateStrategy: { type: 'OnDelete' },
      template: { metadata: { labels: { app: 'nginx' } }, spec: { containers: [{ name: 'nginx', image: before }] } },
    },
  },
  // The default of 10%: one node of three.
  share: 0.1,
  steps: [
    {
      title: `Create a DaemonSet with ${before}`,
      text: 'Three workers start nginx. The strategy OnDelete and one annotation (update-strategy: auto) are enough to have edgeset update it.',
      async run(step) {
        await step.create();
        await step.expectImage(before, workers);
        await step.expect({
          that: 'a pod on each of the three workers and on no other node',
          test: () => step.observer.availability.pods().length === workers.length,
        });
        return `3 pods of ${before} are Ready`;
      },
    },
    {
      title: 'Cut off two workers',
      text: 'worker2 and worker3 lose their connection, like a van in a tunnel. A native rolling update would be stuck until both are back.',
      async run(step) {
        const unchanged = step.unchanged(offline);
        await step.takeOffline(offline);
        step.check(unchanged);
        return 'worker2 and worker3 are NotReady; their pods are unchanged';
      },
    },
    {
      title: `Change the image to ${after}`,
      text: 'The online worker is updated at once. The two offline workers must not block the rollout, and their pods must not be touched: nobody can see their state.',
      async run(step) {
        const that = 'exactly one pod to be replaced, the one on the online worker';
        const unchanged = step.unchanged(offline, that);
        await step.setImage(after);
        await step.expect({ ...unchanged, test: () => step.haveImage(after, [worker]) || !unchanged.test() });
        await step.expectStill(unchanged, UNCHANGED_MS);
        await step.expectCondition('Complete');
        return '1 pod replaced, 2 unchanged; every online node is updated';
      },
    },
    {
      title: 'Bring the two back',
      text: 'Each one is updated automatically after it has been back for ten seconds, one after the other.',
      async run(step) {
        const replaced = step.trackPods(workers);
        await step.bringBack(offline);
        await step.expectImage(after, workers);
        step.check({
          that: 'only the pods of the two returned workers to be replaced',
          test: () => replaced().join() === offline.join(),
          seen: () => `replaced on ${listNames(replaced())}`,
        });
        return `all ${count(workers.length, 'worker')} run ${after}`;
      },
    },
  ],
  figures: () => [
    [
      'unchanged while offline',
      `${offline.length} of ${workers.length} workers, updated automatically on their return`,
    ],
  ],
  tries: [
    ['npx edgeset status', 'the progress of each rollout'],
    [`kubectl annotate node ${offline[0]} edgeset.io/sim=offline`, 'cut off a worker'],
    [`kubectl wait --for=condition=Ready=Unknown node/${offline[0]}`, 'detected after 40 s'],
    ['kubectl set image ds/nginx-daemonset nginx=nginx:1.19.6', 'the others are updated'],
    [`npx edgeset explain ds/nginx-daemonset --node ${offline[0]}`, 'why is this one not updated?'],
    [`kubectl annotate node ${offline[0]} edgeset.io/sim-`, 'bring it back'],
  ],
});
