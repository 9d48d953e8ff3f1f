import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { native } from '../../../view/index.ts';
import { count, listNames } from '../step.ts';
import { fleetNodes, nativeDaemonSet, type Part, type PartOptions, podTemplate } from './part.ts';

const NAME = 'till';
const SHARE = 0.1;
const OFFLINE_SHARE = 0.1;
/** The tag of the bad version makes the simulated kubelets crash it. */
const image = { first: 'till:1', good: 'till:2', bad: 'till:3--crash-loop', fixed: 'till:4' };
/** Nodes that try a version first: the default failure threshold. */
const FIRST_WAVE = 3;
/** Each has a region of its own. */
const CITIES = [
  ['berlin', 'east'],
  ['cologne', 'west'],
  ['hamburg', 'north'],
  ['munich', 'south'],
] as const;
const UNDER_WAY_MS = 5_000;
/** Longer than it takes to reuse a slot, if the breaker didn't halt the rollout. */
const HALTED_MS = 20_000;

/** Chooses `number` of `items` at random, in their order. */
const pick = <T>(items: readonly T[], number: number, random: () => number): T[] => {
  const left = [...items];
  while (left.length > number) left.splice(Math.floor(random() * left.length), 1);
  return left;
};

/** The shops of each city: `berlin-01`, `berlin-02`, ... */
const shopsOf = (fleet: number) => {
  const each = Math.ceil(fleet / CITIES.length);
  const digits = Math.max(2, String(each).length);
  return Array.from({ length: fleet }, (_, index) => {
    const [city, region] = CITIES[Math.floor(index / each)] ?? CITIES[0];
    return { name: `${city}-${String(1 + (index % each)).padStart(digits, '0')}`, region };
  });
};

