import { demoKinds } from '../kinds.ts';
import type { Part, PartOptions } from './part.ts';
import {
  conditionHolds,
  count,
  differing,
  expectOn,
  expectPower,
  inventory,
  online,
  podUids,
  some,
  upOn,
} from './sights.ts';

const NAME = 'till';
const SHARE = 0.1;
const OFFLINE_SHARE = 0.1;
/** The good, the bad and the mended; the tag of the third tells the simulated kubelets how it fares. */
const image = { first: 'till:1', good: 'till:2', bad: 'till:3--crash-loop', mended: 'till:4' };
const UNDER_WAY_MS = 5_000;
/** Longer than a slot needs to be used again, were the breaker not to stop it. */
const STOPPED_MS = 20_000;

const daemonSet: Part['daemonSet'] = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: {
    name: NAME,
    namespace: 'default',
    annotations: { 'apps.openyurt.io/update-strategy': 'auto', 'apps.openyurt.io/max-unavailable': '10%' },
  },
  spec: {
    selector: { matchLabels: { app: NAME } },
    updateStrategy: { type: 'OnDelete' },
    template: {
      metadata: { labels: { app: NAME } },
      spec: {
        nodeSelector: { fleet: 'shops' },
        tolerations: [{ key: 'fleet', operator: 'Exists' }],
        containers: [{ name: NAME, image: image.first }],
      },
    },
  },
};

/** `count` of `items`, in their order. */
const pick = <T>(items: readonly T[], count: number, random: () => number): T[] => {
  const left = items.map((_, index) => index);
  const chosen = new Set<number>();
  while (chosen.size < Math.min(count, items.length)) {
    const [index] = left.splice(Math.floor(random() * left.length), 1);
    if (index !== undefined) chosen.add(index);
  }
  return items.filter((_, index) => chosen.has(index));
};

