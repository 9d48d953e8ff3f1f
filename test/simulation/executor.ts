import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { ApiServer, Change, EmbeddedCluster } from '../../embedded/index.ts';
import type { Clock } from '../../src/runtime/index.ts';
import type { Neighbour } from './cluster/neighbour.ts';
import type { Nodes } from './cluster/nodes.ts';
import type { PlannedDaemonSet } from './cluster/planned-daemonset.ts';
import type { FaultTracker } from './fault-tracker.ts';
import type { CallFaults } from './network/call-faults.ts';
import type { Credentials } from './network/credentials.ts';
import type { Link } from './network/link.ts';
import type { Poisons } from './network/poisons.ts';
import type { Prometheus } from './network/prometheus.ts';
import type { ServerFaults } from './network/server-faults.ts';
import type { WatchCache } from './network/watch-cache.ts';
import { type Operation, type Plan, type PlannedStep, watchedResources } from './plan/plan.ts';
import type { Agents } from './processes/agents.ts';
import type { ManagerProcess, Managers } from './processes/managers.ts';

export interface ExecutorOptions {
  plan: Plan;
  time: Clock;
  apiServer: ApiServer;
  nodes: Nodes;
  nativeController: EmbeddedCluster['controllers']['daemonSets'];
  managers: Managers;
  agents: Agents | undefined;
  /** In the order of the plan. */
  daemonSets: readonly PlannedDaemonSet[];
  tracker: FaultTracker;
  faults: CallFaults;
  watchCache: WatchCache;
  server: ServerFaults;
  poisons: Poisons;
  prometheus: Prometheus;
  neighbour: Neighbour;
  credentials: Credentials;
  onOperation: (operation: Operation) => void;
}

