import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { type Change, createEmbeddedCluster, createRequestHandler, type StoredObject } from '../../embedded/index.ts';
import { createRandom, createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { hasCondition, nodeOf } from '../invariants/index.ts';
import { createChecker } from '../judge/checker.ts';
import { combineCheckers } from '../judge/combine.ts';
import { createProcessView, type ProcessView } from '../judge/state/process-view.ts';
import { createNeighbour } from './cluster/neighbour.ts';
import { createNodes } from './cluster/nodes.ts';
import { createPlannedDaemonSet } from './cluster/planned-daemonset.ts';
import { createPlanner } from './cluster/planner.ts';
import { createWorkload, installDefinitions, setsOf } from './cluster/workload.ts';
import { createExecutor } from './executor.ts';
import { createFaultTracker } from './fault-tracker.ts';
import { createCallFaults } from './network/call-faults.ts';
import { createConnect, type Transport } from './network/connection.ts';
import type { ProcessObserver } from './network/connection-options.ts';
import { createCredentials } from './network/credentials.ts';
import { createKnownTexts } from './network/known-texts.ts';
import type { Link } from './network/link.ts';
import { createPoisons } from './network/poisons.ts';
import { createPrometheus } from './network/prometheus.ts';
import { createServerFaults } from './network/server-faults.ts';
import { createWatchCache } from './network/watch-cache.ts';
import { fractionOf, type Plan, type PlannedStep, START } from './plan/plan.ts';
import { createAgents } from './processes/agents.ts';
import type { Machine } from './processes/machine.ts';
import { createManagers } from './processes/managers.ts';

const LATENCY_MS = 5;
const RESTART_MS = 2_000;

/** Nodes and pods have a condition Ready. */
const isReady = (object: StoredObject | undefined): boolean | undefined =>
  object && hasCondition(object as Pick<Node, 'status'>, 'Ready');

export interface SimulationOptions {
  /** What processes log is recorded, too. Default false. */
  logged?: boolean;
  /** Called for each change of an object, with the ms since the start. */
  onChange?: (change: Change, at: number) => void;
  /** The cluster draws from a sequence of its own: what managers draw does not change how long its pods take. Default false. */
  steady?: boolean;
}

/** A small cluster with the managers of a plan, on virtual time. */
export const createSimulation = (
  plan: Plan,
  record: (line: string) => void,
  { logged = false, onChange, steady = false }: SimulationOptions = {},
) => {
  const time = createVirtualClock(START, { fractionMs: fractionOf(plan) });
  const startedAt = time.now();
  const random = createRandom(plan.seed);
  const cluster = createEmbeddedCluster({
    env: { clock: time, random: steady ? createRandom(plan.seed + 1) : random, log: silentLogger },
    events: false,
  });
  const { apiServer, controllers } = cluster;
  const handle = createRequestHandler(apiServer);
  const credentials = createCredentials(time);
  const texts = createKnownTexts();
  const server = createServerFaults(time, random);
  const poisons = createPoisons(time);
  const tracker = createFaultTracker(time);
  const watchCache = createWatchCache(apiServer, time);
  const say = (line: string): void => record(`${String(time.now() - startedAt).padStart(8)} ${line}`);
  /** F23 takes effect when a process reads the time. */
  const onTimeRead = (at: number): void => {
    if (!tracker.counts.has('F23') && !Number.isInteger(at)) tracker.count('F23');
  };
  const faults = createCallFaults({ plan, fire: tracker.fire, count: tracker.count, say });
  const prometheus = createPrometheus(
    time,
    { onAnswer: (process, query, answer) => checker.onAnswer(process, query, answer) },
    () => executor.onBadAnswer(),
  );
  const workloads = setsOf(plan).map((each) => createWorkload(apiServer, each));

  /** Below the client: the connections of a process, and its mounted files. */
  const connect = (
    { machine, link }: { machine: Machine; link: Link },
    observer: ProcessObserver,
    part?: string,
  ): Transport => ({
    environment: {},
    readFile: async (path) => credentials.read(path),
    parse: (text) => poisons.read({ process: machine.name, part }, texts.parse(text)),
    stringify: texts.stringify,
    connect: createConnect({
      handle,
      time,
      machine,
      link,
      watchCache,
      credentials,
      texts,
      faultOf: (call) => faults.of(call),
      troubleOf: (call) => server.of(call),
      observer: {
        ...observer,
        onSend(call) {
          observer.onSend(call);
          checker.onSend(call);
        },
        onArrival(call) {
          const executed = checker.onArrival(call);
          return (error) => {
            say(`${call.process} ${call.verb} ${call.resource?.plural ?? ''} ${call.ref?.name ?? ''} ${error ?? 'ok'}`);
            if (error === undefined) executed?.();
          };
        },
      },
    }),
  });

  const managers = createManagers({
    plan,
    time,
    random,
    apiServer,
    latencyMs: LATENCY_MS,
    restartMs: RESTART_MS,
    daemonSets: workloads.map(({ set, ref }) => ({ kind: set.kind, ref })),
    connect,
    prometheus,
    isServed: () => credentials.areCurrent() && !server.isCrowded(),
    observer: () => checker,
    onTimeRead,
    say,
    logged,
  });

  const daemonSets = workloads.map((workload, index) => {
    const { set, ref } = workload;
    const emptyView: ProcessView = createProcessView(ref, () => 0);
    const checkerOfSet = createChecker({
      daemonSet: ref,
      now: () => time.now(),
      viewOf: (process) => managers.find(process)?.views[index] ?? emptyView,
      clockOf: (process) => (managers.find(process) ?? agents?.processOf(process))?.machine.clock.now() ?? time.now(),
      settleMs: set.settleSeconds * 1000,
      processes: managers.states,
      poisons,
      find: (apiGroup, name) =>
        daemonSets.find(({ workload: { ref: other } }) => other.group === apiGroup && other.name === name)?.checker,
      ...(plan.others && { title: `${set.kind} ${ref.name}` }),
    });
    const planner = set.rolloutPlan && createPlanner({ apiServer, time, workload });
    return createPlannedDaemonSet({
      apiServer,
      time,
      workload,
      checker: checkerOfSet,
      planner,
      garbageCollector: controllers.garbageCollector,
    });
  });
  const checker = combineCheckers(daemonSets.map((each) => each.checker));
  const [first] = daemonSets;
  /** The owners of a plan decide on the first DaemonSet. */
  const agents =
    plan.model === 'ota' && first
      ? createAgents({
          time,
          seed: plan.seed,
          latencyMs: LATENCY_MS,
          restartMs: RESTART_MS,
          connect,
          diskFault: (process) => faults.ofRecord(process),
          consent: first.checker.consent,
          onTimeRead,
          say,
          logged,
        })
      : undefined;
  const executor = createExecutor({
    plan,
    time,
    apiServer,
    nodes: createNodes(cluster),
    nativeController: controllers.daemonSets,
    managers,
    agents,
    daemonSets,
    tracker,
    faults,
    watchCache,
    server,
    poisons,
    prometheus,
    neighbour: createNeighbour(apiServer, time),
    credentials,
    onOperation: checker.onOperation,
  });

  let lastReadinessChangeAt = 0;
  apiServer.subscribe((change: Change) => {
    const { type, resource, object, previous } = change;
    const isNewPod = type === 'ADDED' && resource.plural === 'pods';
    const where = isNewPod ? ` on ${nodeOf(object as unknown as Pod)}` : '';
    if (resource.plural !== 'leases' && resource.plural !== 'events')
      say(`${type} ${resource.plural} ${object.metadata.name} ${object.metadata.resourceVersion}${where}`);
    onChange?.(change, time.now() - startedAt);
    checker.onCommit(change);
    const hasReadiness = resource.plural === 'nodes' || resource.plural === 'pods';
    if (hasReadiness && isReady(object) !== isReady(previous)) lastReadinessChangeAt = time.now();
    if (resource.plural === 'nodes' && type !== 'DELETED')
      agents?.setOnline(object.metadata.name, object.metadata.annotations?.['edgeset.io/sim'] !== 'offline');
    executor.onCommit(change);
    for (const { planner } of daemonSets) planner?.onCommit(change);
    tracker.onCommit(change);
  });

  installDefinitions(apiServer, plan);
  for (let index = 0; index < plan.nodes; index += 1) executor.addNode(`node-${index}`);
  for (const { workload, planner } of daemonSets) {
    planner?.create();
    workload.create();
  }
  managers.start();

  return {
    time,
    checker,
    /** How often each kind of fault, and each operation, took effect. */
    fired: tracker.counts,
    /** Faults that have not taken effect. */
    unfired: (steps: readonly PlannedStep[]): readonly PlannedStep[] =>
      steps.filter((step) => (step.fault || step.operation.do === 'call-fault') && !tracker.hasFired(step)),
    execute(step: PlannedStep): void {
      say(`- ${JSON.stringify(step.operation)}`);
      executor.execute(step);
    },
    writes: () => faults.writes(),
    managersAreHealthy: managers.areHealthy,
    managersAreAnswered: managers.areAnswered,
    /** When a manager last held its updates because a watch had received nothing for too long. */
    lastOutOfTouchAt: managers.lastOutOfTouchAt,
    /** When a node or a pod last became ready, or ceased to be. */
    lastReadinessChangeAt: () => lastReadinessChangeAt,
    /** When a check was last evaluated: a stage that awaits people keeps its checks, and their results are written. */
    lastCheckAt: prometheus.askedAt,
  };
};
export type Simulation = ReturnType<typeof createSimulation>;
