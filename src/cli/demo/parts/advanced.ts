import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { nodes as nodeResource, pods as podResource } from '../../../kube/index.ts';
import { demoKinds } from '../kinds.ts';
import type { Stage } from '../stage.ts';
import type { Part } from './part.ts';
import { conditionHolds, differing, expectOn, inventory, podUids, some, upOn } from './sights.ts';

const NAME = 'kiosk';
const FLEET = { fleet: 'kiosks' };
const first = ['kiosk-1', 'kiosk-2', 'kiosk-3', 'kiosk-4', 'kiosk-5', 'kiosk-6'] as const;
/** Of nodes that may be updated, those whose names come last in the alphabet go first. */
const canary = 'kiosk-6';
const others = first.filter((name) => name !== canary);
const late = ['kiosk-7', 'kiosk-8'] as const;
const all = [...first, ...late];
const image = { one: 'kiosk:1', two: 'kiosk:2', three: 'kiosk:3', four: 'kiosk:4' };

const HOOK = 'example.io/block-deleting';
const STATE = 'lifecycle.apps.kruise.io/state';
const PROGRESSIVE = 'daemonset.kruise.io/progressive-create-pod';
/** Long enough for a controller that does not wait to have acted. */
const LEFT_ALONE_MS = 12_000;

const daemonSet: Part['daemonSet'] = {
  apiVersion: 'apps.kruise.io/v1alpha1',
  kind: 'DaemonSet',
  metadata: { name: NAME, namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: NAME } },
    template: {
      metadata: { labels: { app: NAME, [HOOK]: 'true' } },
      spec: {
        nodeSelector: FLEET,
        tolerations: [{ key: 'fleet', operator: 'Exists' }],
        containers: [{ name: NAME, image: image.one }],
      },
    },
    updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: '30%' } },
  },
};

const rolling = (rollingUpdate: object): object => ({ spec: { updateStrategy: { rollingUpdate } } });
/** A new image and a new way to bring it about, in one write. */
const rollOut = (stage: Stage, next: string, rollingUpdate: object, more: object = {}): object => ({
  spec: { ...stage.imageOf(next).spec, updateStrategy: { rollingUpdate }, ...more },
});

const untouched = ({ witness }: Stage, nodes: readonly string[], before = podUids(witness, nodes)) => ({
  that: `the pods of ${some(nodes)} to be left alone`,
  test: () => differing(before, podUids(witness, nodes)).length === 0,
  seen: () => `other pods on ${some(differing(before, podUids(witness, nodes)))}: ${inventory(witness)}`,
});

const containersOn = ({ witness }: Stage, nodes: readonly string[]): string[] =>
  nodes.map((node) => witness.podsOn(node)[0]?.status?.containerStatuses?.[0]?.containerID ?? '');

const expectComplete = (stage: Stage): Promise<void> =>
  stage.expect({
    that: 'the rollout object to say that it is complete',
    test: () => conditionHolds(stage.witness, 'Complete'),
    seen: () => `"${stage.witness.rollout()?.status?.summary ?? 'no status'}"`,
  });

const isEnding = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp !== undefined;

/** Pods that are prepared, and wait for whoever holds them. */
const asking = ({ witness }: Stage): Pod[] =>
  all.flatMap((node) =>
    witness.podsOn(node).filter((pod) => {
      const { labels = {} } = pod.metadata ?? {};
      return labels[STATE] === 'PreparingDelete' && labels[HOOK] !== undefined && !isEnding(pod);
    }),
  );

/** What the user's own controller does once it has done its work: it takes the label away. Resolves with the pods' UIDs. */
const consent = async (stage: Stage): Promise<string[]> => {
  const pods = asking(stage);
  for (const { metadata: { name = '' } = {} } of pods)
    await stage.client.patch(
      podResource,
      { namespace: 'default', name },
      { metadata: { labels: { [HOOK]: null } } },
      { type: 'merge', fieldManager: 'edgeset-demo' },
    );
  return pods.map(({ metadata }) => metadata?.uid ?? '');
};

