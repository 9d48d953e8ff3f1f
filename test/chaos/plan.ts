import { createGenerator } from '../support/index.ts';

/** DaemonSets that are rolled out at the same time on the same nodes. */
export const setNames = ['native', 'recreate', 'in-place', 'surge'] as const;
export type SetName = (typeof setNames)[number];

/** The manager that leads at that moment, or the other one. */
export type Who = 'leader' | 'other';

/** One operation on a part of the cluster. It lasts `forMs`, and is then reverted. */
export type Operation =
  /** SIGKILL; another process replaces it. `midway`: once slots are reserved and their updates have not begun. */
  | { do: 'kill'; who: Who; midway: boolean }
  /** SIGSTOP: the process keeps its connections, and continues later. */
  | { do: 'stop'; who: 'leader'; midway: boolean; forMs: number }
  | { do: 'cut' | 'stall'; who: Who; forMs: number }
  | { do: 'slow'; who: Who; latencyMs: number; forMs: number }
  | { do: 'reset'; who: Who; times: number }
  | { do: 'restart-api' }
  /** SIGSTOP of the controller of native DaemonSets. */
  | { do: 'hold-native'; forMs: number }
  | { do: 'offline'; nodes: readonly number[]; forMs: number }
  | { do: 'recreate-node'; node: number }
  | { do: 'delete-pods'; set: SetName; nodes: readonly number[] }
  | { do: 'release'; set: SetName; image: string }
  /** `image` is a good version again. */
  | { do: 'bad-version'; set: SetName; bad: string; forMs: number; image: string }
  | { do: 'pause'; set: SetName; image: string; forMs: number }
  | { do: 'partition'; set: SetName; image: string; nodes: number; forMs: number }
  | { do: 'budget'; set: SetName; nodes: number };

export interface Step {
  /** After the previous step has completed. */
  afterMs: number;
  operation: Operation;
}

/** A run as data. Lanes run concurrently, the steps of a lane one after the other. */
export interface Plan {
  seed: number;
  nodes: number;
  lanes: Readonly<Record<string, readonly Step[]>>;
}

/** The approximate time that an operation takes in addition to `forMs`. */
const OVERHEAD_MS: Partial<Record<Operation['do'], number>> = {
  kill: 4_000,
  cut: 1_000,
  stall: 1_000,
  slow: 1_000,
  reset: 3_000,
  'restart-api': 5_000,
  offline: 7_000,
  'recreate-node': 4_000,
  'bad-version': 5_000,
  pause: 1_500,
};

const BAD = ['crash-loop', 'not-pullable', 'dies-after-ready', 'failed'] as const;

const lengthOf = (operation: Operation): number =>
  ('forMs' in operation ? operation.forMs : 0) + (OVERHEAD_MS[operation.do] ?? 0);

/** `leaders`: the leader is stopped or cut off again and again, while versions are released. */
export const storms = ['everything', 'leaders'] as const;
export type Storm = (typeof storms)[number];