/** A fleet with some nodes away: a good version, a bad one that is stopped, and the one that mends it. */
export const fleetPart = ({ fleet, random }: PartOptions): Part => {
  const digits = String(fleet).length;
  const names = Array.from({ length: fleet }, (_, index) => `shop-${String(index + 1).padStart(digits, '0')}`);
  const away = pick(names, Math.max(1, Math.round(fleet * OFFLINE_SHARE)), random);
  const reachable = names.filter((name) => !away.includes(name));
  const budget = Math.max(1, Math.ceil(reachable.length * SHARE));
  let lost: string[] = [];

  return {
    heading: `a fleet of ${fleet} shops`,
    nodes: names.map((name) => ({
      name,
      labels: { fleet: 'shops' },
      taints: [{ key: 'fleet', value: 'shops', effect: 'NoSchedule' }],
    })),
    kind: demoKinds.native,
    eligible: names,
    daemonSet,
    share: SHARE,
    steps: [
      {
        title: `${fleet} shops start their till, version 1`,
        look: 'Each cell is the machine of one shop. They may be down for an update too, but never more than 10 % of those in reach at once.',
        async play(stage) {
          await stage.create();
          await expectOn(stage, image.first, names);
          return `${fleet} tills run ${image.first}`;
        },
      },
      {
        title: `${count(away.length, 'shop')} of ${fleet} lose their link`,
        look: 'In a fleet a tenth is always away. Waiting for them would mean to wait for ever; updating without looking would be blind.',
        async play(stage) {
          await stage.offline(away);
          await expectPower(stage, away, false);
          return `${some(away)} ${away.length === 1 ? 'is' : 'are'} NotReady`;
        },
      },
      {
        title: 'Roll out version 2, a good one',
        look: `Watch the budget: ${budget} of ${reachable.length} online nodes may be down, a slot is used again the moment its node is back. The dark ones are skipped.`,
        async play(stage) {
          const { witness } = stage;
          const dark = podUids(witness, away);
          await stage.setImage(image.good);
          await stage.expect({
            that: `half of the online nodes to run ${image.good}`,
            test: () => {
              const share = upOn(witness, image.good).size / reachable.length;
              // A picture with all slots in use shows more; there may be none in a small fleet.
              return share > 0.8 || (share >= 0.5 && witness.meter.down().length >= budget);
            },
            seen: () => inventory(witness),
          });
          await stage.snapshot('A good version, half way');
          await expectOn(stage, image.good, reachable);
          stage.check({
            that: 'the pods of the offline nodes to be left alone',
            test: () => differing(dark, podUids(witness, away)).length === 0,
            seen: () => `other pods on ${some(differing(dark, podUids(witness, away)))}`,
          });
          const { down, limit } = witness.meter.peak();
          return `${reachable.length} updated, at most ${down} down at once (budget ${limit}), ${away.length} offline left alone`;
        },
      },
      {
        title: 'Roll out version 3, which crashes on start',
        look: `Nobody tells edgeset that it is bad. It gets no further than the budget, ${count(budget, 'node')}: then the breaker halts it. The others keep serving.`,
        async play(stage) {
          const { witness } = stage;
          const healthy = () => upOn(witness, image.good);
          const struck = (): string[] => online(witness, names).filter((name) => !healthy().has(name));
          const crashing = (): string[] =>
            struck().filter((name) => witness.podsOn(name).some((pod) => crashes(pod.status?.containerStatuses)));
          const within = {
            that: `no more than ${count(budget, 'node')} to be lost to the bad version`,
            test: () => struck().length <= budget,
            seen: () => `${count(struck().length, 'node')} down: ${some(struck())}`,
          };
          await stage.setImage(image.bad);
          await stage.expect({
            that: 'the rollout to be halted by the breaker, and to say so in its condition Halted',
            test: () => conditionHolds(witness, 'Halted'),
            seen: () => `"${witness.rollout()?.status?.summary ?? 'no status'}", ${inventory(witness)}`,
          });
          // What was under way at the halt still arrives.
          await stage.expectStill(within, UNDER_WAY_MS);
          lost = struck();
          const stopped = {
            that: 'no further node to be touched after the halt',
            test: () => struck().join() === lost.join(),
            seen: within.seen,
          };
          await stage.expectStill(stopped, STOPPED_MS);
          await stage.expect({
            that: 'the pods of the bad version to crash again and again',
            test: () => lost.length > 0 && crashing().length === lost.length,
            seen: () => `${crashing().length} of ${lost.length} in a crash loop`,
          });
          await stage.snapshot('A bad version, stopped');
          return `halted after ${count(lost.length, 'node')}; the other ${healthy().size} in reach still serve version 2`;
        },
      },
      {
        title: 'Roll out version 4, the mended one',
        look: 'The broken shops come first, each in the slot that it holds anyway; then the rollout goes on by itself.',
        async play(stage) {
          const { witness } = stage;
          const from = witness.meter.takes().length;
          await stage.setImage(image.mended);
          await expectOn(stage, image.mended, reachable);
          const order = witness.meter
            .takes()
            .slice(from)
            .map(({ node }) => node);
          const until = 1 + Math.max(...lost.map((name) => order.indexOf(name)));
          const others = until - lost.length;
          stage.check({
            that: `the broken nodes (${some(lost)}) to be repaired before more than ${budget} others are touched`,
            test: () => lost.every((name) => order.includes(name)) && others <= budget,
            seen: () => `${others} others before the last of them: ${order.slice(0, until).join(', ')}`,
          });
          const first =
            others === 0 ? `the broken ${lost.length} first` : `the broken ${lost.length} among the first ${until}`;
          return `${first}, then the rest: all ${reachable.length} in reach run ${image.mended}`;
        },
      },
      {
        title: 'The dark shops come back',
        look: 'They go from version 1 straight to version 4, within the budget. The bad version never reaches them.',
        async play(stage) {
          const { witness } = stage;
          await stage.online(away);
          await expectPower(stage, away, true);
          await expectOn(stage, image.mended, names);
          await stage.expect({
            that: 'the rollout object to say that it is complete, with no node offline',
            test: () => conditionHolds(witness, 'Complete') && witness.rollout()?.status?.nodes?.offline === 0,
            seen: () => `"${witness.rollout()?.status?.summary ?? 'no status'}"`,
          });
          return `all ${fleet} run ${image.mended}`;
        },
      },
    ],
    figures: () => [['lost to the bad version', `${lost.length} of ${reachable.length} online nodes, repaired first`]],
    tries: [
      [`kubectl set image ds/${NAME} ${NAME}=till:5--crash-loop`, 'another bad version'],
      [`npx edgeset wait ds/${NAME}`, 'halts; ends with code 3'],
      [`npx edgeset explain ds/${NAME}`, 'which nodes, and why'],
      [`kubectl set image ds/${NAME} ${NAME}=till:6`, 'mend it'],
      [`npx edgeset wait ds/${NAME}`, 'until all is well'],
      [`kubectl describe ds ${NAME}`, 'the story in Events'],
    ],
  };
};

const crashes = (statuses: readonly { restartCount: number; ready: boolean }[] | undefined): boolean =>
  statuses?.some(({ restartCount, ready }) => restartCount > 0 && !ready) ?? false;
