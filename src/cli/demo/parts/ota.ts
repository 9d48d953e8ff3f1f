import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { needUpgradeOf } from '../../../rollout/index.ts';
import type { DemoAgent } from '../agent.ts';
import { demoKinds } from '../kinds.ts';
import type { Stage } from '../stage.ts';
import type { Part } from './part.ts';
import { count, differing, expectOn, expectPower, inventory, podUids } from './sights.ts';

const NAME = 'nginx-ota';
const [own, ...others] = ['car-1', 'car-2', 'car-3'] as const;
const cars = [own, ...others];
const image = { first: 'nginx:1.19.4', second: 'nginx:1.19.5', third: 'nginx:1.19.6' };
/** Long enough for a controller that decides by itself to have acted. */
const LEFT_ALONE_MS = 15_000;

const daemonSet: Part['daemonSet'] = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: NAME, namespace: 'default', annotations: { 'apps.openyurt.io/update-strategy': 'ota' } },
  spec: {
    selector: { matchLabels: { app: NAME } },
    updateStrategy: { type: 'OnDelete' },
    template: {
      metadata: { labels: { app: NAME } },
      spec: {
        nodeSelector: { fleet: 'cars' },
        tolerations: [{ key: 'fleet', operator: 'Exists' }],
        containers: [{ name: 'nginx', image: image.first }],
      },
    },
  },
};

const podOn = ({ witness }: Stage, node: string): Pod | undefined => witness.podsOn(node)[0];

const announced = (stage: Stage): string[] =>
  cars.filter((car) => {
    const pod = podOn(stage, car);
    return pod !== undefined && needUpgradeOf(pod)?.status === 'True';
  });

const expectAnnounced = (stage: Stage): Promise<void> =>
  stage.expect({
    that: `the pods of all ${cars.length} cars to carry PodNeedUpgrade=True`,
    test: () => announced(stage).length === cars.length,
    seen: () => `it on ${announced(stage).join(', ') || 'none'}`,
  });

const upgradeRoute = (stage: Stage): string =>
  `/openyurt.io/v1/namespaces/default/pods/${podOn(stage, own)?.metadata?.name}/upgrade`;

/** Calls until the agent gives the answer that is due; what it said last is what a failure says. */
const expectAnswer = async (
  stage: Stage,
  that: string,
  ask: () => ReturnType<DemoAgent['call']>,
  wanted: (answer: { status: number; text: string }) => boolean,
): Promise<void> => {
  let answer = { status: 0, text: 'no answer yet' };
  let asking = false;
  const askAgain = async (): Promise<void> => {
    asking = true;
    try {
      answer = await ask();
    } catch (error) {
      answer = { status: 0, text: String(error) };
    } finally {
      asking = false;
    }
  };
  await stage.expect({
    that,
    test() {
      if (!wanted(answer) && !asking) void askAgain();
      return wanted(answer);
    },
    seen: () => `${answer.status} ${answer.text.slice(0, 100)}`,
  });
};

const leftAlone = (stage: Stage, before: ReadonlyMap<string, string>, nodes: readonly string[]) => ({
  that: `the pods of ${nodes.join(', ')} to be left alone: their owners said nothing`,
  test: () => differing(before, podUids(stage.witness, nodes)).length === 0,
  seen: () =>
    `other pods on ${differing(before, podUids(stage.witness, nodes)).join(', ')}: ${inventory(stage.witness)}`,
});