/** A fleet with some nodes offline: a good version, a bad one that is halted and undone, and one that fixes it. */
export const fleetPart = ({ fleet, random }: PartOptions): Part => {
  const shops = shopsOf(fleet);
  const names = shops.map(({ name }) => name);
  const offline = pick(names, Math.max(1, Math.round(fleet * OFFLINE_SHARE)), random);
  const online = names.filter((name) => !offline.includes(name));
  const budget = Math.max(1, Math.ceil(online.length * SHARE));
  const wave = Math.min(FIRST_WAVE, budget);

  return {
    heading: `a fleet of ${fleet} shops`,
    nodes: fleetNodes('shops', names).map((node, index) => ({
      ...node,
      labels: { ...node.labels, region: shops[index]?.region ?? '' },
    })),
    kind: native,
    eligible: names,
    daemonSet: nativeDaemonSet(
      NAME,
      { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': '10%' },
      podTemplate(NAME, image.first, 'shops'),
    ),
    share: SHARE,
    steps: [
      {
        title: `${fleet} shops start their till, version 1`,
        text: 'Each cell is the node of one shop. During an update, at most 10% of the online nodes may be down at once.',
        takesMs: 2_000,
        async run(step) {
          await step.create();
          await step.expectImage(image.first, names);
          return `${fleet} tills run ${image.first}`;
        },
      },
      {
        title: `${count(offline.length, 'shop')} of ${fleet} ${offline.length === 1 ? 'goes' : 'go'} offline`,
        text: 'In a fleet, a tenth of the nodes is always offline. A rollout that waits for them never completes; one that updates them cannot see the result.',
        takesMs: 38_000,
        async run(step) {
          await step.takeOffline(offline);
          return `${listNames(offline)} ${offline.length === 1 ? 'is' : 'are'} NotReady`;
        },
      },
      {
        title: 'Roll out version 2, a good one',
        text: `It proves itself on ${count(wave, 'shop')} first. Then watch the budget: ${budget} of ${online.length} online nodes may be down. Offline nodes are skipped.`,
        takesMs: 30_000,
        unchanged: offline,
        async run(step) {
          const { availability } = step.observer;
          await step.setImage(image.good);
          await step.expect(`half of the online nodes to run ${image.good}`, () => {
            const share = step.nodesWith(image.good).size / online.length;
            // The picture shows more with all slots in use; a small fleet may never use them all.
            return share > 0.8 || (share >= 0.5 && availability.down().length >= budget);
          });
          await step.keepPicture('A good version, half way');
          await step.expectImage(image.good, online);
          await step.expectCondition('Complete');
          const { down, limit } = availability.peak();
          return `${online.length} updated, at most ${down} down at once (budget ${limit}), ${offline.length} offline unchanged`;
        },
      },
      {
        title: 'Roll out version 3, which crashes on start',
        text: `Nothing marks it as bad. It reaches the first wave, ${count(wave, 'shop')}, and stops there: the rollout is halted. The others keep running version 2.`,
        takesMs: 30_000,
        async run(step) {
          const { availability, podsOn } = step.observer;
          const broken = (): string[] => {
            const healthy = step.nodesWith(image.good);
            return names.filter((name) => availability.isOnline(name) && !healthy.has(name));
          };
          const isCrashing = ({ status }: Pod): boolean =>
            status?.containerStatuses?.some(({ restartCount, ready }) => restartCount > 0 && !ready) ?? false;
          const crashing = (): number => broken().filter((name) => podsOn(name).some(isCrashing)).length;
          const seen = (): string => `${count(broken().length, 'node')} down: ${listNames(broken())}`;
          await step.setImage(image.bad);
          await step.expectCondition('Halted');
          // Updates that had started before the halt still finish.
          const that = `no more than ${count(wave, 'node')} to fail with the bad version`;
          await step.hold(UNDER_WAY_MS, that, () => broken().length <= wave, seen);
          const failed = broken();
          const isSame = (): boolean => broken().join() === failed.join();
          await step.hold(HALTED_MS, 'no more nodes to fail after the halt', isSame, seen);
          await step.expect(
            'the pods of the bad version to be in a crash loop',
            () => failed.length > 0 && crashing() === failed.length,
            () => `${crashing()} of ${failed.length} in a crash loop`,
          );
          await step.keepPicture('A bad version, halted');
          step.figure('broken by version 3', `${failed.length} of ${online.length} online nodes`);
          return `halted after ${count(failed.length, 'node')}; the other ${step.nodesWith(image.good).size} online nodes still run version 2`;
        },
      },
      {
        title: 'Undo: back to version 2',
        text: `kubectl edgeset undo sets the template of version 2 again. Only the ${count(wave, 'broken shop')} ${wave === 1 ? 'gets' : 'get'} a new pod.`,
        takesMs: 6_000,
        unchanged: offline,
        async run(step) {
          const { deletions } = step.observer.availability;
          const from = deletions().length;
          await step.edgeset('undo', `ds/${NAME}`);
          await step.expectImage(image.good, online);
          await step.expectCondition('Complete');
          const replaced = deletions().length - from;
          await step.check(
            `no more than ${count(wave, 'pod')} to be replaced`,
            () => replaced <= wave,
            () => `${replaced}`,
          );
          return `${count(replaced, 'pod')} replaced, ${online.length - replaced} untouched: all ${online.length} online nodes run ${image.good}`;
        },
      },
      {
        title: 'Roll out version 4, which fixes it',
        text: 'It was tested this time. The fleet moves on while the same shops are still offline.',
        takesMs: 30_000,
        unchanged: offline,
        async run(step) {
          await step.setImage(image.fixed);
          await step.expectImage(image.fixed, online);
          await step.expectCondition('Complete');
          return `all ${online.length} online nodes run ${image.fixed}`;
        },
      },
      {
        title: 'The offline shops come back',
        text: 'They go from version 1 directly to version 4, within the budget. The bad version never reaches them.',
        takesMs: 15_000,
        async run(step) {
          await step.bringBack(offline);
          await step.expectImage(image.fixed, names);
          await step.expectCondition('Complete', () => step.observer.status()?.nodes?.offline === 0);
          return `all ${fleet} run ${image.fixed}`;
        },
      },
    ],
    tries: [
      [`kubectl set image ds/${NAME} ${NAME}=till:5--crash-loop`, 'another bad version'],
      [`npx edgeset wait ds/${NAME}`, 'exits with 3 when the rollout is halted'],
      [`npx edgeset explain ds/${NAME}`, 'which nodes, and why'],
      [`kubectl set image ds/${NAME} ${NAME}=till:6`, 'fix it'],
      [`npx edgeset wait ds/${NAME}`, 'until it is complete'],
      [`kubectl describe ds ${NAME}`, 'what happened, as Events'],
    ],
  };
};
