import type { Lease } from 'kubernetes-types/coordination/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { defineResource, type KubeObject, leases } from '../../src/kube/index.ts';
import { createLogger, createVirtualClock, silentLogger } from '../../src/runtime/index.ts';
import { type Change, createEmbeddedCluster, machineryClient } from '../../src/sim/index.ts';
import { createChance } from '../sim/chance.ts';
import type { Call, CallFault } from './call.ts';
import { createChecker } from './checker/checker.ts';
import { createView, type View } from './checker/view.ts';
import { createConnection } from './connection.ts';
import { createLink, type Link } from './link.ts';
import { createMachine, type Machine } from './machine.ts';
import { runManager } from './manager.ts';
import type { CallMatch, Deed, Plan } from './plan.ts';
import { createWorkload } from './workload.ts';

const core = <T extends KubeObject>(plural: string, kind: string, namespaced: boolean) =>
  defineResource<T>({ group: '', version: 'v1', plural, kind, namespaced });
const nodes = core<Node>('nodes', 'Node', false);
const pods = core<Pod>('pods', 'Pod', true);

const START = Date.parse('2026-01-01T00:00:00Z');
const LATENCY_MS = 5;
const RESTART_MS = 2_000;
const APP = { namespace: 'default', name: 'app' };
const LEASE = { namespace: 'default', name: 'edgeset-manager' };

interface Process {
  identity: string;
  machine: Machine;
  link: Link;
  view: View;
}

/** A fault that waits for the call that it is for. */
interface Armed {
  fault: CallFault;
  of: CallMatch;
}