/** OpenKruise's Advanced DaemonSet: what it adds to the native one, feature by feature. */
export const advancedPart = (): Part => {
  const shown = { inPlace: 0, without: 0, twice: 0, let: new Set<string>() };
  return {
    heading: "six kiosks under OpenKruise's Advanced DaemonSet",
    nodes: all.map((name) => ({
      name,
      // The last two are delivered later.
      ...(first.some((one) => one === name) && { labels: FLEET }),
      taints: [{ key: 'fleet', value: 'kiosks', effect: 'NoSchedule' as const }],
    })),
    kind: demoKinds.advanced,
    eligible: all,
    daemonSet,
    share: 0.3,
    steps: [
      {
        title: `Create an Advanced DaemonSet with ${image.one}`,
        look: 'The manifest is one of OpenKruise (apps.kruise.io/v1alpha1), and so is every field that follows. The manager makes the pods itself.',
        async play(stage) {
          await stage.create();
          await expectOn(stage, image.one, first);
          await expectComplete(stage);
          return `${first.length} pods of ${image.one}, none on the two machines that are not kiosks yet`;
        },
      },
      {
        title: `A canary: ${image.two} with partition 5`,
        look: 'Five of six are to stay on the old revision. The pod of the sixth is not replaced: its image is changed while it runs.',
        async play(stage) {
          const before = podUids(stage.witness, first);
          const [old] = containersOn(stage, [canary]);
          const alone = untouched(stage, others);
          await stage.change(rollOut(stage, image.two, { partition: 5 }));
          await expectOn(stage, image.two, [canary]);
          await stage.expectStill(alone, LEFT_ALONE_MS);
          stage.check({
            that: `the other five to run ${image.one}`,
            test: () => others.every((name) => upOn(stage.witness, image.one).has(name)),
            seen: () => inventory(stage.witness),
          });
          stage.check({
            that: `the pod of ${canary} to be the one that it was, with another container`,
            test: () =>
              differing(before, podUids(stage.witness, first)).length === 0 && containersOn(stage, [canary])[0] !== old,
            seen: () =>
              `${some(differing(before, podUids(stage.witness, first)))}, container ${containersOn(stage, [canary]).join()}`,
          });
          return `${canary} runs ${image.two} in the same pod; 5 left on ${image.one}`;
        },
      },
      {
        title: 'The canary is well: partition 0',
        look: 'One number lets it go on. Six pods keep their names, their UIDs and their nodes; only their containers start anew.',
        async play(stage) {
          const same = untouched(stage, first);
          await stage.change(rolling({ partition: 0 }));
          await expectOn(stage, image.two, first);
          stage.check({ ...same, that: 'all six pods to be the ones that they were' });
          await expectComplete(stage);
          shown.inPlace = first.length;
          return `all run ${image.two}, 6 of 6 pods have the UID that they had`;
        },
      },
      {
        title: `A surge: ${image.three} with maxSurge 30%`,
        look: 'The new pod comes first, and the old one goes when it is ready. Watch the budget: no kiosk is without a running pod at any time.',
        async play(stage) {
          const { witness } = stage;
          const twice = (live: boolean): number =>
            all.filter((node) => witness.podsOn(node).filter((pod) => !live || !isEnding(pod)).length > 1).length;
          const next = { rollingUpdateType: 'Standard', maxSurge: '30%', maxUnavailable: null };
          await stage.change(rollOut(stage, image.three, next));
          await stage.expect({
            that: `all six kiosks to run ${image.three}, and none of them to be without a running pod meanwhile`,
            test: () => {
              shown.without = Math.max(shown.without, witness.meter.down().length);
              shown.twice = Math.max(shown.twice, twice(true));
              return first.every((name) => upOn(witness, image.three).has(name)) && twice(false) === 0;
            },
            seen: () => inventory(witness),
          });
          stage.check({
            that: 'no kiosk to be without a running pod at any time, and at most two with an old and a new one',
            test: () => shown.without === 0 && shown.twice > 0 && shown.twice <= 2,
            seen: () => `${shown.without} without one, ${shown.twice} with two`,
          });
          await expectComplete(stage);
          return `6 replaced, 0 down at any time, at most ${shown.twice} with two pods at once`;
        },
      },
      {
        title: `A preDelete hook: ${image.four} has to wait`,
        look: `Before a pod is deleted it is labelled PreparingDelete, and lives on until your controller takes the label ${HOOK} away.`,
        async play(stage) {
          const { witness } = stage;
          const alone = untouched(stage, first);
          const hook = { lifecycle: { preDelete: { labelsHandler: { [HOOK]: 'true' } } } };
          await stage.change(rollOut(stage, image.four, { maxSurge: null, maxUnavailable: '30%' }, hook));
          await stage.expect({
            that: 'two pods to be prepared, as many as may be down at once',
            test: () => asking(stage).length === 2,
            seen: () => `${asking(stage).length}: ${inventory(witness)}`,
          });
          await stage.expectStill({ ...alone, that: 'no pod to be deleted before it is let go' }, LEFT_ALONE_MS);
          stage.check({
            that: 'the two to serve on while they wait',
            test: () => upOn(witness, image.three).size === first.length,
            seen: () => inventory(witness),
          });
          return '2 pods ask, and serve on; 0 deleted';
        },
      },
      {
        title: 'The hook lets them go',
        look: 'This is what a controller of yours does: work, then take the label away. Pod by pod, within the budget, all are asked.',
        async play(stage) {
          const { witness } = stage;
          const done = (): boolean => first.every((name) => upOn(witness, image.four).has(name));
          while (!done()) {
            await stage.expect({
              that: `all six kiosks to run ${image.four}, each after its pod was let go`,
              test: () => done() || asking(stage).length > 0,
              seen: () => inventory(witness),
            });
            for (const uid of await consent(stage)) shown.let.add(uid);
          }
          stage.check({
            that: 'each of the six pods to have asked once',
            test: () => shown.let.size === first.length,
            seen: () => `${shown.let.size} of them`,
          });
          await expectComplete(stage);
          return `6 asked, 6 let go, all run ${image.four}`;
        },
      },
      {
        title: 'Two new kiosks, one at a time',
        look: `With the annotation ${PROGRESSIVE} the partition holds new nodes back, too: of eight, one is to wait.`,
        async play(stage) {
          const { witness } = stage;
          const alone = untouched(stage, first);
          const has = (): string[] => late.filter((name) => witness.podsOn(name).length > 0);
          await stage.change({ metadata: { annotations: { [PROGRESSIVE]: 'true' } }, ...rolling({ partition: 1 }) });
          for (const name of late)
            await stage.client.patch(nodeResource, { name }, { metadata: { labels: FLEET } }, { type: 'merge' });
          const one = {
            that: 'one of the two new kiosks to get a pod, and the other to wait',
            test: () => has().length <= 1,
            seen: () => `pods on ${some(has())}`,
          };
          await stage.expect({ ...one, test: () => late.some((name) => upOn(witness, image.four).has(name)) });
          await stage.expectStill(one, LEFT_ALONE_MS);
          const [lucky] = has();
          await stage.change(rolling({ partition: 0 }));
          await expectOn(stage, image.four, all);
          stage.check(alone);
          await expectComplete(stage);
          return `${lucky} first; the other with partition 0; the six were left alone`;
        },
      },
    ],
    figures: () => [
      ['changed in place', `${shown.inPlace} of 6 pods, none of them replaced`],
      ['down during the surge', `${shown.without}`],
      ['asked before a delete', `${shown.let.size} of 6, none deleted before it was let go`],
    ],
    tries: [
      [`kubectl get ads ${NAME} -o wide`, 'as OpenKruise shows it, and more'],
      [`npx edgeset explain ads/${NAME}`, 'where the rollout stands, and why'],
      [
        `kubectl patch ads ${NAME} --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"kiosk:5"}]'`,
        'another version: pods wait for their hook',
      ],
      [`kubectl label pods -l ${STATE}=PreparingDelete ${HOOK}-`, 'let them go'],
    ],
  };
};
