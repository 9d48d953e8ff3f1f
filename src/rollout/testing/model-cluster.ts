import { type Generator } from '../../../test/support/index.ts';
import { type VirtualClock } from '../../runtime/index.ts';
import type { NodeFacts, PodFacts } from '../facts/types.ts';
import type { TargetRevision } from '../ledger/state.ts';
import type { Policy } from '../policy/policy.ts';
import { createModelApi } from './model-api.ts';

/**
 * What a version of the software does to a node once its pod runs there; one that sticks does not start in a pod that is
 * changed in place, and well in a new one.
 */
export type Behaviour = 'good' | 'crash' | 'pull' | 'hang' | 'kill' | 'stick';

/** The DaemonSet as the API server has it. */
export interface Spec {
  policy: Policy;
  target: TargetRevision;
  generation: number;
  /** The native controller has recorded the target. */
  observed: boolean;
}

/** What a watch delivers. */
export type Change =
  | { stream: 'nodes'; node: NodeFacts; gone: boolean }
  | { stream: 'pods'; pod: PodFacts; gone: boolean }
  | { stream: 'spec'; spec: Spec };

export interface TrueNode {
  facts: NodeFacts;
  /** The machine's link to the API server. */
  connected: boolean;
  /** Counts disconnections, so that what was begun before one does not go on after it. */
  epoch: number;
}

export interface ClusterOptions {
  time: VirtualClock;
  chance: Generator;
  policy: Policy;
  nodes: number;
  zones: number;
  behaviourOf: (revision: string, node: string) => Behaviour;
  /** Pods have the gate that a change in place needs. Default false. */
  gated?: boolean;
  /** The versions whose pods can become this one in place. Default: none. */
  inPlaceFrom?: (version: number) => ReadonlySet<string>;
  /** From a machine's last word to its node being NotReady, ms. Default 20 s. */
  graceMs?: number;
}

export const hashOf = (version: number): string => `hash${version}`;

/**
 * The true state of a cluster: nodes, pods, the native DaemonSet controller with OnDelete, kubelets, and the API server's
 * preconditions. It knows nothing of rollouts.
 */