/** A small cluster with the managers of a plan, on virtual time. `words`: what managers log is recorded too. */
export const createWorld = (plan: Plan, record: (line: string) => void, words = false) => {
  const time = createVirtualClock(START);
  const random = createChance(plan.seed);
  const cluster = createEmbeddedCluster({ env: { clock: time, random, log: silentLogger }, events: false });
  const { machinery, controllers } = cluster;
  const server = machineryClient(machinery);
  const processes = new Map<string, Process>();
  let slots: Process[] = [];
  let started = 0;
  let restarting = 0;
  /** Of the machines on which processes start. */
  let skewMs = 0;
  const armed: Armed[] = [];
  /** Of managers, those included that never arrive. */
  let writes = 0;
  const fired = new Map<string, number>();

  const workload = createWorkload(machinery, plan);
  const daemonSet = { group: workload.resource.group, name: APP.name };
  const nothing: View = createView(daemonSet, () => 0);
  const checker = createChecker({
    daemonSet,
    now: () => time.now(),
    viewOf: (process) => processes.get(process)?.view ?? nothing,
    clockOf: (process) => processes.get(process)?.machine.clock.now() ?? time.now(),
    settleMs: plan.settleSeconds * 1000,
  });
  const say = (line: string): void => record(`${String(time.now() - START).padStart(8)} ${line}`);
  machinery.subscribe((change: Change) => {
    const { type, resource, object } = change;
    if (resource.plural !== 'leases' && resource.plural !== 'events')
      say(`${type} ${resource.plural} ${object.metadata.name} ${object.metadata.resourceVersion}`);
    checker.commit(change);
  });
  const count = (what: string): void => void fired.set(what, (fired.get(what) ?? 0) + 1);

  const isCounted = ({ verb, resource }: Call): boolean =>
    verb !== 'get' && verb !== 'list' && resource?.plural !== 'leases' && resource?.plural !== 'events';
  const takeFault = (call: Call): CallFault | undefined => {
    if (plan.atWrite && writes === plan.atWrite.write) return plan.atWrite.fault;
    const index = armed.findIndex(
      ({ of }) =>
        (of.verb === undefined || of.verb === call.verb) &&
        (of.plural === undefined || of.plural === call.resource?.plural),
    );
    return index < 0 ? undefined : armed.splice(index, 1)[0]?.fault;
  };
  const faultOf = (call: Call): CallFault | undefined => {
    if (!isCounted(call)) return undefined;
    writes += 1;
    const fault = takeFault(call);
    if (!fault) return undefined;
    count(fault.kind);
    say(`fault ${JSON.stringify(fault)} at ${call.process} ${call.verb} ${call.resource?.plural ?? ''}`);
    return fault;
  };

  const startProcess = (): Process => {
    started += 1;
    const identity = `manager-${started}`;
    const machine = createMachine({
      name: identity,
      time,
      skewMs,
      killed() {
        say(`${identity} dies`);
        replaceDead();
      },
    });
    const link = createLink({ time, random, latencyMs: LATENCY_MS });
    const view = createView(daemonSet, () => machine.clock.now());
    const process: Process = { identity, machine, link, view };
    processes.set(identity, process);
    const client = createConnection({
      server,
      time,
      machine,
      link,
      faultOf,
      witness: {
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
        learns(call, object) {
          if (call.resource?.plural === 'pods' && call.verb !== 'list' && object) view.learn(object);
        },
        begins: (watch) => view.begin(watch),
        hears: (watch, plural, event) => view.hear(watch, plural, event),
      },
    });
    const log = words
      ? createLogger({
          write: (line) => say(`${identity} says ${line}`),
          now: () => machine.clock.now(),
          format: 'text',
        })
      : silentLogger;
    const env = { clock: machine.clock, random: createChance(plan.seed + started), log };
    runManager({ client, env, identity, controllers: [plan.kind] }, new AbortController().signal).catch(
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
    const holder = machinery.find<Lease>(leases, LEASE)?.spec?.holderIdentity;
    const leader = slots.find(({ identity }) => identity === holder) ?? slots[0];
    return who === 'leader' ? leader : slots.find((each) => each !== leader);
  };

  const patchNode = (name: string, body: object): void => {
    if (machinery.find(nodes, { name }) !== undefined) machinery.patch(nodes, { name }, body, { type: 'merge' });
  };
  const annotateNode = (name: string, annotations: Record<string, string | null>): void =>
    patchNode(name, { metadata: { annotations } });
  const addNode = (name: string): void => {
    if (machinery.find(nodes, { name }) === undefined) cluster.addNode(name, { labels: { role: 'edge' } });
  };
  const removeNode = (name: string): void => {
    if (machinery.find(nodes, { name }) !== undefined) machinery.delete(nodes, { name });
  };
  const podOn = (node: string): Pod | undefined => machinery.list<Pod>(pods).find((pod) => pod.spec?.nodeName === node);

  const carryOut = (deed: Deed): void => {
    say(`- ${JSON.stringify(deed)}`);
    switch (deed.do) {
      case 'release':
        return workload.release(deed.image);
      case 'budget':
        return workload.setLimit(deed.limit);
      case 'strategy':
        return workload.setStrategy(deed.strategy);
      case 'pause':
        return workload.pause(deed.paused);
      case 'partition':
        return workload.setPartition(deed.nodes);
      case 'resume':
        return checker.truth.target === undefined ? undefined : workload.resume(checker.truth.target);
      case 'recreate-set':
        workload.delete();
        return later(500, () => {
          if (!workload.exists()) workload.create();
        });
      case 'offline':
        return annotateNode(deed.node, { 'edgeset.io/sim': 'offline' });
      case 'online':
        return annotateNode(deed.node, { 'edgeset.io/sim': null });
      case 'delete-node':
        return removeNode(deed.node);
      case 'create-node':
        return addNode(deed.node);
      case 'remake-node':
        removeNode(deed.node);
        return addNode(deed.node);
      case 'label':
        return patchNode(deed.node, { metadata: { labels: { role: deed.role } } });
      case 'taint':
        return patchNode(deed.node, { spec: { taints: deed.effect ? [{ key: 'x', effect: deed.effect }] : [] } });
      case 'behave':
        return annotateNode(deed.node, { 'sim.edgeset.io/behaviour': deed.behaviour ?? null });
      case 'delete-pod': {
        const pod = podOn(deed.node);
        if (pod?.metadata?.name !== undefined)
          machinery.delete(pods, { namespace: 'default', name: pod.metadata.name });
        return;
      }
      case 'call-fault':
        armed.push({ fault: deed.fault, of: deed.of });
        return;
      case 'crash':
        return chosen(deed.who)?.machine.kill();
      case 'stop':
        return chosen(deed.who)?.machine.pause();
      case 'continue':
        for (const { machine } of slots) machine.resume();
        return;
      case 'skew':
        skewMs = deed.ms;
        return;
      case 'cut':
        return chosen(deed.who)?.link.cut();
      case 'restore':
        for (const { link } of slots) link.restore();
        return;
      case 'lag':
        for (const { link } of slots) link.setLag(deed.watch, deed.ms);
        return;
      case 'disturb': {
        let streams = 0;
        for (const { link } of slots) streams += link.disturb(deed.watch, deed.how);
        if (streams > 0) count(deed.how);
        return;
      }
      case 'restart-api':
        for (const { link } of slots)
          for (const watch of ['pods', 'nodes', 'daemonsets', 'controllerrevisions', 'daemonrollouts'])
            link.disturb(watch, 'reset');
        return;
      case 'native':
        if (deed.how === 'pause') controllers.daemonSets.pause();
        else if (deed.how === 'resume') controllers.daemonSets.resume();
        else controllers.daemonSets.lag(deed.ms ?? 0);
        return;
      case 'burst':
        for (let index = 0; index < deed.changes; index += 1) {
          const name = `node-${index % plan.nodes}`;
          annotateNode(name, { beat: String(index) });
        }
        return;
    }
  };

  workload.install();
  for (let index = 0; index < plan.nodes; index += 1) addNode(`node-${index}`);
  workload.create();
  slots = Array.from({ length: plan.managers }, startProcess);

  return {
    time,
    checker,
    fired: fired as ReadonlyMap<string, number>,
    carryOut,
    count,
    writes: () => writes,
  };
};
export type World = ReturnType<typeof createWorld>;
