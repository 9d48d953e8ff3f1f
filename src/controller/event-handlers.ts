import { createReflector, type KubeClient, type ReflectorHandler, type Store } from '../kube/index.ts';
import type { Ledger, NodeFacts, NodeInfo, PodFacts } from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { DaemonSetView, PodProjection } from './kind.ts';
import type { KindEventHandlers } from './kind-adapter.ts';
import { nodeFactsOf } from './node-facts.ts';
import { pods } from './resources.ts';

export interface EventHandlersOptions<P> {
  client: KubeClient;
  env: Env;
  ledger: Ledger;
  nodes: Store<NodeInfo>;
  /** An agent is on the node that pulls images. */
  pulls: (node: string) => boolean;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
  projection: PodProjection<P>;
  /** Called after each change of the ledger, and of what is kept of a pod. */
  changed: () => void;
  /** Is told what an event was about, also where the ledger has no use for it. */
  kindHandlers: KindEventHandlers<P>;
  /** Is told of the DaemonSet's pods too. */
  listener: ReflectorHandler<PodFacts>;
}

const sameFacts = (a: NodeFacts, b: NodeFacts): boolean =>
  a.ready === b.ready &&
  a.readyChangedAt === b.readyChangedAt &&
  a.eligible === b.eligible &&
  a.selected === b.selected &&
  a.zone === b.zone &&
  a.hasImageAgent === b.hasImageAgent;

/** The same handler, told of those pods alone that the DaemonSet owns: one that it owns no longer is gone. */
const ofFacts = <P>(projection: PodProjection<P>, handler: ReflectorHandler<PodFacts>): ReflectorHandler<P> => ({
  upsert(key, kept, previous) {
    const pod = projection.facts(kept);
    const before = previous === undefined ? undefined : projection.facts(previous);
    if (pod) handler.upsert?.(key, pod, before);
    else if (before) handler.remove?.(key, before);
  },
  remove(key, previous) {
    const before = projection.facts(previous);
    if (before) handler.remove?.(key, before);
  },
  synced: () => handler.synced?.(),
});

/** Brings what the watches deliver about nodes and one DaemonSet's pods into its ledger. */
export const createEventHandlers = <P>(options: EventHandlersOptions<P>) => {
  const { client, env, ledger, nodes, pulls, view, projection, changed, kindHandlers, listener } = options;
  const { clock } = env;
  const { namespace, uid, podSelector } = view();

  /** `previous`: as the node was until now, where it was there. */
  const setNode = (node: NodeInfo, previous?: NodeInfo): void => {
    kindHandlers.node(node.name);
    const facts = nodeFactsOf(view(), node, pulls(node.name));
    const known = ledger.get(node.name)?.node;
    // Of a node that the DaemonSet never ran on there is nothing to remember.
    if (known ? sameFacts(known, facts) : !facts.eligible) return;
    const wasSo = previous?.ready === node.ready && previous.readyChangedAt === node.readyChangedAt;
    ledger.setNode(facts, clock.now(), wasSo);
    changed();
  };

  const reflector = createReflector({
    client,
    resource: pods,
    env,
    namespace,
    labelSelector: podSelector,
    project: (pod) => projection.project(pod, uid),
    handlers: [
      ofFacts(projection, {
        upsert: (_key, pod) => ledger.setPod(pod, clock.now()),
        remove: (_key, pod) => ledger.removePod(pod.uid, clock.now()),
      }),
      {
        upsert(_key, pod) {
          kindHandlers.pod(pod);
          changed();
        },
        remove(_key, pod) {
          kindHandlers.pod(pod);
          changed();
        },
      },
      ofFacts(projection, listener),
    ],
  });

  return {
    setNode,
    removeNode(name: string): void {
      kindHandlers.node(name);
      ledger.removeNode(name, clock.now());
      changed();
    },
    /** Looks at every node again: what the DaemonSet asks of nodes has changed. */
    setAllNodes(): void {
      for (const node of nodes.values()) setNode(node, node);
    },
    /** Fills and keeps the cache of pods. */
    async run(signal: AbortSignal): Promise<void> {
      reflector.whenSynced(signal).then(changed, () => undefined);
      await reflector.run(signal);
    },
    synced: (): boolean => reflector.synced,
    /** What is kept of pods. */
    pods: reflector.store,
  };
};
export type Feed<P> = ReturnType<typeof createEventHandlers<P>>;