/** A plan from a seed: every kind of operation of its storm at least once, and more until the time has ended. */
export const makePlan = (seed: number, minutes: number, storm: Storm = 'everything', nodes = 20): Plan => {
  const { next, between, oneOf: one } = createGenerator(seed);
  const seconds = (least: number, most: number): number => between(least * 10, most * 10) * 100;
  const shuffled = <T>(items: readonly T[]): T[] =>
    items
      .map((item) => ({ item, order: next() }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ item }) => item);
  const someNodes = (count: number): number[] =>
    shuffled(Array.from({ length: nodes }, (_, index) => index)).slice(0, count);
  const who = (): Who => one(['leader', 'leader', 'other']);

  type Maker = () => Operation;
  /** Each of `first` once, in some order, then `more` until the time has ended. */
  const lane = (
    first: readonly Maker[],
    more: readonly [Maker, ...Maker[]],
    gap: readonly [number, number],
  ): Step[] => {
    const steps: Step[] = [];
    const queue = shuffled(first);
    for (let spentMs = 0; queue.length > 0 || spentMs < minutes * 60_000; ) {
      const operation = (queue.shift() ?? one(more))();
      const afterMs = seconds(...gap);
      steps.push({ afterMs, operation });
      spentMs += afterMs + lengthOf(operation);
    }
    return steps;
  };

  const kill = (process: Who) => (): Operation => ({
    do: 'kill',
    who: process,
    midway: process === 'leader' && next() < 0.7,
  });
  const stop = (least: number, most: number) => (): Operation => ({
    do: 'stop',
    who: 'leader',
    midway: next() < 0.7,
    forMs: seconds(least, most),
  });
  const nap = stop(5, 12);
  const cut: Maker = () => ({ do: 'cut', who: who(), forMs: seconds(4, 12) });
  const stall: Maker = () => ({ do: 'stall', who: who(), forMs: seconds(5, 15) });
  const slow: Maker = () => ({ do: 'slow', who: who(), latencyMs: between(100, 500), forMs: seconds(6, 14) });
  const reset: Maker = () => ({ do: 'reset', who: who(), times: between(3, 6) });
  const restartApi: Maker = () => ({ do: 'restart-api' });
  const holdNative: Maker = () => ({ do: 'hold-native', forMs: seconds(4, 10) });
  const offline: Maker = () => ({ do: 'offline', nodes: someNodes(between(2, 5)), forMs: seconds(6, 20) });
  const remakeNode: Maker = () => ({ do: 'recreate-node', node: between(0, nodes - 1) });
  const deletePods: Maker = () => ({ do: 'delete-pods', set: one(setNames), nodes: someNodes(between(1, 3)) });

  const releases = (set: SetName): Step[] => {
    let version = 1;
    const image = (): string => `app:v${(version += 1)}`;
    const release: Maker = () => ({ do: 'release', set, image: image() });
    if (storm === 'leaders') return lane([], [release], [7, 9]);
    const badVersion: Maker = () => {
      const bad = `app:v${(version += 1)}-bad--${one(BAD)}`;
      return { do: 'bad-version', set, bad, forMs: seconds(5, 10), image: image() };
    };
    const pause: Maker = () => ({ do: 'pause', set, image: image(), forMs: seconds(4, 8) });
    const partition: Maker = () => {
      const kept = between(4, nodes - 4);
      return { do: 'partition', set, image: image(), nodes: kept, forMs: seconds(8, 12) };
    };
    const budget: Maker = () => ({ do: 'budget', set, nodes: between(2, 6) });
    const special = set === 'native' ? [badVersion] : [badVersion, pause, partition, budget];
    return lane([release, release, ...special], [release], [9, 16]);
  };

  const released = () => Object.fromEntries(setNames.map((set) => [set, releases(set)]));
  if (storm === 'leaders') {
    const cutLeader: Maker = () => ({ do: 'cut', who: 'leader', forMs: seconds(4, 12) });
    const processes = lane([], [nap], [2, 4]);
    const links = lane([], [cutLeader], [1, 3]);
    return {
      seed,
      nodes,
      lanes: { processes, links, 'control plane': lane([restartApi], [restartApi], [15, 25]), ...released() },
    };
  }
  return {
    seed,
    nodes,
    lanes: {
      processes: lane([kill('leader'), kill('other'), stop(60, 60), nap], [kill('leader'), nap], [3, 7]),
      links: lane([cut, stall, slow, reset], [cut, stall, slow, reset], [3, 7]),
      'control plane': lane([restartApi, holdNative], [restartApi, holdNative, holdNative], [15, 30]),
      nodes: lane([offline, remakeNode, deletePods], [offline, offline, remakeNode, deletePods], [2, 5]),
      ...released(),
    },
  };
};

/** How often the plan contains each kind of operation. */
export const countOperations = ({ lanes }: Plan): Map<Operation['do'], number> => {
  const counts = new Map<Operation['do'], number>();
  for (const { operation } of Object.values(lanes).flat())
    counts.set(operation.do, (counts.get(operation.do) ?? 0) + 1);
  return counts;
};

/** For people, one line for each lane. */
export const formatPlan = ({ lanes }: Plan): string[] =>
  Object.entries(lanes).map(([name, steps]) => {
    const told = steps.map(({ afterMs, operation: { do: what, ...rest } }) => {
      const details = Object.entries(rest).map(([key, value]) => `${key} ${JSON.stringify(value)}`);
      return `+${afterMs / 1000} s ${what}${details.length > 0 ? ` (${details.join(', ')})` : ''}`;
    });
    return `${name}: ${told.join('; ')}`;
  });
