import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { nodes as nodeResource, pods as podResource } from '../../../kube/index.ts';
import { advanced } from '../../../view/index.ts';
import { listNames } from '../step.ts';
import { fleetNodes, type Part, podTemplate, type StepContext } from './part.ts';

const NAME = 'kiosk';
const FLEET = 'kiosks';
const first = ['kiosk-1', 'kiosk-2', 'kiosk-3', 'kiosk-4', 'kiosk-5', 'kiosk-6'] as const;
/** Of the nodes that a partition allows, the last ones by name go first. */
const canary = 'kiosk-6';
const others = first.filter((name) => name !== canary);
/** Added to the fleet in the last step. */
const late = ['kiosk-7', 'kiosk-8'] as const;
const all = [...first, ...late];
const image = { one: 'kiosk:1', two: 'kiosk:2', three: 'kiosk:3', four: 'kiosk:4' };

const HOOK = 'example.io/block-deleting';
const STATE = 'lifecycle.apps.kruise.io/state';
const PROGRESSIVE = 'daemonset.kruise.io/progressive-create-pod';
/** Long enough for a controller that doesn't wait to replace a pod. */
const UNCHANGED_MS = 12_000;

/** Sets a new image and how to roll it out, in one write. */
const rollOut = (step: StepContext, next: string, rollingUpdate: object, more: object = {}): Promise<void> =>
  step.patch({ spec: { ...step.imagePatch(next), updateStrategy: { rollingUpdate }, ...more } });

const setPartition = (step: StepContext, partition: number, more: object = {}): Promise<void> =>
  step.patch({ ...more, spec: { updateStrategy: { rollingUpdate: { partition } } } });

const containerOn = ({ observer }: StepContext, node: string): string =>
  observer.podsOn(node)[0]?.status?.containerStatuses?.[0]?.containerID ?? '';

const isDeleting = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp !== undefined;

/** Pods that are prepared for deletion and wait for the hook. */
const waitingForHook = ({ observer }: StepContext): Pod[] =>
  all
    .flatMap((node) => observer.podsOn(node))
    .filter((pod) => {
      const { labels = {} } = pod.metadata ?? {};
      return labels[STATE] === 'PreparingDelete' && labels[HOOK] !== undefined && !isDeleting(pod);
    });

/** Does what the user's controller does when its work is done: it removes the label. Resolves with the pods' UIDs. */
const removeHook = async (step: StepContext): Promise<string[]> => {
  const pods = waitingForHook(step);
  for (const { metadata: { name = '' } = {} } of pods)
    await step.patchMetadata(podResource, name, { labels: { [HOOK]: null } });
  return pods.map(({ metadata }) => metadata?.uid ?? '');
};

