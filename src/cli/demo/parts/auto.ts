import { native } from '../../../view/index.ts';
import { listNames } from '../step.ts';
import { nativeDaemonSet, type Part, podTemplate } from './part.ts';

const worker = 'openyurt-e2e-test-worker';
const offline = ['openyurt-e2e-test-worker2', 'openyurt-e2e-test-worker3'];
const workers = [worker, ...offline];
const CONTROL_PLANE_ROLE = 'node-role.kubernetes.io/control-plane';
const controlPlane = {
  name: 'openyurt-e2e-test-control-plane',
  labels: { [CONTROL_PLANE_ROLE]: '' },
  taints: [{ key: CONTROL_PLANE_ROLE, effect: 'NoSchedule' }],
};

const NAME = 'nginx-daemonset';
const [before, after] = ['nginx:1.19.4', 'nginx:1.19.5'];
/** Long enough for a wrong controller to replace the pods on the offline nodes. */
const UNCHANGED_MS = 12_000;

/** OpenYurt's walkthrough of its Auto model, with the same names. */
export const autoPart = (): Part => ({
  heading: 'three workers, two of them cut off',
  nodes: [controlPlane, ...workers.map((name) => ({ name }))],
  kind: native,
  eligible: workers,
  daemonSet: nativeDaemonSet(NAME, { 'apps.openyurt.io/update-strategy': 'auto' }, podTemplate('nginx', before)),
  // The default of 10%: one node of three.
  share: 0.1,
  steps: [
    {
      title: `Create a DaemonSet with ${before}`,
      text: 'Three workers start nginx. The strategy OnDelete and one annotation (update-strategy: auto) are enough to have edgeset update it.',
      takesMs: 2_000,
      async run(step) {
        await step.create();
        await step.expectImage(before, workers);
        const { pods } = step.observer.availability;
        await step.expect('a pod on each of the three workers and on no other node', () => pods().length === 3);
        return `3 pods of ${before} are Ready`;
      },
    },
    {
      title: 'Cut off two workers',
      text: 'worker2 and worker3 lose their connection, like a van in a tunnel. A native rolling update would be stuck until both are back.',
      takesMs: 38_000,
      unchanged: offline,
      async run(step) {
        await step.takeOffline(offline);
        return 'worker2 and worker3 are NotReady; their pods are unchanged';
      },
    },
    {
      title: `Change the image to ${after}`,
      text: 'The online worker is updated at once. The two offline workers must not block the rollout, and their pods must not be touched: nobody can see their state.',
      takesMs: 15_000,
      unchanged: offline,
      async run(step) {
        await step.setImage(after);
        await step.expectImage(after, [worker]);
        await step.hold(UNCHANGED_MS);
        await step.expectCondition('Complete');
        return '1 pod replaced, 2 unchanged; every online node is updated';
      },
    },
    {
      title: 'Bring the two back',
      text: 'Each one is updated automatically after it has been back for ten seconds, one after the other.',
      takesMs: 15_000,
      async run(step) {
        await step.bringBack(offline);
        await step.expectImage(after, workers);
        await step.check(
          'only the pods of the two returned workers to be replaced',
          () => step.replaced().join() === offline.join(),
          () => `replaced on ${listNames(step.replaced())}`,
        );
        step.figure('unchanged while offline', '2 of 3 workers, updated automatically on their return');
        return `all 3 workers run ${after}`;
      },
    },
  ],
  tries: [
    ['npx edgeset status', 'the progress of each rollout'],
    [`kubectl annotate node ${offline[0]} edgeset.io/sim=offline`, 'cut off a worker'],
    [`kubectl wait --for=condition=Ready=Unknown node/${offline[0]}`, 'detected after 40 s'],
    [`kubectl set image ds/${NAME} nginx=nginx:1.19.6`, 'the others are updated'],
    [`npx edgeset explain ds/${NAME} --node ${offline[0]}`, 'why is this one not updated?'],
    [`kubectl annotate node ${offline[0]} edgeset.io/sim-`, 'bring it back'],
  ],
});
