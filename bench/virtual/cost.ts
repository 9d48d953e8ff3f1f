import { createRandom, nextTurn } from '../../src/runtime/index.ts';
import { lognormal } from '../measure/lognormal.ts';
import { cpuMs, liveHeap } from '../measure/machine.ts';
import { median } from '../measure/median.ts';
import { createFleet, onceForAll, stagedPlan } from './fleet.ts';

const DOWN_MS = 6_000;
const NEVER_MS = 1e9;
/** Every budget is used up by then, when no node comes back. */
const STUCK_MS = 60_000;
/** Longer than a reconcile is put off after the one before. */
const EVENT_EVERY_MS = 60;
const EVENTS = 300;
const ROUNDS = 7;

export interface Shape {
  nodes: number;
  /** All of them on all nodes. */
  daemonSets: number;
  budget: string;
  /** 0: without a plan. */
  stages: number;
}

export interface Cost {
  /** CPU of a watch event and the reconcile that it causes, in a rollout that has used up its budget; with the status writes. */
  reconcileMs: number;
  /** CPU of a rollout by all DaemonSets at once, for each pod. */
  podMs: number;
  /** Live heap of the controller after it. */
  heapBytes: number;
  /** From the start of the controller to full caches: the work, and the round trips. */
  syncMs: number;
  /** From the lease, with full caches, until a pod of each DaemonSet is deleted. */
  actMs: number;
}

/** What is left of an earlier fleet needs some turns of the event loop to end. */
const liveHeapAtRest = async (): Promise<number> => {
  for (let turn = 0; turn < 3; turn += 1) {
    liveHeap();
    await nextTurn();
  }
  return liveHeap();
};

/** What a fleet of this shape costs the native controller, which finds a new version on each DaemonSet when it starts. */
export const costOf = async ({ nodes, daemonSets, budget, stages }: Shape): Promise<Cost> => {
  let downMs = lognormal(createRandom(1), DOWN_MS, 0.2);
  const fleet = createFleet({
    nodes,
    daemonSets,
    maxUnavailable: budget,
    firstWave: '100%',
    downMs: () => downMs(),
    roundTripMs: 10,
    watchLagMs: 20,
    copies: true,
    ...(stages > 0 && { plan: stagedPlan(stages) }),
  });
  const { clock, controller, names } = fleet;
  fleet.release();
  const heapBefore = await liveHeapAtRest();
  const startedAt = clock.now();
  fleet.run();
  await clock.work(() => controller.synced());
  const leaseAt = clock.now();
  fleet.lead();
  await clock.work(onceForAll(fleet.daemonSets, ({ deleted }) => deleted() > 0));
  const actMs = clock.now() - leaseAt;
  const before = cpuMs();
  await fleet.complete();
  const podMs = (cpuMs() - before) / (nodes * daemonSets);
  for (const { downs } of fleet.daemonSets) downs.length = 0;
  const heapBytes = (await liveHeapAtRest()) - heapBefore;

  downMs = () => NEVER_MS;
  fleet.release();
  await clock.advance(STUCK_MS);
  const chance = createRandom(3);
  const index = (length: number): number => Math.floor(chance() * length);
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const roundBefore = cpuMs();
    for (let event = 0; event < EVENTS; event += 1) {
      fleet.daemonSets[index(daemonSets)]?.setReady(names[index(nodes)] ?? '', event % 2 === 1);
      await clock.advance(EVENT_EVERY_MS);
    }
    rounds.push((cpuMs() - roundBefore) / EVENTS);
  }
  await fleet.stop();
  return { reconcileMs: median(rounds), podMs, heapBytes, syncMs: leaseAt - startedAt, actMs };
};
