import { createReflector, type KubeClient, pods, type Store } from '../../kube/index.ts';
import type { Ledger, NodeFacts, NodeInfo } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { firstFailure, type InternalError } from '../internal-error.ts';
import { type DaemonSetView, nodeFactsOf, type PodProjection } from '../kind.ts';
import type { Enqueue, KindEventHandlers } from '../kind-adapter.ts';
import type { ImageRequestTracker } from './image-requests.ts';

export interface EventHandlersOptions<P> {
  client: KubeClient;
  env: Env;
  ledger: Ledger;
  nodes: Store<NodeInfo>;
  /** An agent on the node pulls images. */
  hasImageAgent: (node: string) => boolean;
  /** The DaemonSet as it is now. */
  view: () => DaemonSetView;
  projection: PodProjection<P>;
  imageRequests: Pick<ImageRequestTracker, 'setPod' | 'removePod' | 'podsSynced'>;
  /** Called for every event, also where the ledger has no use for it. */
  kindHandlers: KindEventHandlers<P>;
  enqueue: Enqueue;
  /** What the cache of pods lacks has changed. Default: it is enqueued. */
  failuresChanged?: () => void;
  /** Runs `call`; when that throws, nothing more is decided by this ledger. */
  guard: (about: string, call: () => void) => void;
}

const sameFacts = (a: NodeFacts, b: NodeFacts): boolean =>
  a.ready === b.ready &&
  a.readyChangedAt === b.readyChangedAt &&
  a.eligible === b.eligible &&
  a.selected === b.selected &&
  a.zone === b.zone &&
  a.stages === b.stages &&
  a.groups === b.groups &&
  a.timeZone === b.timeZone &&
  a.hasImageAgent === b.hasImageAgent;

/** The event handlers of one DaemonSet: they bring what the watches say of nodes and of its pods into its ledger. */
export const createEventHandlers = <P>(options: EventHandlersOptions<P>) => {
  const { client, env, ledger, nodes, hasImageAgent, view, projection, imageRequests, kindHandlers, enqueue, guard } =
    options;
  const { clock } = env;
  const { namespace, uid, podSelector } = view();

  /** `previous`: the node as it was until now, if it existed. */
  const setNode = (node: NodeInfo, previous?: NodeInfo): void => {
    kindHandlers.node(node.name);
    const facts = nodeFactsOf(view(), node, hasImageAgent(node.name));
    const known = ledger.get(node.name)?.node;
    // There is nothing to remember of a node that the DaemonSet has never run on.
    if (known ? sameFacts(known, facts) : !facts.eligible) return;
    const wasSo = previous?.ready === node.ready && previous.readyChangedAt === node.readyChangedAt;
    ledger.setNode(facts, clock.now(), wasSo);
    enqueue();
  };

  const removePod = (kept: P): void => {
    const pod = projection.facts(kept);
    if (!pod) return;
    ledger.removePod(pod.uid, clock.now());
    imageRequests.removePod(pod);
  };

  /** Most events of a pod only show how far it has come. `decisive`: of the ledger, before the event. */
  const podChanged = (kept: P, decisive: number): void => {
    const isPressing = kindHandlers.pod(kept) || ledger.decisive !== decisive;
    enqueue(isPressing ? 'now' : 'soon');
  };

  const reflector = createReflector({
    client,
    resource: pods,
    env,
    namespace,
    labelSelector: podSelector,
    project: (pod) => projection.project(pod, uid),
    handlers: [
      {
        upsert(key, kept, previous) {
          guard(`Pod ${key}`, () => {
            const { decisive } = ledger;
            const pod = projection.facts(kept);
            if (pod) {
              ledger.setPod(pod, clock.now());
              imageRequests.setPod(pod);
            } else if (previous !== undefined) removePod(previous);
            podChanged(kept, decisive);
          });
        },
        remove(key, previous) {
          guard(`Pod ${key}`, () => {
            const { decisive } = ledger;
            removePod(previous);
            podChanged(previous, decisive);
          });
        },
        synced: () => guard('its Pods', imageRequests.podsSynced),
        failuresChanged: options.failuresChanged ?? (() => enqueue('retry')),
      },
    ],
  });

  return {
    setNode,
    removeNode(name: string): void {
      kindHandlers.node(name);
      ledger.removeNode(name, clock.now());
      enqueue();
    },
    /** Evaluates every node again: the DaemonSet has changed what it asks of nodes. */
    setAllNodes(): void {
      for (const node of nodes.values()) setNode(node, node);
    },
    /** Fills and keeps the cache of pods. */
    async run(signal: AbortSignal): Promise<void> {
      reflector.whenSynced(signal).then(
        () => enqueue(),
        () => undefined,
      );
      await reflector.run(signal);
    },
    synced: (): boolean => reflector.synced,
    /** Resolves once the cache has synced; rejects with the signal's reason. */
    whenSynced: (signal: AbortSignal): Promise<void> => reflector.whenSynced(signal),
    /** What the cache lacks of its pods; undefined: nothing. */
    failure: (): InternalError | undefined => firstFailure('Pod', reflector.failures),
    /** The cache of pods. */
    pods: reflector.store,
  };
};