export const createModelCluster = (options: ClusterOptions) => {
  const { time, chance, behaviourOf, inPlaceFrom, graceMs = 20_000 } = options;
  const nodes = new Map<string, TrueNode>();
  const pods = new Map<string, PodFacts>();
  const uidsOn = new Map<string, Set<string>>();
  /** Pods whose containers are those of their revision, and those that were changed in place. */
  const arrived = new Set<string>();
  const changed = new Set<string>();
  const listeners = new Set<(change: Change) => void>();
  let resourceVersion = 1_000;
  let uids = 0;
  let spec: Spec = {
    policy: options.policy,
    target: { name: 'set-1', hash: hashOf(1), number: 1 },
    generation: 1,
    observed: true,
  };
  /** What the native controller makes pods from: it may be behind the spec. */
  let template = spec.target.hash;

  const tell = (change: Change): void => {
    for (const listener of listeners) listener(change);
  };
  const setNode = (node: TrueNode, change: Partial<NodeFacts>): void => {
    node.facts = { ...node.facts, ...change };
    tell({ stream: 'nodes', node: node.facts, gone: false });
  };
  const setPod = (pod: PodFacts, change: Partial<PodFacts>): PodFacts => {
    resourceVersion += 1;
    const next = { ...pod, ...change, resourceVersion: String(resourceVersion) };
    pods.set(next.uid, next);
    const there = uidsOn.get(next.node);
    if (there) there.add(next.uid);
    else uidsOn.set(next.node, new Set([next.uid]));
    tell({ stream: 'pods', pod: next, gone: false });
    return next;
  };
  const dropPod = (uid: string): void => {
    const pod = pods.get(uid);
    if (!pod) return;
    pods.delete(uid);
    uidsOn.get(pod.node)?.delete(uid);
    resourceVersion += 1;
    tell({ stream: 'pods', pod: { ...pod, resourceVersion: String(resourceVersion) }, gone: true });
    time.timer(chance.between(20, 400), () => syncNode(pod.node));
  };
  const podsOn = (name: string): PodFacts[] => [...(uidsOn.get(name) ?? [])].flatMap((uid) => pods.get(uid) ?? []);

  const makePod = (node: string, revision: string): PodFacts => {
    uids += 1;
    const at = time.now();
    const pod = setPod(
      {
        uid: `u${uids}`,
        name: `set-${uids}`,
        resourceVersion: '',
        node,
        revision,
        createdAt: at - (at % 1_000),
        terminating: false,
        ready: false,
        readyChangedAt: at,
        trouble: undefined,
        detail: '',
        ...(options.gated && { gated: true }),
      },
      {},
    );
    time.timer(chance.between(500, 6_000), () => startPod(pod.uid));
    return pod;
  };

  /** The native controller looks at one node. */
  const syncNode = (name: string): void => {
    const node = nodes.get(name);
    const present = podsOn(name);
    if (!node) {
      for (const pod of present) time.timer(5_000, () => !nodes.has(name) && dropPod(pod.uid));
      return;
    }
    if (!node.facts.eligible) {
      for (const pod of present) if (!pod.terminating) terminate(pod);
      return;
    }
    if (present.length > 0) return;
    makePod(name, template);
  };

  /** Of several pods of one revision the controller of the pods keeps the first; no node need be there any more. */
  const dropDuplicates = (name: string): void => {
    if (!nodes.has(name)) syncNode(name);
    const live = podsOn(name).filter(({ terminating }) => !terminating);
    for (const pod of live) {
      const first = live.find(({ revision }) => revision === pod.revision);
      if (first !== pod) terminate(pod);
    }
  };

  /** The kubelet of a connected node brings a pod to where its version takes it. */
  const startPod = (uid: string): void => {
    const pod = pods.get(uid);
    const node = pod && nodes.get(pod.node);
    if (!pod || !node?.connected || pod.terminating || pod.ready) return;
    if (pod.changing && arrived.has(uid)) return;
    const tried = behaviourOf(pod.revision, pod.node);
    const behaviour = tried === 'stick' && !changed.has(uid) ? 'good' : tried;
    if (behaviour === 'good' || behaviour === 'kill') {
      arrived.add(uid);
      const opened = pod.changing ? {} : { ready: true, readyChangedAt: time.now() };
      setPod(pod, { ...opened, trouble: undefined, detail: '' });
    }
    if (behaviour === 'crash') setPod(pod, { trouble: 'crash-loop', detail: 'exit code 1' });
    if (behaviour === 'pull') setPod(pod, { trouble: 'image-pull', detail: 'no such image' });
    if (behaviour === 'kill') time.timer(chance.between(500, 8_000), () => pods.has(uid) && disconnect(pod.node));
    if (behaviour !== 'good') time.timer(20_000, () => startPod(uid));
  };

  const terminate = (pod: PodFacts): PodFacts => {
    const next = setPod(pod, { terminating: true });
    finish(pod.uid);
    return next;
  };
  const finish = (uid: string): void => {
    time.timer(chance.between(200, 5_000), () => {
      const pod = pods.get(uid);
      if (pod && nodes.get(pod.node)?.connected !== false) dropPod(uid);
    });
  };

  const disconnect = (name: string): void => {
    const node = nodes.get(name);
    if (!node?.connected) return;
    node.connected = false;
    node.epoch += 1;
    const { epoch } = node;
    time.timer(graceMs, () => {
      if (node.epoch !== epoch || nodes.get(name) !== node || !node.facts.ready) return;
      setNode(node, { ready: false, readyChangedAt: time.now() });
      for (const pod of podsOn(name)) if (pod.ready) setPod(pod, { ready: false, readyChangedAt: time.now() });
    });
  };

  const connect = (name: string): void => {
    const node = nodes.get(name);
    if (!node || node.connected) return;
    node.connected = true;
    node.epoch += 1;
    if (!node.facts.ready) setNode(node, { ready: true, readyChangedAt: time.now() });
    for (const pod of podsOn(name)) {
      if (pod.terminating) finish(pod.uid);
      else time.timer(chance.between(100, 3_000), () => startPod(pod.uid));
    }
    syncNode(name);
  };

  const addNode = (name: string, zone: string): void => {
    if (nodes.has(name)) return;
    const facts = { name, ready: true, readyChangedAt: time.now(), eligible: true, selected: true, zone };
    const node: TrueNode = { facts, connected: true, epoch: 0 };
    nodes.set(name, node);
    setNode(node, {});
    time.timer(chance.between(20, 400), () => syncNode(name));
  };

  for (let index = 0; index < options.nodes; index += 1)
    addNode(`n${String(index).padStart(5, '0')}`, options.zones > 0 ? `z${index % options.zones}` : '');

  return {
    nodes: nodes as ReadonlyMap<string, Readonly<TrueNode>>,
    pods: pods as ReadonlyMap<string, PodFacts>,
    podsOn,
    get spec(): Readonly<Spec> {
      return spec;
    },
    listen(listener: (change: Change) => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    disconnect,
    connect,
    addNode,
    removeNode(name: string): void {
      const node = nodes.get(name);
      if (!node) return;
      nodes.delete(name);
      node.epoch += 1;
      tell({ stream: 'nodes', node: node.facts, gone: true });
      syncNode(name);
    },
    changeNode(name: string, change: Partial<Pick<NodeFacts, 'eligible' | 'selected' | 'zone'>>): void {
      const node = nodes.get(name);
      if (!node) return;
      setNode(node, change);
      time.timer(chance.between(20, 400), () => syncNode(name));
    },
    /** A pod that ran stops being ready for a while. */
    upset(name: string, forMs: number): void {
      for (const pod of podsOn(name))
        if (pod.ready) {
          setPod(pod, { ready: false, readyChangedAt: time.now() });
          time.timer(forMs, () => startPod(pod.uid));
        }
    },
    deleteByHand(name: string): void {
      for (const pod of podsOn(name)) if (!pod.terminating) terminate(pod);
    },
    setPolicy(change: Partial<Policy>): void {
      spec = { ...spec, policy: { ...spec.policy, ...change } };
      tell({ stream: 'spec', spec });
    },
    /** Sets a template; the native controller records it after a while. */
    setVersion(version: number): void {
      const hash = hashOf(version);
      if (spec.target.hash === hash) return;
      const number = spec.target.number + 1;
      const from = inPlaceFrom?.(version);
      const target = { name: `set-${version}`, hash, number, ...(from && { inPlaceFrom: from }) };
      spec = { ...spec, target, generation: spec.generation + 1, observed: false };
      tell({ stream: 'spec', spec });
      time.timer(chance.between(50, 2_000), () => {
        if (spec.target.number !== number) return;
        template = hash;
        spec = { ...spec, observed: true };
        tell({ stream: 'spec', spec });
      });
    },

    ...createModelApi({
      time,
      chance,
      nodes,
      pods,
      arrived,
      changed,
      setPod,
      makePod,
      startPod,
      terminate,
      dropDuplicates,
    }),
  };
};
export type ModelCluster = ReturnType<typeof createModelCluster>;