/** Executes the steps of a plan, and reports to the tracker when each takes effect. */
export const createExecutor = (options: ExecutorOptions) => {
  const { plan, time, apiServer, nodes, nativeController, managers, agents, daemonSets, tracker, faults } = options;
  const { fire } = tracker;
  /** By node: the step that makes its pods behave in a special way. */
  const behaviours = new Map<string, PlannedStep>();
  /** Nodes where names of images mean something else than on other nodes of their architecture. */
  const contents = new Set<string>();
  /** Steps that delay or pause the native DaemonSet controller. */
  const nativeDelays = new Set<PlannedStep>();
  /** The step that makes checks fail, or keeps them from being answered. */
  let metric: PlannedStep | undefined;

  const links = (): readonly Link[] => [...managers.links(), ...(agents?.links() ?? [])];
  const later = (ms: number | undefined, work: () => void): void => {
    if (ms !== undefined) time.timer(ms, work);
  };
  const addNode = (name: string): void => {
    nodes.add(name);
    agents?.add(name);
  };
  /** A step that waited for something takes effect. */
  const begin = (step: PlannedStep): void => {
    fire(step);
    options.onOperation(step.operation);
  };
  /** A change takes effect when it changes an object. */
  const change = (step: PlannedStep, work: () => void): void => {
    const before = apiServer.resourceVersion;
    work();
    if (apiServer.resourceVersion !== before) fire(step);
  };
  /** Runs `work` on a manager as soon as there is such a manager. */
  const onManager = (who: 'leader' | 'other', work: (process: ManagerProcess) => void): void =>
    tracker.whenPossible(() => {
      const process = managers.choose(who);
      if (process) work(process);
      return process !== undefined;
    });

  const recover = (): void => {
    for (let index = 0; index < plan.nodes; index += 1) {
      const name = `node-${index}`;
      addNode(name);
      nodes.patch(name, {
        metadata: {
          annotations: { 'edgeset.io/sim': null, 'sim.edgeset.io/behaviour': null, 'sim.edgeset.io/start-ms': null },
          labels: { role: 'edge' },
        },
        spec: { taints: [] },
      });
      for (const mark of ['label', 'condition'] as const) nodes.mark(name, mark, false);
    }
    behaviours.clear();
    nodes.releasePods();
    for (const name of contents) {
      nodes.annotate(name, { 'sim.edgeset.io/content': null });
      for (const { workload } of daemonSets) nodes.deletePodOn(name, workload.label);
    }
    contents.clear();
    // Nodes with a version that kills them come back reinstalled: they would die again soon after their next update, and halt that.
    nodes.deletePodsOf('--kills-node');
    managers.recover();
    agents?.recover();
    for (const link of links()) for (const watch of watchedResources) link.setLag(watch, 0);
    options.watchCache.catchUp();
    options.server.recover();
    options.poisons.recover();
    options.prometheus.set('good');
    options.neighbour.leave();
    options.credentials.recover();
    nativeDelays.clear();
    nativeController.resume();
    nativeController.lag(0);
    for (const each of daemonSets) each.recover();
  };

  const release = (step: PlannedStep, operation: Extract<Operation, { do: 'release' }>): void => {
    const daemonSet = daemonSets[operation.set ?? 0];
    if (!daemonSet) return;
    if (step.fault !== 'F12') {
      change(step, () => daemonSet.execute(operation));
      return;
    }
    // A bad version takes effect once a pod of it exists.
    const bad = daemonSet.workload.ownImage(operation.image);
    tracker.until(({ resource, object }) => {
      const runs = resource.plural === 'pods' && (object as unknown as Pod).spec?.containers[0]?.image === bad;
      if (runs) fire(step);
      return runs;
    });
    daemonSet.execute(operation);
  };

  const restartApi = (step: PlannedStep, { behindMs = 0, forMs }: { behindMs?: number; forMs?: number }): void =>
    tracker.whenPossible(() => {
      const version = options.watchCache.versionAgo(behindMs);
      if (links().reduce((sum, link) => sum + link.breakAll(), 0) === 0) return false;
      if (forMs === undefined) fire(step);
      else options.watchCache.serveStale({ version, until: time.now() + forMs, onEffect: () => fire(step) });
      return true;
    });

  const rotate = (step: PlannedStep, { what, followMs }: Extract<Operation, { do: 'rotate' }>): void => {
    options.credentials.rotate(what, followMs, () => fire(step));
    // A server with another certificate is a server that started again.
    if (what === 'authority') for (const link of links()) link.breakAll();
  };

  const delayNative = (step: PlannedStep, { how, ms = 0 }: { how: 'pause' | 'resume' | 'lag'; ms?: number }): void => {
    if (how === 'resume' || (how === 'lag' && ms === 0)) nativeDelays.clear();
    else nativeDelays.add(step);
    if (how === 'lag') nativeController.lag(ms);
    else nativeController[how]();
  };

  const execute = (step: PlannedStep): void => {
    const { operation } = step;
    options.onOperation(operation);
    switch (operation.do) {
      case 'release':
        return release(step, operation);
      case 'budget':
      case 'strategy':
      case 'pause':
      case 'partition':
      case 'select':
      case 'manual':
      case 'plan':
      case 'decide':
      case 'predownload':
      case 'hook':
      case 'drainer':
      case 'resume':
      case 'recreate-set':
        return change(step, () => daemonSets[operation.set ?? 0]?.execute(operation));
      case 'offline':
        return change(step, () => nodes.annotate(operation.node, { 'edgeset.io/sim': 'offline' }));
      case 'online':
        return nodes.annotate(operation.node, { 'edgeset.io/sim': null });
      case 'delete-node':
        return change(step, () => nodes.remove(operation.node));
      case 'create-node':
        return addNode(operation.node);
      case 'recreate-node':
        return change(step, () => {
          nodes.remove(operation.node);
          addNode(operation.node);
        });
      case 'label':
        return change(step, () => nodes.patch(operation.node, { metadata: { labels: { role: operation.role } } }));
      case 'move':
        return change(step, () =>
          nodes.patch(operation.node, { metadata: { labels: { ring: operation.ring, site: operation.site ?? null } } }),
        );
      case 'taint':
        return change(step, () => nodes.taint(operation.node, 'x', operation.effect));
      case 'busy':
        return change(step, () => nodes.mark(operation.node, operation.by, operation.busy));
      case 'behave':
        if (operation.behaviour) behaviours.set(operation.node, step);
        else behaviours.delete(operation.node);
        return nodes.annotate(operation.node, { 'sim.edgeset.io/behaviour': operation.behaviour ?? null });
      case 'content': {
        const { node, content, arch } = operation;
        if (content === undefined) contents.delete(node);
        else if (arch === undefined) contents.add(node);
        return nodes.patch(node, {
          metadata: {
            annotations: { 'sim.edgeset.io/content': content ?? null },
            ...(arch && { labels: { 'kubernetes.io/arch': arch } }),
          },
        });
      }
      case 'slow-pulls':
        return nodes.annotate(operation.node, { 'sim.edgeset.io/start-ms': operation.ms?.toString() ?? null });
      case 'delete-pod':
        return tracker.whenPossible(() => {
          const label = daemonSets[operation.set ?? 0]?.workload.label ?? '';
          const isDone = nodes.deletePodOn(operation.node, label);
          if (isDone) fire(step);
          return isDone;
        });
      case 'hold-pod':
        return tracker.whenPossible(() => {
          const { node, deletes, forMs, set = 0 } = operation;
          const isDone = nodes.holdPodOn(node, daemonSets[set]?.workload.label ?? '', deletes);
          if (!isDone) return false;
          fire(step);
          later(forMs, () => nodes.releasePods(node));
          return true;
        });
      case 'hand-over':
        return daemonSets[operation.set ?? 0]?.handOver(operation, () => begin(step));
      case 'call-fault':
        return faults.arm(operation.fault, operation.of, step);
      case 'crash':
        return onManager(operation.who, ({ machine }) => {
          fire(step);
          machine.kill();
        });
      case 'stop':
        return onManager(operation.who, ({ machine }) => {
          fire(step);
          machine.pause();
          later(operation.forMs, () => machine.resume());
        });
      case 'continue':
        return managers.resume();
      case 'skew':
        return managers.planSkew(operation.ms, () => fire(step));
      case 'cut':
        return onManager(operation.who, ({ link }) => {
          link.cut(() => fire(step));
          later(operation.forMs, () => link.restore());
        });
      case 'restore':
        return managers.restoreLinks();
      case 'lag': {
        const { forMs, ms, watch } = operation;
        for (const link of links())
          if (forMs === undefined) link.setLag(watch, ms);
          else link.disturb(watch, { how: 'lag', ms, forMs }, () => begin(step));
        return;
      }
      case 'disturb':
        for (const link of links())
          link.disturb(operation.watch, { how: operation.how }, () => {
            tracker.count(operation.how);
            begin(step);
          });
        return;
      case 'restart-api':
        return restartApi(step, operation);
      case 'oversized':
      case 'crowd':
      case 'webhook':
      case 'etcd-full':
        return options.server.begin(operation, () => begin(step));
      case 'poison':
        options.poisons.arm(operation, () => begin(step));
        // Nothing else may change a plan.
        if (operation.kind === 'RolloutPlan') for (const { planner } of daemonSets) planner?.touch();
        return;
      case 'metric':
        metric = step;
        options.prometheus.set(operation.answer);
        later(operation.forMs, () => {
          if (metric === step) options.prometheus.set('good');
        });
        return;
      case 'neighbour':
        if (options.neighbour.move(operation.count)) fire(step);
        return;
      case 'rotate':
        return rotate(step, operation);
      case 'native':
        return delayNative(step, operation);
      case 'burst':
        fire(step);
        for (let index = 0; index < operation.changes; index += 1)
          nodes.annotate(`node-${index % plan.nodes}`, { beat: String(index) });
        return;
      case 'deadline':
        return change(step, () =>
          daemonSets[0]?.workload.setDeadline({
            at: new Date(time.now() + operation.inMs).toISOString(),
            spreadSeconds: operation.spreadSeconds,
          }),
        );
      case 'agent':
      case 'owner':
      case 'auto-approve':
        return agents?.execute(operation, () => fire(step));
      case 'recover':
        return recover();
    }
  };

  return {
    addNode,
    execute,
    /** A check was answered badly, or not at all. */
    onBadAnswer(): void {
      if (metric) fire(metric);
    },
    /** Special behaviours take effect once a pod, or the native controller, has something to do. */
    onCommit({ type, resource, object, previous }: Change): void {
      if (resource.plural === 'pods') {
        const step = behaviours.get((object as unknown as Pod).spec?.nodeName ?? '');
        const changesPhase =
          type === 'ADDED' || (object.metadata.deletionTimestamp && !previous?.metadata.deletionTimestamp);
        const onlyAtStartOrEnd =
          step?.operation.do === 'behave' &&
          (step.operation.behaviour === 'slow' || step.operation.behaviour === 'stuck-terminating');
        if (step && (changesPhase || !onlyAtStartOrEnd)) fire(step);
        if (type === 'DELETED') for (const each of nativeDelays) fire(each);
      }
      if (resource.plural === 'daemonsets' && object.metadata.generation !== previous?.metadata.generation)
        for (const each of nativeDelays) fire(each);
    },
  };
};
