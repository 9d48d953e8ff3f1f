import { rolloutPlans } from '../../../controller/index.ts';
import { native } from '../../../view/index.ts';
import { type DaemonRolloutStage, planApi, REST_STAGE, type RolloutPlanObject } from '../../../words/index.ts';
import { count, listNames } from '../step.ts';
import { fleetNodes, nativeDaemonSet, type Part, podTemplate, type StepContext } from './part.ts';

const NAME = 'checkout';
const FLEET = 'stores';
const PLAN = 'rings';
const lab = ['lab-1'];
const canary = ['canary-1', 'canary-2', 'canary-3'];
const west = ['west-1', 'west-2', 'west-3', 'west-4'];
const east = ['east-1', 'east-2', 'east-3', 'east-4'];
const rings: Readonly<Record<string, readonly string[]>> = { lab, canary, 'shops-west': west, [REST_STAGE]: east };
const all = Object.values(rings).flat();
/** In each ring that has others. */
const offline = ['canary-3', 'west-4', 'east-4'];
const isOffline = (name: string): boolean => offline.includes(name);
const online = all.filter((name) => !isOffline(name));
const shops = [...west, ...east];
const early = [...lab, ...canary].filter((name) => !isOffline(name));

const image = { one: 'checkout:1', two: 'checkout:2', three: 'checkout:3' };
const MOST_ERRORS = 0.05;
/** Long enough for a manager that ignores the gate to update the next ring. */
const UNCHANGED_MS = 12_000;
const DAY_MS = 24 * 3_600_000;

/** The name of the series that the plan's check queries; the plan has placeholders for both. */
const errorsOf = (ring: string, revision: string): string =>
  `checkout_error_ratio{ring="${ring}",revision="${revision}"}`;

const stage = (name: string, promote: object) => ({
  name,
  nodes: { selector: { matchLabels: { ring: name } } },
  promote,
});

const plan: RolloutPlanObject = {
  apiVersion: planApi.apiVersion,
  kind: planApi.plan.kind,
  metadata: { name: PLAN, namespace: 'default' },
  spec: {
    // Nodes that no stage takes are in the stage `rest`.
    stages: [
      stage('lab', { soak: '10s', checks: ['errors'] }),
      stage('canary', { soak: '10s', checks: ['errors'], approval: { required: true } }),
      stage('shops-west', { soak: '5s' }),
    ],
    checks: [
      {
        name: 'errors',
        prometheus: {
          query: errorsOf(`$\{stage}`, `$\{revision}`),
          condition: `result.all(ratio, ratio < ${MOST_ERRORS})`,
          interval: '5s',
        },
      },
    ],
  },
};

const stageOf = ({ observer }: StepContext, name: string): DaemonRolloutStage | undefined =>
  observer.status()?.stages?.find((each) => each.name === name);

/** `lab Passed, canary Open`. */
const stagesSeen = ({ observer }: StepContext): string =>
  observer
    .status()
    ?.stages?.map(({ name, state, awaits }) => `${name} ${state}${awaits ? ` (${awaits.message})` : ''}`)
    .join(', ') ?? 'no stages';

/** Publishes the version, and its metrics once it runs in the lab: the value of each ring. */
const publish = async (step: StepContext, version: string, errors: Readonly<Record<string, number>>): Promise<void> => {
  await step.setImage(version);
  await step.expectImage(version, lab);
  const [pod] = lab.flatMap((name) => step.observer.podsOn(name));
  const revision = pod?.metadata?.labels?.['controller-revision-hash'] ?? '';
  for (const [ring, ratio] of Object.entries(errors)) step.metrics.set(errorsOf(ring, revision), ratio);
};

const expectStage = (
  step: StepContext,
  name: string,
  what: string,
  test: (found: DaemonRolloutStage) => boolean,
): Promise<void> =>
  step.expect(
    `the stage ${name} to ${what}`,
    () => {
      const found = stageOf(step, name);
      return found !== undefined && test(found);
    },
    () => stagesSeen(step),
  );

const isFrozen = ({ observer }: StepContext): boolean => observer.status()?.summary === 'Frozen by the plan';

