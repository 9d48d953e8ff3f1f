import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createEmbeddedCluster } from '../embedded/index.ts';
import { defineResource } from '../src/kube/index.ts';
import { createRandom, createVirtualClock, silentLogger } from '../src/runtime/index.ts';
import { type Benchmark, type Figure, mib, seconds } from './measure/figure.ts';
import { liveHeap, residentOf, watchMachine } from './measure/machine.ts';

const GOAL_MS = 2000;
const GOAL_BYTES = 1024 ** 3;
/** What a real fleet does while nothing happens: heartbeats. */
const REST_MS = 60_000;

const daemonSets = defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});
const ref = { namespace: 'default', name: 'app' };

interface Up {
  /** Real time from nothing to all pods available, ms. */
  tookMs: number;
  /** Real time of a minute in which nothing happens, ms. */
  restMs: number;
  /** Live objects, bytes. */
  heapBytes: number;
  /** Kept from being collected before it is measured. */
  close: () => void;
}

/** A cluster of this many nodes, each with one daemon pod. */
const bringUp = (nodes: number): Up => {
  const before = liveHeap();
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const startedAt = performance.now();
  const cluster = createEmbeddedCluster({ env: { clock, random: createRandom(1), log: silentLogger } });
  for (let index = 0; index < nodes; index += 1) cluster.addNode(`node-${index}`);
  cluster.apiServer.create<DaemonSet>(daemonSets, {
    metadata: ref,
    spec: {
      selector: { matchLabels: { app: 'app' } },
      template: { metadata: { labels: { app: 'app' } }, spec: { containers: [{ name: 'app', image: 'app:v1' }] } },
    },
  });
  const isUp = (): boolean => cluster.apiServer.get<DaemonSet>(daemonSets, ref).status?.numberAvailable === nodes;
  if (!clock.runUntil(isUp, 600_000)) throw new Error(`${nodes} pods did not come up in ten minutes of virtual time`);
  const tookMs = performance.now() - startedAt;
  const restedAt = performance.now();
  clock.run(REST_MS);
  const restMs = performance.now() - restedAt;
  return { tookMs, restMs, heapBytes: liveHeap() - before, close: () => cluster.close() };
};

/** The embedded cluster in virtual time. */
export const sim: Benchmark = {
  name: 'sim',
  run({ quick }) {
    const figures: Figure[] = [];
    const machine = watchMachine();
    // What the first one compiles, the second one has.
    const first = bringUp(1000);
    first.close();
    const warm = bringUp(1000);
    warm.close();
    figures.push({
      name: 'sim-up',
      measured: `1,000 nodes and pods in ${seconds(first.tookMs)} cold, ${seconds(warm.tookMs)} warm; ${machine()}`,
      goal: `<= ${seconds(GOAL_MS)}`,
      met: first.tookMs <= GOAL_MS,
    });
    const count = quick ? 2000 : 10_000;
    const large = bringUp(count);
    const resident = residentOf('self');
    figures.push({
      name: 'sim-memory',
      measured:
        `${count} nodes and pods: ${mib(resident)} resident, ${mib(large.heapBytes)} live, up in ${seconds(large.tookMs)}, ` +
        `a minute at rest in ${seconds(large.restMs)}`,
      goal: `<= ${mib(GOAL_BYTES)} resident`,
      met: resident <= GOAL_BYTES,
    });
    large.close();
    return Promise.resolve(figures);
  },
};
