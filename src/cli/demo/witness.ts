import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonRollouts } from '../../controller/index.ts';
import {
  createReflector,
  events,
  isKubeError,
  type KubeClient,
  KubeError,
  type KubeObject,
  keyOf,
  type ListResult,
  type ObjectRef,
  type Reflector,
  type Resource,
} from '../../kube/index.ts';
import { type DaemonRollout, phases } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import type { DemoDaemonSet, DemoKind } from './kinds.ts';
import { createMeter, type Meter, type PodSight } from './meter.ts';
import { controllerRevisions, isReady, nodes, pods } from './resources.ts';
import { type EventLine, emptyScene, type NodeCell, type Scene } from './scene.ts';

/** Which DaemonSet is watched, and what it may do. */
export interface Subject {
  kind: DemoKind;
  namespace: string;
  name: string;
  /** Of its pods. */
  labelSelector: string;
  /** Nodes that are drawn, before there is a DaemonSet too. */
  nodes: readonly string[];
  /** Share of the online nodes that may be down at once. */
  share: number;
}

export interface Witness {
  readonly meter: Meter;
  daemonSet(): DemoDaemonSet | undefined;
  rollout(): DaemonRollout | undefined;
  node(name: string): Node | undefined;
  /** Pods on the node, those that are ending included. */
  podsOn(node: string): Pod[];
  /** Oldest first. */
  events(): readonly EventLine[];
  scene(): Promise<Scene>;
  /** Calls `seen` at every change; the result ends it. */
  onChange(seen: () => void): () => void;
  /** Resolves once the caches hold the cluster. */
  ready(signal: AbortSignal): Promise<void>;
  /** Watches until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

const SETTLE_MS = 10_000;
const EVENTS_KEPT = 100;
const NODE_REASONS = ['NodeNotReady', 'NodeReady'];

const nodeOf = (pod: Pod): string => {
  const terms = pod.spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const field = terms?.flatMap((term) => term.matchFields ?? []).find(({ key }) => key === 'metadata.name');
  return pod.spec?.nodeName ?? field?.values?.[0] ?? '';
};

const sightOf = (pod: Pod): PodSight => {
  const deleting = pod.metadata?.deletionTimestamp !== undefined;
  return {
    uid: pod.metadata?.uid ?? '',
    name: pod.metadata?.name ?? '',
    node: nodeOf(pod),
    image: pod.spec?.containers[0]?.image ?? '',
    up: isReady(pod) && !deleting,
    deleting,
  };
};

/** Watches a DaemonSet, its nodes and pods through a connection of its own, as anybody with kubectl could. */
export const createWitness = (client: KubeClient, env: Env, subject: Subject): Witness => {
  const { kind, namespace, name, labelSelector, share } = subject;
  const meter = createMeter({ share, settleMs: SETTLE_MS, now: () => env.clock.now() });
  const listeners = new Set<() => void>();
  const told: EventLine[] = [];
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  const whole = <T>(object: T): T => object;
  const onChange = { upsert: changed, remove: changed };
  const parts = { client, env };

  const caches = {
    nodes: createReflector({
      ...parts,
      resource: nodes,
      project: whole,
      handlers: [{ upsert: (key: string, node: Node) => meter.node(key, isReady(node)) }, onChange],
    }),
    pods: createReflector({
      ...parts,
      resource: pods,
      namespace,
      labelSelector,
      project: whole,
      handlers: [
        {
          upsert: (_: string, pod: Pod) => meter.pod(sightOf(pod)),
          remove: (_: string, pod: Pod) => meter.podGone(pod.metadata?.uid ?? ''),
        },
        onChange,
      ],
    }),
    daemonsets: createReflector({
      ...parts,
      resource: kind.resource,
      namespace,
      project: whole,
      handlers: [onChange],
    }),
    controllerrevisions: createReflector({
      ...parts,
      resource: controllerRevisions,
      namespace,
      labelSelector,
      project: whole,
      handlers: [onChange],
    }),
    daemonrollouts: createReflector({
      ...parts,
      resource: daemonRollouts,
      namespace,
      project: whole,
      handlers: [onChange],
    }),
  };
  const words = createReflector({
    ...parts,
    resource: events,
    namespace,
    project: ({ regarding, reason = '', note = '', type }): EventLine | undefined => {
      const ours = regarding?.kind === 'DaemonSet' && regarding.name === name && reason !== 'SuccessfulCreate';
      const aNode = regarding?.kind === 'Node' && NODE_REASONS.includes(reason);
      return ours || (aNode && subject.nodes.includes(regarding.name ?? ''))
        ? { reason, note, warning: type === 'Warning' }
        : undefined;
    },
    handlers: [
      {
        upsert: (_: string, line: EventLine, before: EventLine | undefined) => {
          // One that is told again only counts on.
          if (before) return;
          told.push(line);
          if (told.length > EVENTS_KEPT) told.shift();
          changed();
        },
      },
    ],
  });
  const reflectors: readonly Reflector<unknown>[] = [...Object.values(caches), words];

  /** The caches in the place of the API server: what is drawn is then the product's own reading of the same objects. */
  const storeOf = (resource: Resource) => {
    const found = Object.entries(caches).find(([plural]) => plural === resource.plural)?.[1];
    if (!found) throw new KubeError('BadRequest', `${resource.plural} are not watched`);
    return found.store;
  };
  const cached = {
    async get<T extends KubeObject>(resource: Resource<T>, ref: ObjectRef): Promise<T> {
      const found = storeOf(resource).get(keyOf({ metadata: { ...ref } }));
      if (!found) throw new KubeError('NotFound', `${resource.plural} "${ref.name}" not found`);
      return found as T;
    },
    async list<T extends KubeObject>(resource: Resource<T>): Promise<ListResult<T>> {
      return { items: [...storeOf(resource).values()] as T[], resourceVersion: '' };
    },
  };

  const imageOn = (node: string): string => {
    const own = [...meter.pods()].filter((pod) => pod.node === node);
    return (own.find((pod) => !pod.deleting) ?? own[0])?.image ?? '';
  };

  return {
    meter,
    daemonSet: () => caches.daemonsets.store.get(`${namespace}/${name}`),
    rollout: () => caches.daemonrollouts.store.get(`${namespace}/${kind.rolloutName(name)}`),
    node: (node) => caches.nodes.store.get(node),
    podsOn: (node) => [...caches.pods.store.values()].filter((pod) => nodeOf(pod) === node),
    events: () => told,
    async scene() {
      const daemonSet = caches.daemonsets.store.get(`${namespace}/${name}`);
      const bare = subject.nodes.map((node): NodeCell => ({ name: node, phase: undefined, image: imageOn(node) }));
      if (!daemonSet) return { ...emptyScene, nodes: bare, events: told };
      try {
        const reading = await kind.read({ client: cached, clock: env.clock, namespace, name });
        if (!reading) return { ...emptyScene, nodes: bare, events: told };
        const { ledger, decision } = reading;
        const cells = bare.map((cell) => ({ ...cell, phase: ledger.get(cell.name)?.status.phase }));
        const { budget, usage, hold } = decision.summary;
        return {
          nodes: cells,
          counts: Object.fromEntries(phases.map((phase) => [phase, ledger.tally.phases[phase]])),
          budget: { inUse: usage.occupied, limit: budget },
          halted: hold?.kind === 'halted',
          events: told,
        };
      } catch (error) {
        // The DaemonSet went while it was read.
        if (isKubeError(error, 'NotFound')) return { ...emptyScene, nodes: bare, events: told };
        throw error;
      }
    },
    onChange(seen) {
      listeners.add(seen);
      return () => listeners.delete(seen);
    },
    async ready(signal) {
      await Promise.all(reflectors.map((reflector) => reflector.whenSynced(signal)));
    },
    async run(signal) {
      await Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    },
  };
};
