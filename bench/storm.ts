import { createRandom } from '../src/runtime/index.ts';
import type { Benchmark, Figure } from './measure/figure.ts';
import { lognormal } from './measure/lognormal.ts';
import { median } from './measure/median.ts';
import type { SimulatedDaemonSet } from './virtual/daemon-set.ts';
import { every } from './virtual/every.ts';
import { createFleet } from './virtual/fleet.ts';
import type { WorkingClock } from './virtual/working-clock.ts';

const GOAL_MS = 100;
/** Of the calm DaemonSet: one after the other is updated. */
const CALM_NODES = 41;
const CALM_DOWN_MS = 500;
const STORMY_DOWN_MS = 6_000;
/** The stormy DaemonSet is in the middle of a rollout by then. */
const UNDER_WAY_MS = 10_000;
/** Of virtual time: without a storm, all updates of the calm DaemonSet take half a minute. */
const LONGEST_MS = 300_000;
const POD_EVENTS_A_SECOND = 1_000;
const SPEC_CHANGES_A_SECOND = 20;
/** How long before a calm node becomes ready all stormy pods change, ms: one after the other. */
const LEADS_MS = [0, 10, 40, 150] as const;

/** What a storm is made of. */
interface Stage {
  clock: WorkingClock;
  nodes: readonly string[];
  stormy: SimulatedDaemonSet;
  /** From now on, `listener` is called when a calm node has gone down: it is ready again CALM_DOWN_MS later. */
  onCalmDown: (listener: () => void) => void;
}

interface Storm {
  name: string;
  /** Returns a function that ends it. */
  blow: (stage: Stage) => () => void;
}

/** The cluster alone changes a pod that is being replaced. */
const flap = (stormy: SimulatedDaemonSet, node: string, ready: boolean): void => {
  if (!stormy.isReplacing(node)) stormy.setReady(node, ready);
};

const storms: readonly Storm[] = [
  {
    name: `${POD_EVENTS_A_SECOND} pod events a second`,
    blow: ({ clock, nodes, stormy }) =>
      every(clock, 1000 / POD_EVENTS_A_SECOND, (count) =>
        flap(stormy, nodes[(count >> 1) % nodes.length] ?? '', count % 2 === 1),
      ),
  },
  {
    name: 'all pods at once',
    blow({ clock, nodes, stormy, onCalmDown }) {
      let count = 0;
      onCalmDown(() => {
        const ready = count % 2 === 1;
        const lead = LEADS_MS[count % LEADS_MS.length] ?? 0;
        count += 1;
        const gust = (): void => {
          for (const node of nodes) flap(stormy, node, ready);
        };
        clock.timer(CALM_DOWN_MS - lead, () => clock.free(gust));
      });
      return () => onCalmDown(() => undefined);
    },
  },
  {
    name: `${SPEC_CHANGES_A_SECOND} changes of the spec a second`,
    blow: ({ clock, stormy }) =>
      every(clock, 1000 / SPEC_CHANGES_A_SECOND, (count) => {
        if (count % 2 === 0) stormy.release();
        else stormy.setBudget(count % 4 === 1 ? '5%' : '10%');
      }),
  },
];

/** Milliseconds from the event that a calm node is ready until the delete of the next pod reaches the API server. */
const delaysOf = (calm: SimulatedDaemonSet): number[] =>
  calm.downs.slice(1).map(({ from }, index) => from - ((calm.downs[index]?.from ?? 0) + CALM_DOWN_MS));

const measure = async (nodes: number, { name, blow }: Storm): Promise<Figure> => {
  let onCalmDown = (): void => undefined;
  const fleet = createFleet({
    nodes,
    maxUnavailable: '10%',
    downMs: lognormal(createRandom(1), STORMY_DOWN_MS, 0.2),
    small: {
      nodes: CALM_NODES,
      maxUnavailable: '1',
      downMs() {
        onCalmDown();
        return CALM_DOWN_MS;
      },
    },
    roundTripMs: 10,
    // An event that comes while the thread is busy waits in the socket: no time passes once the thread reads it.
    watchLagMs: 0,
    copies: true,
  });
  const { clock, names } = fleet;
  const [stormy, calm] = fleet.daemonSets;
  if (!stormy || !calm) throw new Error('there is no calm DaemonSet');
  const rollOut = async (): Promise<number[]> => {
    calm.downs.length = 0;
    calm.release();
    await clock.work(() => calm.downs.length === CALM_NODES, LONGEST_MS);
    return delaysOf(calm);
  };
  await fleet.start();
  // What the first rollout compiles, the others have.
  await rollOut();
  const alone = await rollOut();
  stormy.release();
  await clock.advance(UNDER_WAY_MS);
  const end = blow({
    clock,
    nodes: names,
    stormy,
    onCalmDown(listener) {
      onCalmDown = listener;
    },
  });
  const beside = await rollOut();
  end();
  await fleet.stop();
  const added = beside.map((delay, index) => delay - (alone[index] ?? 0));
  const worst = Math.max(...added);
  return {
    name: `storm of ${name}`,
    measured:
      `an update of another DaemonSet begins ${median(added)} ms later, at most ${worst} ms (${median(beside)} ms instead of ` +
      `${median(alone)} ms after a node is free, ${added.length} updates), N=${nodes}`,
    goal: `<= ${GOAL_MS} ms`,
    met: worst <= GOAL_MS,
  };
};

/**
 * How long the storm of one DaemonSet delays the updates of another one. Everything runs on the working clock: a storm is made of its
 * timers, so neither can get ahead of the other.
 */
export const storm: Benchmark = {
  name: 'storm',
  async *run({ quick }) {
    for (const each of storms) yield await measure(quick ? 1_000 : 10_000, each);
  },
};
