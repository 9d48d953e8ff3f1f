import { createReflector, type KubeClient, type ReflectorHandler, type Store } from '../kube/index.ts';
import {
  controllerOf,
  type Ledger,
  type NodeFacts,
  type NodeView,
  type PodFacts,
  toPodFacts,
} from '../rollout/index.ts';
import type { Env } from '../runtime/index.ts';
import type { DaemonSetView } from './daemonset-view.ts';
import { nodeFactsOf } from './node-facts.ts';
import { pods } from './resources.ts';

export interface FeedOptions {
  client: KubeClient;
  env: Env;
  ledger: Ledger;
  nodes: Store<NodeView>;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
  /** Called after each change of the ledger. */
  changed: () => void;
  /** Is told of the pods too. */
  listener: ReflectorHandler<PodFacts>;
}

const sameFacts = (a: NodeFacts, b: NodeFacts): boolean =>
  a.ready === b.ready &&
  a.readyChangedAt === b.readyChangedAt &&
  a.eligible === b.eligible &&
  a.selected === b.selected &&
  a.zone === b.zone;

/** Brings what the watches deliver about nodes and one DaemonSet's pods into its ledger. */
export const createFeed = ({ client, env, ledger, nodes, view, changed, listener }: FeedOptions) => {
  const { clock } = env;
  const { namespace, uid, podSelector } = view();

  const setNode = (node: NodeView): void => {
    const facts = nodeFactsOf(view(), node);
    const known = ledger.get(node.name)?.node;
    // Of a node that the DaemonSet never ran on there is nothing to remember.
    if (known ? sameFacts(known, facts) : !facts.eligible) return;
    ledger.setNode(facts, clock.now());
    changed();
  };

  const reflector = createReflector({
    client,
    resource: pods,
    env,
    namespace,
    labelSelector: podSelector,
    project: (pod): PodFacts | undefined => (controllerOf(pod)?.uid === uid ? toPodFacts(pod) : undefined),
    handlers: [
      {
        upsert(_key, pod) {
          ledger.setPod(pod, clock.now());
          changed();
        },
        remove(_key, pod) {
          ledger.removePod(pod.uid, clock.now());
          changed();
        },
      },
      listener,
    ],
  });

  return {
    setNode,
    removeNode(name: string): void {
      ledger.removeNode(name, clock.now());
      changed();
    },
    /** Looks at every node again: what the DaemonSet asks of nodes has changed. */
    setAllNodes(): void {
      for (const node of nodes.values()) setNode(node);
    },
    /** Fills and keeps the cache of pods. */
    async run(signal: AbortSignal): Promise<void> {
      reflector.whenSynced(signal).then(changed, () => undefined);
      await reflector.run(signal);
    },
    synced: (): boolean => reflector.synced,
  };
};
export type Feed = ReturnType<typeof createFeed>;