/** Rollouts in stages: a check stops one version, an approval and a freeze hold another, and offline nodes follow. */
export const ringsPart = (): Part => ({
  heading: 'twelve nodes in four rings',
  nodes: Object.entries(rings).flatMap(([ring, names]) =>
    fleetNodes(FLEET, names).map((node) => ({ ...node, labels: { ...node.labels, ring } })),
  ),
  kind: native,
  eligible: all,
  daemonSet: nativeDaemonSet(
    NAME,
    {
      'apps.openyurt.io/update-strategy': 'auto',
      'apps.openyurt.io/max-unavailable': '30%',
      'edgeset.io/rollout-plan': PLAN,
    },
    podTemplate(NAME, image.one, FLEET),
  ),
  share: 0.3,
  steps: [
    {
      title: `A plan of four rings, and ${image.one}`,
      text: 'The RolloutPlan lists lab, canary and shops-west; nodes that none of them takes are the rest. The first version is not staged: there is no older one to protect.',
      takesMs: 4_000,
      async run(step) {
        await step.createObject(rolloutPlans, plan);
        await step.create();
        await step.expectImage(image.one, all);
        await step.expectCondition('Complete');
        return `12 nodes run ${image.one}`;
      },
    },
    {
      title: 'Three nodes go offline',
      text: 'One in the canary ring, one in the west, one in the east. Offline nodes neither block a ring nor count for it.',
      takesMs: 36_000,
      unchanged: all,
      async run(step) {
        await step.takeOffline(offline);
        return `${listNames(offline)} are NotReady`;
      },
    },
    {
      title: `${image.two} passes the lab, but not the canary ring`,
      text: 'Each ring soaks for 10 s while the manager asks Prometheus for the error ratio. The lab has no customers, so it sees no errors. The canary ring does: 21%.',
      takesMs: 34_000,
      unchanged: [...shops, ...offline],
      async run(step) {
        await publish(step, image.two, { lab: 0, canary: 0.21 });
        await step.expectImage(image.two, early);
        await step.expectCondition('Halted');
        await step.check(
          'the check to have halted the rollout in the canary ring',
          () => {
            const { reason, check } = step.observer.status()?.halted ?? {};
            return reason === 'CheckFailed' && check === 'canary/errors' && stageOf(step, 'lab')?.state === 'Passed';
          },
          () => `"${step.observer.status()?.summary}", ${stagesSeen(step)}`,
        );
        await step.hold(UNCHANGED_MS, `only the lab and the canary ring to run ${image.two}`, () =>
          step.nodesWith(image.two).isSubsetOf(new Set(early)),
        );
        step.figure('stopped by the metric', `after ${early.length} of ${online.length} online nodes`);
        return `halted by the check: ${listNames(early)} have ${image.two}, all shops still run ${image.one}`;
      },
    },
    {
      title: 'Undo: back to the last complete version',
      text: `kubectl edgeset undo sets the template of ${image.one} again. The way back is not staged: no soak, no check, no approval holds it.`,
      takesMs: 9_000,
      unchanged: [...shops, ...offline],
      async run(step) {
        await step.edgeset('undo', `ds/${NAME}`);
        await step.expectImage(image.one, online);
        await step.expectCondition('Complete');
        return `${count(early.length, 'node')} went back; all stages were open at once`;
      },
    },
    {
      title: `${image.three} passes both rings, and awaits an approval`,
      text: 'The plan requires an approval of the canary ring. Until somebody gives it, no shop is updated.',
      takesMs: 43_000,
      unchanged: [...shops, ...offline],
      async run(step) {
        await publish(step, image.three, { lab: 0, canary: 0.01 });
        await expectStage(step, 'canary', 'await an approval', ({ awaits }) => awaits?.reason === 'Approval');
        await step.check(`the lab and the canary ring to run ${image.three}`, () => step.haveImage(image.three, early));
        await step.hold(UNCHANGED_MS);
        return `lab and canary run ${image.three}, with an error ratio of 1%; 0 of ${count(shops.length, 'shop')} updated`;
      },
    },
    {
      title: 'A freeze, and then the approval',
      text: 'The plan gets a freeze for the day. The approval still counts and opens the next ring, but no update begins before the freeze ends.',
      takesMs: 18_000,
      unchanged: [...shops, ...offline],
      async run(step) {
        const [from, to] = [step.now() - DAY_MS, step.now() + DAY_MS].map((at) => new Date(at).toISOString());
        await step.patchObject(rolloutPlans, PLAN, { spec: { freezes: [{ from, to, reason: 'Black Friday' }] } });
        const seen = (): string => `"${step.observer.status()?.summary}", ${stagesSeen(step)}`;
        await step.expect('the freeze to hold the rollout', () => isFrozen(step), seen);
        await step.edgeset('approve', `ds/${NAME}`, '--stage=canary', '--comment=the tills are fine');
        await expectStage(step, 'canary', 'be passed', ({ state }) => state === 'Passed');
        await expectStage(step, 'shops-west', 'be open', ({ state }) => state === 'Open');
        await step.hold(UNCHANGED_MS, 'the freeze to hold the rollout', () => isFrozen(step), seen);
        return `approved by ${stageOf(step, 'canary')?.promotedBy}; shops-west is open, and 0 updates began`;
      },
    },
    {
      title: 'The freeze is removed',
      text: 'The west goes first and soaks for 5 s. The rest follows. The offline nodes do not hold the rollout.',
      takesMs: 16_000,
      unchanged: [...early, ...offline],
      async run(step) {
        const { deletions } = step.observer.availability;
        const from = deletions().length;
        await step.patchObject(rolloutPlans, PLAN, { spec: { freezes: null } });
        await step.expectImage(image.three, online);
        await step.expectCondition('Complete');
        const order = deletions()
          .slice(from)
          .map(({ node }) => node);
        await step.check(
          'each node of the west to be updated before any of the east',
          () => order.slice(0, 3).every((name) => west.includes(name)),
          () => order.join(', '),
        );
        return `west, then east: all ${online.length} online nodes run ${image.three}`;
      },
    },
    {
      title: 'The offline nodes come back',
      text: `Their rings are open, so each is updated on its return, directly from version 1 to ${image.three}. ${image.two} never reaches them.`,
      takesMs: 15_000,
      unchanged: online,
      async run(step) {
        await step.bringBack(offline);
        await step.expectImage(image.three, all);
        await step.expectCondition('Complete', () => step.observer.status()?.nodes?.offline === 0);
        step.figure('offline meanwhile', `${count(offline.length, 'node')}, updated on their return`);
        return `all 12 nodes run ${image.three}`;
      },
    },
  ],
  tries: [
    [`npx edgeset status ds/${NAME}`, 'the stages of the rollout'],
    [`kubectl get rolloutplan ${PLAN} -o yaml`, 'the plan'],
    [`kubectl get rolloutapprovals -o wide`, 'who approved what'],
    [`kubectl set image ds/${NAME} ${NAME}=checkout:4`, 'no metric knows this one: the lab holds it'],
    [`npx edgeset explain ds/${NAME}`, 'what is it waiting for?'],
    [`kubectl edgeset promote ds/${NAME}`, 'pass the lab by hand'],
  ],
});
