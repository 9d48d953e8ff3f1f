import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, leases } from '../../src/kube/index.ts';
import { createLogger, createRandom, createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { type Change, createEmbeddedCluster, createInProcessClient, type StoredObject } from '../../src/sim/index.ts';
import type { ProcessState } from './checker/check.ts';
import { createChecker } from './checker/checker.ts';
import { isReadyNode } from './checker/cluster-state.ts';
import { combineCheckers } from './checker/combine.ts';
import { createProcessView, type ProcessView } from './checker/process-view.ts';
import { createNodes } from './cluster/nodes.ts';
import { createPlannedDaemonSet } from './cluster/planned-daemonset.ts';
import { createWorkload, installDefinitions, setsOf } from './cluster/workload.ts';
import { createFaultTracker } from './fault-tracker.ts';
import { createCallFaults } from './network/call-faults.ts';
import { createConnection, type ProcessObserver } from './network/connection.ts';
import { createLink, type Link } from './network/link.ts';
import { createWatchCache, type StaleWatchCache } from './network/watch-cache.ts';
import type { Plan, PlannedStep, Watched } from './plan/plan.ts';
import { createAgents } from './processes/agents.ts';
import { createMachine, type Machine } from './processes/machine.ts';
import { type Part, runManager } from './processes/manager.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const LATENCY_MS = 5;
const RESTART_MS = 2_000;
const LEASE = { namespace: 'default', name: 'edgeset-manager' };

interface Process {
  identity: string;
  machine: Machine;
  link: Link;
  /** One for each DaemonSet. */
  views: readonly ProcessView[];
}

const WATCHED: readonly Watched[] = ['pods', 'nodes', 'daemonsets', 'controllerrevisions', 'daemonrollouts'];

const stateOf = ({ identity, machine, link }: Process): ProcessState => ({
  name: identity,
  get running() {
    return machine.state === 'running';
  },
  get up() {
    return link.up;
  },
});

/** Of a node or a pod. */
const readinessOf = (object: StoredObject | undefined): boolean | undefined =>
  object && isReadyNode(object as unknown as Node);

/** A small cluster with the managers of a plan, on virtual time. `words`: what managers log is recorded too. */
export const createSimulation = (plan: Plan, record: (line: string) => void, words = false) => {
  const time = createVirtualClock(START);
  const random = createRandom(plan.seed);
  const cluster = createEmbeddedCluster({ env: { clock: time, random, log: silentLogger }, events: false });
  const { apiServer, controllers } = cluster;
  const server = createInProcessClient(apiServer);
  const processes = new Map<string, Process>();
  /** Of those that live. */
  let states: readonly ProcessState[] = [];
  let slots: Process[] = [];
  let started = 0;
  let restarting = 0;
  /** Of the machines on which processes start; and those that are to come. */
  let skewMs = 0;
  const skews: { ms: number; step: PlannedStep }[] = [];
  let lagging: StaleWatchCache | undefined;
  /** Nodes whose pods behave in their own way. */
  const behaving = new Map<string, PlannedStep>();
  /** Kubernetes' own controller does not do its work, or late. */
  const hindered = new Set<PlannedStep>();
  let lastStirAt = 0;
  const tracker = createFaultTracker(time);
  const { fire, count } = tracker;
  const past = createWatchCache(apiServer, time);

  const tenants = setsOf(plan).map((each, index) => {
    const workload = createWorkload(apiServer, each);
    const { set, name } = each;
    const daemonSet = { group: workload.resource.group, name };
    const nothing: ProcessView = createProcessView(daemonSet, () => 0);
    const own = createChecker({
      daemonSet,
      now: () => time.now(),
      viewOf: (process) => processes.get(process)?.views[index] ?? nothing,
      clockOf: (process) => (processes.get(process) ?? agents?.processOf(process))?.machine.clock.now() ?? time.now(),
      settleMs: set.settleSeconds * 1000,
      processes: () => states,
      ...(plan.others && { title: `${set.kind} ${name}` }),
    });
    return createPlannedDaemonSet({ apiServer, time, workload, daemonSet, checker: own });
  });
  /** Owners have a say in the first. */
  const owned = plan.model === 'ota' ? tenants[0] : undefined;
  const kinds = new Set(tenants.map(({ workload }) => workload.set.kind));
  const checker = combineCheckers(tenants.map((tenant) => tenant.checker));
  const say = (line: string): void => record(`${String(time.now() - START).padStart(8)} ${line}`);
  apiServer.subscribe((change: Change) => {
    const { type, resource, object } = change;
    if (resource.plural !== 'leases' && resource.plural !== 'events')
      say(`${type} ${resource.plural} ${object.metadata.name} ${object.metadata.resourceVersion}`);
    checker.onCommit(change);
    noteOthers(change);
    tracker.onCommit(change);
  });
  /** What a node or a controller does in its own way is met when there is something for it to do. */
  const noteOthers = ({ type, resource, object, previous }: Change): void => {
    const stirs = resource.plural === 'nodes' || resource.plural === 'pods';
    if (stirs && readinessOf(object) !== readinessOf(previous)) lastStirAt = time.now();
    if (resource.plural === 'nodes' && type !== 'DELETED')
      agents?.online(object.metadata.name, object.metadata.annotations?.['edgeset.io/sim'] !== 'offline');
    if (resource.plural === 'pods') {
      const own = behaving.get((object as unknown as Pod).spec?.nodeName ?? '');
      const begins = type === 'ADDED' || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp);
      const isSteady =
        own?.operation.do === 'behave' &&
        (own.operation.behaviour === 'slow' || own.operation.behaviour === 'stuck-terminating');
      if (own && (begins || !isSteady)) fire(own);
      if (type === 'DELETED') for (const each of hindered) fire(each);
    }
    if (resource.plural === 'daemonsets' && object.metadata.generation !== previous?.metadata.generation)
      for (const each of hindered) fire(each);
  };

  const faults = createCallFaults({ plan, fire, count, say });
  const connect = ({ machine, link }: { machine: Machine; link: Link }, told: ProcessObserver): KubeClient =>
    createConnection({
      server,
      time,
      machine,
      link,
      past,
      lagging: () => (lagging && lagging.until > time.now() ? lagging : undefined),
      faultOf: (call) => faults.of(call),
      observer: {
        ...told,
        onSend: (call) => checker.onSend(call),
        onArrival(call) {
          const carriedOut = checker.onArrival(call);
          return (error) => {
            say(
              `${call.process} ${call.verb} ${call.resource?.plural ?? ''} ${call.ref?.name ?? ''} ${error ? (error as Error).message : 'ok'}`,
            );
            if (!error) carriedOut?.();
          };
        },
      },
    });

  const startProcess = (): Process => {
    started += 1;
    const identity = `manager-${started}`;
    const skew = skews.shift();
    if (skew) {
      skewMs = skew.ms;
      fire(skew.step);
    }
    const machine = createMachine({
      name: identity,
      time,
      skewMs: skewMs + (started % 2 === 0 ? (plan.clocksApartMs ?? 0) : 0),
      killed() {
        say(`${identity} dies`);
        states = states.filter(({ name }) => name !== identity);
        replaceDead();
      },
    });
    const link = createLink({ time, random, latencyMs: LATENCY_MS });
    const views = tenants.map(({ daemonSet }) => createProcessView(daemonSet, () => machine.clock.now()));
    const process: Process = { identity, machine, link, views };
    processes.set(identity, process);
    states = [...states, stateOf(process)];
    /** Each controller keeps caches of its own: what one is told another may not know. */
    const clientOf = (part: Part): KubeClient => {
      const told = views.filter((_, index) => tenants[index]?.workload.set.kind === part);
      const named = (watch: string): string => (kinds.size > 1 ? `${watch} ${part}` : watch);
      return connect(process, {
        onResponse(call, object) {
          checker.onResponse(call, object);
          if (call.resource?.plural !== 'pods' || call.verb === 'list' || !object) return;
          for (const view of told) view.applyResponse(object);
        },
        onFailure: (call) => checker.onFailure(call),
        onWatchOpened(watch, plural, withSnapshot) {
          checker.onWatchOpened(identity, named(watch), plural, withSnapshot);
          if (!withSnapshot) return;
          for (const view of told) view.beginSnapshot(watch);
        },
        onWatchEvent(watch, plural, event) {
          for (const view of told) view.applyEvent(watch, plural, event);
          checker.onWatchEvent(identity, named(watch), plural, event);
        },
        onWatchClosed: (watch, plural) => checker.onWatchClosed(identity, named(watch), plural),
      });
    };
    const log = words
      ? createLogger({
          write: (line) => say(`${identity} says ${line}`),
          now: () => machine.clock.now(),
          format: 'text',
        })
      : silentLogger;
    const env = { clock: machine.clock, random: createRandom(plan.seed + started), log };
    runManager({ clientOf, env, identity, controllers: [...kinds] }, new AbortController().signal).catch(
      (error: unknown) => {
        // NotSettled is how a manager ends that cannot be sure of its acts: its pod is started anew.
        say(`${identity} ended: ${String(error)}`);
        machine.kill();
      },
    );
    say(`${identity} starts`);
    return process;
  };
  const later = (ms: number, work: () => void): void => void time.timer(ms, work);
  const replaceDead = (): void => {
    slots = slots.filter(({ machine }) => machine.state !== 'dead');
    while (slots.length + restarting < plan.managers) {
      restarting += 1;
      later(RESTART_MS, () => {
        restarting -= 1;
        slots.push(startProcess());
      });
    }
  };

  const chosen = (who: 'leader' | 'other'): Process | undefined => {
    const holder = apiServer.find<Lease>(leases, LEASE)?.spec?.holderIdentity;
    const leader = slots.find(({ identity }) => identity === holder);
    return who === 'leader' ? leader : slots.find((each) => each !== leader);
  };
  /** Does it to a process, as soon as there is one. */
  const toProcess = (who: 'leader' | 'other', work: (process: Process) => void): void =>
    tracker.whenPossible(() => {
      const process = chosen(who);
      if (process) work(process);
      return process !== undefined;
    });

  const agents =
    owned &&
    createAgents({
      time,
      seed: plan.seed,
      latencyMs: LATENCY_MS,
      restartMs: RESTART_MS,
      connect,
      diskFault: (process) => faults.ofRecord(process),
      consent: owned.checker.consent,
      say,
      words,
    });
  const links = (): Link[] => [...slots.map(({ link }) => link), ...(agents?.links() ?? [])];
  const fleet = createNodes(cluster);
  const addNode = (name: string): void => {
    fleet.add(name);
    agents?.add(name);
  };

  /** What waited for something begins when it meets it. */
  const begins = (step: PlannedStep): void => {
    fire(step);
    checker.onOperation(step.operation);
  };
  /** A change counts when it changes something. */
  const change = (step: PlannedStep, work: () => void): void => {
    const before = apiServer.resourceVersion;
    work();
    if (apiServer.resourceVersion !== before) fire(step);
  };
  const recover = (): void => {
    for (let index = 0; index < plan.nodes; index += 1) {
      const name = `node-${index}`;
      addNode(name);
      fleet.patch(name, {
        metadata: {
          annotations: { 'edgeset.io/sim': null, 'sim.edgeset.io/behaviour': null, 'sim.edgeset.io/start-ms': null },
          labels: { role: 'edge' },
        },
        spec: { taints: [] },
      });
    }
    behaving.clear();
    for (const { machine, link } of slots) {
      link.restore();
      machine.resume();
    }
    agents?.recover();
    for (const link of links()) for (const watch of WATCHED) link.setLag(watch, 0);
    lagging = undefined;
    hindered.clear();
    controllers.daemonSets.resume();
    controllers.daemonSets.lag(0);
    for (const tenant of tenants) tenant.recover();
  };

  const carryOut = (step: PlannedStep): void => {
    const { operation } = step;
    say(`- ${JSON.stringify(operation)}`);
    checker.onOperation(operation);
    switch (operation.do) {
      case 'release': {
        const tenant = tenants[operation.set ?? 0];
        if (!tenant) return;
        // A bad version is met by those who get a pod of it.
        if (step.fault !== 'F12') return change(step, () => tenant.carryOut(operation));
        const bad = tenant.workload.ownImage(operation.image);
        tracker.until(({ resource, object }) => {
          const runs = resource.plural === 'pods' && (object as unknown as Pod).spec?.containers[0]?.image === bad;
          if (runs) fire(step);
          return runs;
        });
        return tenant.carryOut(operation);
      }
      case 'budget':
      case 'strategy':
      case 'pause':
      case 'partition':
      case 'select':
      case 'manual':
      case 'predownload':
      case 'hook':
      case 'drainer':
      case 'resume':
      case 'recreate-set':
        return change(step, () => tenants[operation.set ?? 0]?.carryOut(operation));
      case 'offline':
        return change(step, () => fleet.annotate(operation.node, { 'edgeset.io/sim': 'offline' }));
      case 'online':
        return fleet.annotate(operation.node, { 'edgeset.io/sim': null });
      case 'delete-node':
        return change(step, () => fleet.remove(operation.node));
      case 'create-node':
        return addNode(operation.node);
      case 'recreate-node':
        return change(step, () => {
          fleet.remove(operation.node);
          addNode(operation.node);
        });
      case 'label':
        return change(step, () => fleet.patch(operation.node, { metadata: { labels: { role: operation.role } } }));
      case 'taint':
        return change(step, () =>
          fleet.patch(operation.node, {
            spec: { taints: operation.effect ? [{ key: 'x', effect: operation.effect }] : [] },
          }),
        );
      case 'behave':
        if (operation.behaviour) behaving.set(operation.node, step);
        else behaving.delete(operation.node);
        return fleet.annotate(operation.node, { 'sim.edgeset.io/behaviour': operation.behaviour ?? null });
      case 'slow-pulls':
        return fleet.annotate(operation.node, {
          'sim.edgeset.io/start-ms': operation.ms === undefined ? null : String(operation.ms),
        });
      case 'delete-pod':
        return tracker.whenPossible(() => {
          const isDone = fleet.deletePodOn(operation.node, tenants[operation.set ?? 0]?.workload.label ?? '');
          if (isDone) fire(step);
          return isDone;
        });
      case 'call-fault':
        return faults.arm(operation.fault, operation.of, step);
      case 'crash':
        return toProcess(operation.who, ({ machine }) => {
          fire(step);
          machine.kill();
        });
      case 'stop':
        return toProcess(operation.who, ({ machine }) => {
          fire(step);
          machine.pause();
          if (operation.forMs !== undefined) later(operation.forMs, () => machine.resume());
        });
      case 'continue':
        for (const { machine } of slots) machine.resume();
        return;
      case 'skew':
        skews.push({ ms: operation.ms, step });
        return;
      case 'cut':
        return toProcess(operation.who, ({ link }) => {
          link.cut(() => fire(step));
          if (operation.forMs !== undefined) later(operation.forMs, () => link.restore());
        });
      case 'restore':
        for (const { link } of slots) link.restore();
        return;
      case 'lag': {
        const { forMs, ms, watch } = operation;
        for (const link of links())
          if (forMs === undefined) link.setLag(watch, ms);
          else link.disturb(watch, { how: 'lag', ms, forMs }, () => begins(step));
        return;
      }
      case 'disturb':
        for (const link of links())
          link.disturb(operation.watch, { how: operation.how }, () => {
            count(operation.how);
            begins(step);
          });
        return;
      case 'restart-api':
        return tracker.whenPossible(() => {
          const version = past.versionAgo(operation.behindMs ?? 0);
          if (links().reduce((sum, link) => sum + link.breakAll(), 0) === 0) return false;
          if (operation.forMs === undefined) fire(step);
          else lagging = { version, until: time.now() + operation.forMs, onEffect: () => fire(step) };
          return true;
        });
      case 'native':
        if (operation.how === 'resume' || operation.ms === 0) hindered.clear();
        else hindered.add(step);
        if (operation.how === 'pause') controllers.daemonSets.pause();
        else if (operation.how === 'resume') controllers.daemonSets.resume();
        else controllers.daemonSets.lag(operation.ms ?? 0);
        return;
      case 'burst':
        fire(step);
        for (let index = 0; index < operation.changes; index += 1)
          fleet.annotate(`node-${index % plan.nodes}`, { beat: String(index) });
        return;
      case 'deadline':
        return change(step, () =>
          owned?.workload.setDeadline({
            at: new Date(time.now() + operation.inMs).toISOString(),
            spreadSeconds: operation.spreadSeconds,
          }),
        );
      case 'agent':
      case 'owner':
      case 'auto-approve':
        return agents?.carryOut(operation, () => fire(step));
      case 'recover':
        return recover();
    }
  };

  installDefinitions(apiServer, plan);
  for (let index = 0; index < plan.nodes; index += 1) addNode(`node-${index}`);
  for (const { workload } of tenants) workload.create();
  slots = Array.from({ length: plan.managers }, startProcess);

  return {
    time,
    checker,
    fired: tracker.counts,
    /** Faults that have met nothing. */
    unfired: (steps: readonly PlannedStep[]): readonly PlannedStep[] =>
      steps.filter((step) => (step.fault || step.operation.do === 'call-fault') && !tracker.hasFired(step)),
    carryOut,
    writes: () => faults.writes(),
    /** No manager is stopped or cut off. */
    isAtRest: () => slots.every(({ machine, link }) => machine.state === 'running' && link.up),
    /** When a node went, or came back. */
    lastStirAt: () => lastStirAt,
  };
};
export type Simulation = ReturnType<typeof createSimulation>;
