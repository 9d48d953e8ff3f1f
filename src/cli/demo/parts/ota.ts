import { needUpgradeOf } from '../../../rollout/index.ts';
import { native } from '../../../view/index.ts';
import { listNames } from '../step.ts';
import { fleetNodes, nativeDaemonSet, type Part, podTemplate, type StepContext } from './part.ts';

const NAME = 'nginx-ota';
const [own, ...others] = ['car-1', 'car-2', 'car-3'] as const;
const cars = [own, ...others];
const image = { first: 'nginx:1.19.4', second: 'nginx:1.19.5', third: 'nginx:1.19.6' };
/** Long enough for a controller that doesn't wait for owners to replace a pod. */
const UNCHANGED_MS = 15_000;

/** Publishes an image. Resolves once every pod announces it. */
const publish = async (step: StepContext, next: string): Promise<void> => {
  const isAnnounced = (car: string): boolean => needUpgradeOf(step.observer.podsOn(car)[0] ?? {})?.status === 'True';
  await step.setImage(next);
  await step.expect(
    'the pods of all 3 cars to have PodNeedUpgrade=True',
    () => cars.every(isAnnounced),
    () => `it on ${listNames(cars.filter(isAnnounced))}`,
  );
};

interface Response {
  status: number;
  text: string;
}

/** Calls the agent of the owner's car until it gives the expected response. */
const expectResponse = async (
  step: StepContext,
  that: string,
  request: `${'GET' | 'POST'} /${string}`,
  isExpected: (response: Response) => boolean,
): Promise<void> => {
  const agent = await step.agent(own);
  let response: Response = { status: 0, text: 'no response yet' };
  await step.expect(
    that,
    async () => {
      response = await agent.call(request).catch((error: unknown) => ({ status: 0, text: String(error) }));
      return isExpected(response);
    },
    () => `${response.status} ${response.text.slice(0, 100)}`,
  );
};

const expectPodList = (step: StepContext, that: string): Promise<void> =>
  expectResponse(step, that, 'GET /pods', ({ status, text }) => status === 200 && text.includes(`"${NAME}-`));

const ownPod = ({ observer }: StepContext): string => observer.podsOn(own)[0]?.metadata?.name ?? '';
const upgradeOwnPod = (step: StepContext) =>
  `POST /openyurt.io/v1/namespaces/default/pods/${ownPod(step)}/upgrade` as const;

/** OpenYurt's OTA model: the cluster announces an update, and the owner of each car decides, even without a connection. */
export const otaPart = (): Part => ({
  heading: 'three cars whose owners decide',
  nodes: fleetNodes('cars', cars),
  kind: native,
  eligible: cars,
  daemonSet: nativeDaemonSet(
    NAME,
    { 'apps.openyurt.io/update-strategy': 'ota' },
    podTemplate(NAME, image.first, 'cars'),
  ),
  share: 0.1,
  steps: [
    {
      title: `Three cars run ${image.first}, update-strategy: ota`,
      text: 'A car that is driving must not be updated because someone changed an image elsewhere. Its owner decides.',
      takesMs: 2_000,
      async run(step) {
        await step.create();
        await step.expectImage(image.first, cars);
        await expectPodList(step, `the agent of ${own} to list the pod on GET /pods`);
        return `3 pods of ${image.first}; the agent of ${own} responds on its loopback address`;
      },
    },
    {
      title: `Publish ${image.second}`,
      text: 'The manager only announces the update: each pod gets the condition PodNeedUpgrade=True, and nothing is replaced.',
      takesMs: 16_000,
      unchanged: cars,
      async run(step) {
        await publish(step, image.second);
        await step.hold(UNCHANGED_MS);
        return 'announced on 3 pods, 0 replaced';
      },
    },
    {
      title: `The owner of ${own} accepts`,
      text: 'One POST to the agent on the car: curl -X POST 127.0.0.1:10267/openyurt.io/v1/namespaces/default/pods/NAME/upgrade',
      takesMs: 3_000,
      unchanged: others,
      async run(step) {
        const started = `Start updating pod default/${ownPod(step)}`;
        await expectResponse(
          step,
          `the response "${started}"`,
          upgradeOwnPod(step),
          ({ status, text }) => status === 200 && text === started,
        );
        await step.expectImage(image.second, [own]);
        return `"${started}": 1 pod replaced, 2 unchanged`;
      },
    },
    {
      title: `Publish ${image.third}, and ${own} drives into a tunnel`,
      text: 'Without a connection, the agent still knows the pods and the announced update. It refuses to update now, and queues a decision for later.',
      takesMs: 65_000,
      unchanged: cars,
      async run(step) {
        const upgrade = upgradeOwnPod(step);
        await publish(step, image.third);
        await expectResponse(
          step,
          `the agent of ${own} to know ${image.third}`,
          'GET /edgeset.io/v1/updates',
          ({ text }) => text.includes(image.third),
        );
        await (await step.agent(own)).cutLink();
        await step.takeOffline([own]);
        await expectResponse(step, 'the agent to refuse an update now', upgrade, ({ status }) => status === 503);
        await expectResponse(
          step,
          'the agent to queue the decision for later',
          `${upgrade}?queue=true`,
          ({ status, text }) => status === 202 && text.startsWith('Queued updating pod'),
        );
        await expectPodList(step, 'GET /pods to respond in the tunnel');
        await step.hold(UNCHANGED_MS);
        return '503 now, 202 for later; 0 pods replaced';
      },
    },
    {
      title: `${own} leaves the tunnel`,
      text: 'The decision is carried out automatically, once, and for the version that the owner accepted.',
      takesMs: 91_000,
      unchanged: others,
      async run(step) {
        // The node first: the agent acts as soon as it has a link, and a deletion on an offline node breaks a rule of the demo.
        await step.bringBack([own]);
        await (await step.agent(own)).restoreLink();
        await step.expectImage(image.third, [own]);
        await step.hold(UNCHANGED_MS);
        await expectResponse(
          step,
          'the history of the car to record the update',
          'GET /edgeset.io/v1/history',
          ({ text }) => text.includes('Updated'),
        );
        step.figure('decided while offline', 'carried out once, after the car was back');
        return '1 pod replaced; 2 cars still wait for their owners';
      },
    },
  ],
  tries: [
    ['npx edgeset status', 'which rollouts wait for owners'],
    [`npx edgeset explain ds/${NAME} --node ${others[0]}`, 'why is this one not updated?'],
    [
      `kubectl get pods -l app=${NAME} -o custom-columns=NAME:.metadata.name,NEED:.status.conditions[?(@.type==\\"PodNeedUpgrade\\")].status`,
      'what is announced',
    ],
  ],
});