/** What OpenKruise's Advanced DaemonSet adds to the native one, feature by feature. */
export const advancedPart = (): Part => ({
  heading: "six kiosks under OpenKruise's Advanced DaemonSet",
  nodes: [...fleetNodes(FLEET, first), ...fleetNodes(FLEET, late).map((node) => ({ ...node, labels: {} }))],
  kind: advanced,
  eligible: all,
  daemonSet: {
    apiVersion: 'apps.kruise.io/v1alpha1',
    kind: 'DaemonSet',
    metadata: { name: NAME, namespace: 'default' },
    spec: {
      selector: { matchLabels: { app: NAME } },
      template: { ...podTemplate(NAME, image.one, FLEET), metadata: { labels: { app: NAME, [HOOK]: 'true' } } },
      updateStrategy: { rollingUpdate: { rollingUpdateType: 'InPlaceIfPossible', maxUnavailable: '30%' } },
    },
  },
  share: 0.3,
  steps: [
    {
      title: `Create an Advanced DaemonSet with ${image.one}`,
      text: "The manifest is OpenKruise's own (apps.kruise.io/v1alpha1), and so is every field in the next steps. The manager creates the pods itself.",
      takesMs: 12_000,
      async run(step) {
        await step.create();
        await step.expectImage(image.one, first);
        await step.expectCondition('Complete');
        return `6 pods of ${image.one}, none on the two nodes that don't belong to the fleet yet`;
      },
    },
    {
      title: `A canary: ${image.two} with partition 5`,
      text: 'Five of the six stay on the old revision. The pod of the sixth is not replaced: its image changes while it runs.',
      takesMs: 18_000,
      unchanged: first,
      async run(step) {
        const oldContainer = containerOn(step, canary);
        await rollOut(step, image.two, { partition: 5 });
        await step.expectImage(image.two, [canary]);
        await step.hold(UNCHANGED_MS);
        await step.check(`the other five to run ${image.one}`, () => step.haveImage(image.one, others));
        await step.check(`${canary} to have another container`, () => containerOn(step, canary) !== oldContainer);
        return `${canary} runs ${image.two} in the same pod; 5 still run ${image.one}`;
      },
    },
    {
      title: 'The canary is healthy: partition 0',
      text: 'One number continues the rollout. Six pods keep their names, UIDs and nodes; only their containers restart.',
      takesMs: 16_000,
      unchanged: first,
      async run(step) {
        await setPartition(step, 0);
        await step.expectImage(image.two, first);
        await step.expectCondition('Complete');
        step.figure('updated in place', '6 of 6 pods, none of them replaced');
        return `all run ${image.two}, and 6 of 6 pods kept their UID`;
      },
    },
    {
      title: `A surge: ${image.three} with maxSurge 30%`,
      text: 'The new pod starts first, and the old one is deleted when the new one is Ready. Watch the budget: no kiosk is ever without a running pod.',
      takesMs: 19_000,
      async run(step) {
        const { availability, podsOn } = step.observer;
        const withTwo = (isCounted: (pod: Pod) => boolean): number =>
          all.filter((node) => podsOn(node).filter(isCounted).length > 1).length;
        let down = 0;
        let surged = 0;
        await rollOut(step, image.three, { rollingUpdateType: 'Standard', maxSurge: '30%', maxUnavailable: null });
        await step.expect(`all six kiosks to run ${image.three}, each with one pod`, () => {
          down = Math.max(down, availability.down().length);
          surged = Math.max(
            surged,
            withTwo((pod) => !isDeleting(pod)),
          );
          return step.haveImage(image.three, first) && withTwo(() => true) === 0;
        });
        await step.check(
          'no kiosk to be without a running pod at any time, and at most two to have two pods',
          () => down === 0 && surged > 0 && surged <= 2,
          () => `${down} without one, ${surged} with two`,
        );
        await step.expectCondition('Complete');
        step.figure('down during the surge', `${down}`);
        return `6 replaced, 0 down at any time, at most ${surged} with two pods at once`;
      },
    },
    {
      title: `A preDelete hook: ${image.four} has to wait`,
      text: `Before a pod is deleted, it gets the state label PreparingDelete, and it keeps running until your controller removes the label ${HOOK}.`,
      takesMs: 16_000,
      unchanged: first,
      async run(step) {
        const hook = { lifecycle: { preDelete: { labelsHandler: { [HOOK]: 'true' } } } };
        await rollOut(step, image.four, { maxSurge: null, maxUnavailable: '30%' }, hook);
        await step.expect(
          'two pods to wait for the hook, as many as may be down at once',
          () => waitingForHook(step).length === 2,
          () => `${waitingForHook(step).length}: ${step.inventory()}`,
        );
        await step.hold(UNCHANGED_MS);
        await step.check('the two pods to keep running while they wait', () => step.haveImage(image.three, first));
        return '2 pods wait for the hook and keep running; 0 deleted';
      },
    },
    {
      title: 'The hook is done',
      text: 'A controller of yours would now do its work and then remove the label. Each pod is deleted only after that, within the budget.',
      takesMs: 20_000,
      async run(step) {
        const released = new Set<string>();
        await step.expect(`all six kiosks to run ${image.four}, each after its hook was done`, async () => {
          for (const uid of await removeHook(step)) released.add(uid);
          return step.haveImage(image.four, first);
        });
        await step.check(
          'each of the six pods to have waited for the hook once',
          () => released.size === first.length,
          () => `${released.size} of them`,
        );
        await step.expectCondition('Complete');
        step.figure('waited for the hook', '6 of 6, none deleted before');
        return `6 pods waited for the hook, all run ${image.four}`;
      },
    },
    {
      title: 'Two new kiosks, one at a time',
      text: `With the annotation ${PROGRESSIVE}, the partition also applies to new nodes: one of the eight has to wait.`,
      takesMs: 19_000,
      unchanged: first,
      async run(step) {
        const withPod = (): string[] => late.filter((name) => step.observer.podsOn(name).length > 0);
        const that = 'one of the two new kiosks to get a pod, and the other one to wait';
        const seen = (): string => `pods on ${listNames(withPod())}`;
        await setPartition(step, 1, { metadata: { annotations: { [PROGRESSIVE]: 'true' } } });
        for (const name of late) await step.patchMetadata(nodeResource, name, { labels: { fleet: FLEET } });
        await step.expect(that, () => late.some((name) => step.haveImage(image.four, [name])), seen);
        await step.hold(UNCHANGED_MS, that, () => withPod().length <= 1, seen);
        const [chosen] = withPod();
        await setPartition(step, 0);
        await step.expectImage(image.four, all);
        await step.expectCondition('Complete');
        return `${chosen} first, the other one after partition 0; the six are unchanged`;
      },
    },
  ],
  tries: [
    [`kubectl get ads ${NAME} -o wide`, 'the columns of OpenKruise, and more'],
    [`npx edgeset explain ads/${NAME}`, 'the state of the rollout, and why'],
    [
      `kubectl patch ads ${NAME} --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"kiosk:5"}]'`,
      'another version: pods wait for their hook',
    ],
    [`kubectl label pods -l ${STATE}=PreparingDelete ${HOOK}-`, 'let them be deleted'],
  ],
});
