import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { createController } from '../../src/controller/index.ts';
import { nativeKind } from '../../src/kinds/native/index.ts';
import { createEventRecorder } from '../../src/kube/index.ts';
import { createRandom, type Env, silentLogger } from '../../src/runtime/index.ts';
import { planApi, type RolloutPlanObject, type RolloutPlanSpec } from '../../src/words/index.ts';
import { createMemoryApi } from './api.ts';
import { createDaemonSet, type DaemonSetOptions, type SimulatedDaemonSet } from './daemon-set.ts';
import { createWorkingClock } from './working-clock.ts';

const PLAN = 'rings';
const LONGEST_MS = 86_400_000;
const START_MS = 1_700_000_000_000;
/** Each node has a label with one of this many values. */
const RINGS = 20;
const RING_LABEL = 'example.com/ring';
/** On the nodes of the small DaemonSet. */
const SMALL_LABEL = 'example.com/small';
const SMALL = 'small';

export interface FleetOptions extends Pick<DaemonSetOptions, 'maxUnavailable' | 'firstWave' | 'downMs'> {
  nodes: number;
  /** How many DaemonSets there are, all of them on all nodes. Default 1. */
  daemonSets?: number;
  /** One more, on this many of the nodes. Default: none. */
  small?: Pick<DaemonSetOptions, 'maxUnavailable' | 'downMs'> & { nodes: number };
  roundTripMs: number;
  watchLagMs: number;
  copies?: boolean;
  /** The rollout plan that the DaemonSets name. */
  plan?: RolloutPlanSpec;
}

/** A plan of this many stages, at most 20, of as many nodes each. */
export const stagedPlan = (stages: number): RolloutPlanSpec => ({
  stages: Array.from({ length: stages }, (_, index) => {
    const values = Array.from(
      Array(RINGS)
        .keys()
        .filter((ring) => ring % stages === index),
      String,
    );
    const selector = { matchExpressions: [{ key: RING_LABEL, operator: 'In' as const, values }] };
    return { name: `stage-${index}`, nodes: { selector } };
  }),
});

const nodeObject = (name: string, index: number, isSmall: boolean): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name,
    uid: `node-${name}`,
    labels: {
      'kubernetes.io/hostname': name,
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'node.kubernetes.io/instance-type': 'edge-small',
      'topology.kubernetes.io/region': 'north',
      'topology.kubernetes.io/zone': `north-${name.slice(-1)}`,
      'example.com/site': `site-${name.slice(-3)}`,
      [RING_LABEL]: String(index % RINGS),
      ...(isSmall && { [SMALL_LABEL]: 'true' }),
    },
  },
  spec: {},
  status: {
    conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: new Date(START_MS - 3_600_000).toISOString() }],
  },
});

/** Whether `holds` was true once for each item: those for which it was are not asked again. */
export const onceForAll = <T>(items: Iterable<T>, holds: (item: T) => boolean): (() => boolean) => {
  const left = [...items];
  return () => {
    for (let last = left.at(-1); last !== undefined && holds(last); last = left.at(-1)) left.pop();
    return left.length === 0;
  };
};

/** A fleet in memory with the real native controller on it: DaemonSets, and what the cluster does with their pods. */
export const createFleet = (options: FleetOptions) => {
  const { nodes, daemonSets = 1, small, roundTripMs, watchLagMs, copies = false } = options;
  const clock = createWorkingClock(START_MS);
  const env: Env = { clock, random: createRandom(7), log: silentLogger };
  const sets = new Map<string, SimulatedDaemonSet>();
  const api = createMemoryApi({
    clock,
    roundTripMs,
    watchLagMs,
    copies,
    onDelete: (pod) => sets.get(pod.metadata.namespace ?? '')?.replacePod(pod as Pod),
  });

  const names = Array.from({ length: nodes }, (_, index) => `edge-${String(index).padStart(6, '0')}`);
  const commitNodes = (change: 'ADDED' | 'MODIFIED'): void => {
    for (const [index, name] of names.entries())
      api.commit(change, 'nodes', nodeObject(name, index, index < (small?.nodes ?? 0)));
  };
  commitNodes('ADDED');
  for (let index = 0; index < daemonSets; index += 1) {
    const namespace = `edge-${index}`;
    if (options.plan) {
      const { apiVersion, plan } = planApi;
      const object: RolloutPlanObject = {
        apiVersion,
        kind: plan.kind,
        metadata: { name: PLAN, namespace },
        spec: options.plan,
      };
      api.commit('ADDED', plan.plural, object);
    }
    const plan = options.plan && PLAN;
    sets.set(namespace, createDaemonSet({ ...options, api, clock, namespace, nodes: names, plan }));
  }
  if (small)
    sets.set(
      SMALL,
      createDaemonSet({
        ...small,
        api,
        clock,
        namespace: SMALL,
        nodes: names.slice(0, small.nodes),
        nodeSelector: { [SMALL_LABEL]: 'true' },
        plan: undefined,
      }),
    );
  const [first] = sets.values();
  if (!first) throw new RangeError('a fleet has at least one DaemonSet');

  const events = createEventRecorder({
    client: api.client,
    env,
    reportingController: 'edgeset.io/manager',
    reportingInstance: 'bench',
  });
  const stop = new AbortController();
  const controller = createController(nativeKind, { client: api.client, env, events, identity: 'bench' });

  /** What takes longer will never happen: a day of virtual time. */
  const until = async (done: () => boolean): Promise<void> => {
    if (!(await clock.advanceUntil(done, LONGEST_MS)))
      throw new Error('what is waited for on the virtual clock never happens');
  };

  const complete = (): Promise<void> =>
    until(
      onceForAll(
        controller.snapshot(),
        ({ namespace, ledger }) => ledger.state.lastComplete?.hash === sets.get(namespace)?.hash(),
      ),
    );

  /** Starts the caches. */
  const run = (): void => {
    void events.run(stop.signal);
    void controller.run(stop.signal);
  };
  const lead = (): void => void controller.lead(stop.signal);

  return {
    names,
    clock,
    /** Lets virtual time pass until `done`. Rejects when that never comes. */
    until,
    controller,
    writes: api.writes,
    run,
    /** Begins to act: the process has the lease. */
    lead,
    /** Lets virtual time pass until every DaemonSet has completed the rollout of its latest template. */
    complete,
    /** Starts the controller; resolves when its status says that all nodes run the first revision. */
    async start(): Promise<void> {
      run();
      await until(() => controller.synced());
      lead();
      await complete();
    },
    /** The small one, if any, is the last. */
    daemonSets: [...sets.values()],
    /** Of the first DaemonSet. */
    downs: first.downs,
    setReady: first.setReady,
    /** Sets a new template for each DaemonSet. */
    release(): void {
      for (const set of sets.values()) set.release();
    },
    /** Every node says that it is as it was. */
    heartbeat: (): void => commitNodes('MODIFIED'),
    async stop(): Promise<void> {
      stop.abort(new Error('the benchmark has ended'));
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
};
export type Fleet = ReturnType<typeof createFleet>;
