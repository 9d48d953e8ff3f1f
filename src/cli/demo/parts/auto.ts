import { demoKinds } from '../kinds.ts';
import type { Part } from './part.ts';
import { conditionHolds, count, differing, expectOn, expectPower, inventory, podUids, some, upOn } from './sights.ts';

const controlPlane = 'openyurt-e2e-test-control-plane';
const worker = 'openyurt-e2e-test-worker';
const away = ['openyurt-e2e-test-worker2', 'openyurt-e2e-test-worker3'];
const workers = [worker, ...away];
const CONTROL_PLANE_ROLE = 'node-role.kubernetes.io/control-plane';

const [before, after] = ['nginx:1.19.4', 'nginx:1.19.5'];
/** Long enough for the two to be touched, were they not to be left alone. */
const LEFT_ALONE_MS = 12_000;

const daemonSet: Part['daemonSet'] = {
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
    template: {
      metadata: { labels: { app: 'nginx' } },
      spec: { containers: [{ name: 'nginx', image: before }] },
    },
  },
};

/** OpenYurt's own walkthrough of its Auto model, with its names. */
export const autoPart = (): Part => {
  return {
    heading: 'three workers, two of them cut off',
    nodes: [
      {
        name: controlPlane,
        labels: { [CONTROL_PLANE_ROLE]: '' },
        taints: [{ key: CONTROL_PLANE_ROLE, effect: 'NoSchedule' }],
      },
      ...workers.map((name) => ({ name })),
    ],
    kind: demoKinds.native,
    eligible: workers,
    daemonSet,
    // The default of 10 %, which is one node of three.
    share: 0.1,
    steps: [
      {
        title: `Create a DaemonSet with ${before}`,
        look: 'Three workers start nginx. OnDelete and one annotation (update-strategy: auto) are all it takes to hand its updates to edgeset.',
        async play(stage) {
          await stage.create();
          await expectOn(stage, before, workers);
          await stage.expect({
            that: 'a pod on each of the three workers and nowhere else',
            test: () => [...stage.witness.meter.pods()].length === workers.length,
            seen: () => inventory(stage.witness),
          });
          return `3 pods of ${before} are ready`;
        },
      },
      {
        title: 'Cut two workers off',
        look: 'worker2 and worker3 fall silent, like a van in a tunnel. A native rolling update would now be stuck until both are back.',
        async play(stage) {
          const pods = podUids(stage.witness, away);
          await stage.offline(away);
          await expectPower(stage, away, false);
          stage.check({
            that: 'the pods of the two to stay as they are',
            test: () => differing(pods, podUids(stage.witness, away)).length === 0,
            seen: () => `other pods on ${some(differing(pods, podUids(stage.witness, away)))}`,
          });
          return 'worker2 and worker3 are NotReady; their pods stay as they are';
        },
      },
      {
        title: `Change the image to ${after}`,
        look: 'The worker in reach is updated at once. The two others must not hold it up, and must be left alone: nobody can see how they are.',
        async play(stage) {
          const { witness } = stage;
          const pods = podUids(witness, workers);
          const outcome = () => {
            const changed = differing(pods, podUids(witness, workers));
            const others = changed.filter((node) => node !== worker);
            return { changed, others, done: upOn(witness, after).has(worker) };
          };
          const words = (): string => {
            const { changed } = outcome();
            return changed.length === 0
              ? `no pod replaced: ${inventory(witness)}`
              : `the pods of ${changed.join(', ')} replaced or ending: ${inventory(witness)}`;
          };
          const that = 'exactly one pod, that of the reachable worker, to be replaced and the two others left alone';
          await stage.setImage(after);
          await stage.expect({
            that,
            test: () => outcome().done || outcome().others.length > 0,
            seen: words,
          });
          await stage.expectStill({ that, test: () => outcome().others.length === 0, seen: words }, LEFT_ALONE_MS);
          await stage.expect({
            that: 'the rollout object to say that all online nodes are updated',
            test: () => conditionHolds(witness, 'Complete'),
            seen: () => `"${witness.rollout()?.status?.summary ?? 'no status'}"`,
          });
          return '1 pod replaced, 2 left alone; complete as far as can be';
        },
      },
      {
        title: 'Bring the two back',
        look: 'Each is updated by itself, one after the other, once it has been back for ten seconds. Nobody has to remember it.',
        async play(stage) {
          const pods = podUids(stage.witness, workers);
          await stage.online(away);
          await expectPower(stage, away, true);
          await expectOn(stage, after, workers);
          const changed = differing(pods, podUids(stage.witness, workers));
          stage.check({
            that: 'the pods of the two that came back to be replaced, and no other',
            test: () => changed.join() === away.join(),
            seen: () => `replaced on ${changed.join(', ')}`,
          });
          return `all ${count(workers.length, 'worker')} run ${after}`;
        },
      },
    ],
    figures: () => [
      ['left alone while away', `${away.length} of ${workers.length} workers, updated by themselves on return`],
    ],
    tries: [
      ['npx edgeset status', 'how far each rollout is'],
      [`kubectl annotate node ${away[0]} edgeset.io/sim=offline`, 'cut a worker off'],
      [`kubectl wait --for=condition=Ready=Unknown node/${away[0]}`, 'noticed after 40 s'],
      ['kubectl set image ds/nginx-daemonset nginx=nginx:1.19.6', 'the others are updated'],
      [`npx edgeset explain ds/nginx-daemonset --node ${away[0]}`, 'why is this one not?'],
      [`kubectl annotate node ${away[0]} edgeset.io/sim-`, 'bring it back'],
    ],
  };
};