/** OpenYurt's OTA model: the cloud announces, the owner of each car decides, also without a link. */
export const otaPart = (): Part => ({
  heading: 'three cars whose owners decide',
  nodes: cars.map((name) => ({
    name,
    labels: { fleet: 'cars' },
    taints: [{ key: 'fleet', value: 'cars', effect: 'NoSchedule' }],
  })),
  kind: demoKinds.native,
  eligible: cars,
  daemonSet,
  share: 0.1,
  steps: [
    {
      title: `Three cars run ${image.first}, update-strategy: ota`,
      look: 'A car that is driving must not be updated because somebody in an office changed a number. Here its owner decides.',
      async play(stage) {
        await stage.create();
        await expectOn(stage, image.first, cars);
        const agent = await stage.agent(own);
        await expectAnswer(
          stage,
          `the agent of ${own} to list the pod on GET /pods`,
          () => agent.call('GET', '/pods'),
          ({ status, text }) => status === 200 && text.includes(`"${NAME}-`),
        );
        return `3 pods of ${image.first}; the agent of ${own} answers on its loopback`;
      },
    },
    {
      title: `Publish ${image.second}`,
      look: 'The cloud only announces: each pod gets the condition PodNeedUpgrade=True, and nothing else happens to it.',
      async play(stage) {
        const before = podUids(stage.witness, cars);
        await stage.setImage(image.second);
        await expectAnnounced(stage);
        await stage.expectStill(leftAlone(stage, before, cars), LEFT_ALONE_MS);
        return 'announced on 3 pods, 0 replaced';
      },
    },
    {
      title: `The owner of ${own} says yes`,
      look: 'One POST to the agent on the car: curl -X POST 127.0.0.1:10267/openyurt.io/v1/namespaces/default/pods/NAME/upgrade',
      async play(stage) {
        const before = podUids(stage.witness, others);
        const agent = await stage.agent(own);
        const name = podOn(stage, own)?.metadata?.name;
        const route = upgradeRoute(stage);
        await expectAnswer(
          stage,
          `the answer "Start updating pod default/${name}"`,
          () => agent.call('POST', route),
          ({ status, text }) => status === 200 && text === `Start updating pod default/${name}`,
        );
        await expectOn(stage, image.second, [own]);
        stage.check(leftAlone(stage, before, others));
        return `"Start updating pod default/${name}": 1 pod replaced, 2 left alone`;
      },
    },
    {
      title: `Publish ${image.third}, and ${own} drives into a tunnel`,
      look: 'Without a link the agent still knows the pods and what is new. It refuses to act, and takes a decision for later.',
      async play(stage) {
        await stage.setImage(image.third);
        await expectAnnounced(stage);
        const agent = await stage.agent(own);
        const updates = '/edgeset.io/v1/updates';
        await expectAnswer(
          stage,
          `the agent of ${own} to know ${image.third}`,
          () => agent.call('GET', updates),
          ({ text }) => text.includes(image.third),
        );
        agent.cut();
        await stage.offline([own]);
        await expectPower(stage, [own], false);
        const before = podUids(stage.witness, cars);
        const route = upgradeRoute(stage);
        await expectAnswer(
          stage,
          'the agent to refuse an update now',
          () => agent.call('POST', route),
          ({ status }) => status === 503,
        );
        await expectAnswer(
          stage,
          'the agent to take the decision for later',
          () => agent.call('POST', `${route}?queue=true`),
          ({ status, text }) => status === 202 && text.startsWith('Queued updating pod'),
        );
        await expectAnswer(
          stage,
          'GET /pods to be answered in the tunnel',
          () => agent.call('GET', '/pods'),
          ({ status, text }) => status === 200 && text.includes(`"${NAME}-`),
        );
        await stage.expectStill(leftAlone(stage, before, cars), LEFT_ALONE_MS);
        return '503 at once, 202 for later; 0 pods replaced';
      },
    },
    {
      title: `${own} comes out of the tunnel`,
      look: 'The decision is carried out by itself, once, and for the version that the owner said yes to.',
      async play(stage) {
        const before = podUids(stage.witness, others);
        const agent = await stage.agent(own);
        agent.heal();
        await stage.online([own]);
        await expectPower(stage, [own], true);
        await expectOn(stage, image.third, [own]);
        await stage.expectStill(leftAlone(stage, before, others), LEFT_ALONE_MS);
        await expectAnswer(
          stage,
          'the history of the car to tell it',
          () => agent.call('GET', '/edgeset.io/v1/history'),
          ({ text }) => text.includes('Updated'),
        );
        return `${count(1, 'pod')} replaced; ${count(others.length, 'car')} still ask their owners`;
      },
    },
  ],
  figures: () => [['decided without a link', 'carried out once, after it was back']],
  tries: [
    ['npx edgeset status', 'who waits for an owner'],
    [`npx edgeset explain ds/${NAME} --node ${others[0]}`, 'why is this one not updated?'],
    [
      `kubectl get pods -l app=${NAME} -o custom-columns=NAME:.metadata.name,NEED:.status.conditions[?(@.type==\\"PodNeedUpgrade\\")].status`,
      'what is announced',
    ],
  ],
});
