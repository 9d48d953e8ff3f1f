import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { type KubeClient, leases } from '../../src/kube/index.ts';
import { createLogger, createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { type Change, createEmbeddedCluster, createInProcessClient, type StoredObject } from '../../src/sim/index.ts';
import { createChance } from '../sim/chance.ts';
import { createAgents } from './agents.ts';
import { createCallFaults } from './call-faults.ts';
import { createChecker } from './checker/checker.ts';
import { together } from './checker/checkers.ts';
import type { ProcessState } from './checker/judge.ts';
import { isReadyNode } from './checker/truth.ts';
import { createView, type View } from './checker/view.ts';
import { createConnection, type Told } from './connection.ts';
import { createFleet } from './fleet.ts';
import { createLink, type Link } from './link.ts';
import { createMachine, type Machine } from './machine.ts';
import { type Part, runManager } from './manager.ts';
import { createMeetings } from './meetings.ts';
import { createPast, type Lag } from './past.ts';
import type { Happening, Plan, Watched } from './plan.ts';
import { createTenant } from './tenant.ts';
import { createWorkload, installDefinitions, setsOf } from './workload.ts';

const START = Date.parse('2026-01-01T00:00:00Z');
const LATENCY_MS = 5;
const RESTART_MS = 2_000;
const LEASE = { namespace: 'default', name: 'edgeset-manager' };

interface Process {
  identity: string;
  machine: Machine;
  link: Link;
  /** One for each DaemonSet. */
  views: readonly View[];
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
export const createWorld = (plan: Plan, record: (line: string) => void, words = false) => {
  const time = createVirtualClock(START);
  const random = createChance(plan.seed);
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
  const skews: { ms: number; happening: Happening }[] = [];
  let lagging: Lag | undefined;
  /** Nodes whose pods behave in their own way. */
  const behaving = new Map<string, Happening>();
  /** Kubernetes' own controller does not do its work, or late. */
  const hindered = new Set<Happening>();
  let lastStirAt = 0;
  const meetings = createMeetings(time);
  const { meet, count } = meetings;
  const past = createPast(apiServer, time);

  const tenants = setsOf(plan).map((each, index) => {
    const workload = createWorkload(apiServer, each);
    const { set, name } = each;
    const daemonSet = { group: workload.resource.group, name };
    const nothing: View = createView(daemonSet, () => 0);
    const own = createChecker({
      daemonSet,
      now: () => time.now(),
      viewOf: (process) => processes.get(process)?.views[index] ?? nothing,
      clockOf: (process) => (processes.get(process) ?? agents?.processOf(process))?.machine.clock.now() ?? time.now(),
      settleMs: set.settleSeconds * 1000,
      processes: () => states,
      ...(plan.others && { title: `${set.kind} ${name}` }),
    });
    return createTenant({ apiServer, time, workload, daemonSet, checker: own });
  });
  /** Owners have a say in the first. */
  const owned = plan.model === 'ota' ? tenants[0] : undefined;
  const kinds = new Set(tenants.map(({ workload }) => workload.set.kind));
  const checker = together(tenants.map((tenant) => tenant.checker));
  const say = (line: string): void => record(`${String(time.now() - START).padStart(8)} ${line}`);
  apiServer.subscribe((change: Change) => {
    const { type, resource, object } = change;
    if (resource.plural !== 'leases' && resource.plural !== 'events')
      say(`${type} ${resource.plural} ${object.metadata.name} ${object.metadata.resourceVersion}`);
    checker.commit(change);
    noteOthers(change);
    meetings.commit(change);
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
        own?.deed.do === 'behave' && (own.deed.behaviour === 'slow' || own.deed.behaviour === 'stuck-terminating');
      if (own && (begins || !isSteady)) meet(own);
      if (type === 'DELETED') for (const each of hindered) meet(each);
    }
    if (resource.plural === 'daemonsets' && object.metadata.generation !== previous?.metadata.generation)
      for (const each of hindered) meet(each);
  };

  const faults = createCallFaults({ plan, meet, count, say });
  const connect = ({ machine, link }: { machine: Machine; link: Link }, told: Told): KubeClient =>
    createConnection({
      server,
      time,
      machine,
      link,
      past,
      lagging: () => (lagging && lagging.until > time.now() ? lagging : undefined),
      faultOf: (call) => faults.of(call),
      witness: {
        ...told,
        leaves: (call) => checker.leaves(call),
        arrives(call) {
          const carriedOut = checker.arrives(call);
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
      meet(skew.happening);
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
    const views = tenants.map(({ daemonSet }) => createView(daemonSet, () => machine.clock.now()));
    const process: Process = { identity, machine, link, views };
    processes.set(identity, process);
    states = [...states, stateOf(process)];
    /** Each controller keeps caches of its own: what one is told another may not know. */
    const clientOf = (part: Part): KubeClient => {
      const told = views.filter((_, index) => tenants[index]?.workload.set.kind === part);
      const named = (watch: string): string => (kinds.size > 1 ? `${watch} ${part}` : watch);
      return connect(process, {
        learns(call, object) {
          checker.learns(call, object);
          if (call.resource?.plural !== 'pods' || call.verb === 'list' || !object) return;
          for (const view of told) view.learn(object);
        },
        fails: (call) => checker.fails(call),
        begins(watch, plural, withSnapshot) {
          checker.opens(identity, named(watch), plural, withSnapshot);
          if (!withSnapshot) return;
          for (const view of told) view.begin(watch);
        },
        hears(watch, plural, event) {
          for (const view of told) view.hear(watch, plural, event);
          checker.hears(identity, named(watch), plural, event);
        },
        ends: (watch, plural) => checker.closes(identity, named(watch), plural),
      });
    };
    const log = words
      ? createLogger({
          write: (line) => say(`${identity} says ${line}`),
          now: () => machine.clock.now(),
          format: 'text',
        })
      : silentLogger;
    const env = { clock: machine.clock, random: createChance(plan.seed + started), log };
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
    meetings.whenPossible(() => {
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
  const fleet = createFleet(cluster);
  const addNode = (name: string): void => {
    fleet.add(name);
    agents?.add(name);
  };

  /** What waited for something begins when it meets it. */
  const begins = (happening: Happening): void => {
    meet(happening);
    checker.deed(happening.deed);
  };
  /** A change counts when it changes something. */
  const change = (happening: Happening, work: () => void): void => {
    const before = apiServer.resourceVersion;
    work();
    if (apiServer.resourceVersion !== before) meet(happening);
  };
  const mend = (): void => {
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
    agents?.mend();
    for (const link of links()) for (const watch of WATCHED) link.setLag(watch, 0);
    lagging = undefined;
    hindered.clear();
    controllers.daemonSets.resume();
    controllers.daemonSets.lag(0);
    for (const tenant of tenants) tenant.mend();
  };

  const carryOut = (happening: Happening): void => {
    const { deed } = happening;
    say(`- ${JSON.stringify(deed)}`);
    checker.deed(deed);
    switch (deed.do) {
      case 'release': {
        const tenant = tenants[deed.set ?? 0];
        if (!tenant) return;
        // A bad version is met by those who get a pod of it.
        if (happening.fault !== 'F12') return change(happening, () => tenant.carryOut(deed));
        const bad = tenant.workload.ownImage(deed.image);
        meetings.until(({ resource, object }) => {
          const runs = resource.plural === 'pods' && (object as unknown as Pod).spec?.containers[0]?.image === bad;
          if (runs) meet(happening);
          return runs;
        });
        return tenant.carryOut(deed);
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
        return change(happening, () => tenants[deed.set ?? 0]?.carryOut(deed));
      case 'offline':
        return change(happening, () => fleet.annotate(deed.node, { 'edgeset.io/sim': 'offline' }));
      case 'online':
        return fleet.annotate(deed.node, { 'edgeset.io/sim': null });
      case 'delete-node':
        return change(happening, () => fleet.remove(deed.node));
      case 'create-node':
        return addNode(deed.node);
      case 'remake-node':
        return change(happening, () => {
          fleet.remove(deed.node);
          addNode(deed.node);
        });
      case 'label':
        return change(happening, () => fleet.patch(deed.node, { metadata: { labels: { role: deed.role } } }));
      case 'taint':
        return change(happening, () =>
          fleet.patch(deed.node, { spec: { taints: deed.effect ? [{ key: 'x', effect: deed.effect }] : [] } }),
        );
      case 'behave':
        if (deed.behaviour) behaving.set(deed.node, happening);
        else behaving.delete(deed.node);
        return fleet.annotate(deed.node, { 'sim.edgeset.io/behaviour': deed.behaviour ?? null });
      case 'slow-pulls':
        return fleet.annotate(deed.node, { 'sim.edgeset.io/start-ms': deed.ms === undefined ? null : String(deed.ms) });
      case 'delete-pod':
        return meetings.whenPossible(() => {
          const isDone = fleet.deletePodOn(deed.node, tenants[deed.set ?? 0]?.workload.label ?? '');
          if (isDone) meet(happening);
          return isDone;
        });
      case 'call-fault':
        return faults.arm(deed.fault, deed.of, happening);
      case 'crash':
        return toProcess(deed.who, ({ machine }) => {
          meet(happening);
          machine.kill();
        });
      case 'stop':
        return toProcess(deed.who, ({ machine }) => {
          meet(happening);
          machine.pause();
          if (deed.forMs !== undefined) later(deed.forMs, () => machine.resume());
        });
      case 'continue':
        for (const { machine } of slots) machine.resume();
        return;
      case 'skew':
        skews.push({ ms: deed.ms, happening });
        return;
      case 'cut':
        return toProcess(deed.who, ({ link }) => {
          link.cut(() => meet(happening));
          if (deed.forMs !== undefined) later(deed.forMs, () => link.restore());
        });
      case 'restore':
        for (const { link } of slots) link.restore();
        return;
      case 'lag': {
        const { forMs, ms, watch } = deed;
        for (const link of links())
          if (forMs === undefined) link.setLag(watch, ms);
          else link.disturb(watch, { how: 'lag', ms, forMs }, () => begins(happening));
        return;
      }
      case 'disturb':
        for (const link of links())
          link.disturb(deed.watch, { how: deed.how }, () => {
            count(deed.how);
            begins(happening);
          });
        return;
      case 'restart-api':
        return meetings.whenPossible(() => {
          const version = past.versionAgo(deed.behindMs ?? 0);
          if (links().reduce((sum, link) => sum + link.breakAll(), 0) === 0) return false;
          if (deed.forMs === undefined) meet(happening);
          else lagging = { version, until: time.now() + deed.forMs, met: () => meet(happening) };
          return true;
        });
      case 'native':
        if (deed.how === 'resume' || deed.ms === 0) hindered.clear();
        else hindered.add(happening);
        if (deed.how === 'pause') controllers.daemonSets.pause();
        else if (deed.how === 'resume') controllers.daemonSets.resume();
        else controllers.daemonSets.lag(deed.ms ?? 0);
        return;
      case 'burst':
        meet(happening);
        for (let index = 0; index < deed.changes; index += 1)
          fleet.annotate(`node-${index % plan.nodes}`, { beat: String(index) });
        return;
      case 'deadline':
        return change(happening, () =>
          owned?.workload.setDeadline({
            at: new Date(time.now() + deed.inMs).toISOString(),
            spreadSeconds: deed.spreadSeconds,
          }),
        );
      case 'agent':
      case 'owner':
      case 'will':
        return agents?.carryOut(deed, () => meet(happening));
      case 'mend':
        return mend();
    }
  };

  installDefinitions(apiServer, plan);
  for (let index = 0; index < plan.nodes; index += 1) addNode(`node-${index}`);
  for (const { workload } of tenants) workload.create();
  slots = Array.from({ length: plan.managers }, startProcess);

  return {
    time,
    checker,
    fired: meetings.fired,
    /** Faults that have met nothing. */
    unmet: (happenings: readonly Happening[]): readonly Happening[] =>
      happenings.filter(
        (happening) => (happening.fault || happening.deed.do === 'call-fault') && !meetings.isMet(happening),
      ),
    carryOut,
    writes: () => faults.writes(),
    /** No manager is stopped or cut off. */
    isAtRest: () => slots.every(({ machine, link }) => machine.state === 'running' && link.up),
    /** When a node went, or came back. */
    lastStirAt: () => lastStirAt,
  };
};
export type World = ReturnType<typeof createWorld>;
