import { isDeepStrictEqual } from 'node:util';
import { createReflector, type KubeClient, keyOf, pods, type Reflector, type Store } from '../../kube/index.ts';
import { type Ledger, matches, type NodeInfo, parseSelector } from '../../rollout/index.ts';
import type { Clock, Env } from '../../runtime/index.ts';
import { type DaemonSetView, nodeFactsOf, type PodProjection, seeNodesAlike } from '../kind.ts';
import type { Enqueue, KindEventHandlers } from '../kind-adapter.ts';
import type { PodCache } from '../pod-writes.ts';
import type { ImageRequestTracker } from './image-requests.ts';

export interface RolloutModelOptions<V extends DaemonSetView, P> {
  clock: Pick<Clock, 'now'>;
  ledger: Ledger;
  view: V;
  /** All nodes of the cluster. */
  nodes: Pick<Store<NodeInfo>, 'values'>;
  projection: PodProjection<P>;
  /** Sees which images the pods request. */
  images: Pick<ImageRequestTracker, 'setPod' | 'removePod'>;
  /** Of the kind: called for every event, also where the ledger has no use for it. */
  kindHandlers?: () => KindEventHandlers<P> | undefined;
  enqueue: Enqueue;
}

/** A DaemonSet and its ledger, brought up to date with what is known of the DaemonSet, of nodes and of its pods. */
export interface RolloutModel<V extends DaemonSetView, P> {
  ledger: Ledger;
  /** The DaemonSet as it is now. */
  view: () => V;
  /** The DaemonSet, or the plan that it names, has changed. Returns what follows from that for its nodes. */
  update(next: V): { policyChanged: boolean; nodesChanged: boolean };
  /** `previous`: the node as it was until now, if it existed. */
  setNode(node: NodeInfo, previous?: NodeInfo): void;
  removeNode(name: string): void;
  /** `previous`: what was kept of the pod until now. */
  setPod(kept: P, previous?: P): void;
  removePod(kept: P): void;
}

/** Those who only look read the model of a rollout; to the reconciler's, the reconciler adds writes. */
export const createRolloutModel = <V extends DaemonSetView, P>(
  options: RolloutModelOptions<V, P>,
): RolloutModel<V, P> => {
  const { clock, ledger, nodes, projection, images, kindHandlers, enqueue } = options;
  let { view } = options;

  const setNode = (node: NodeInfo, previous?: NodeInfo): void => {
    kindHandlers?.()?.node(node.name);
    const facts = nodeFactsOf(view, node);
    const known = ledger.get(node.name)?.node;
    // There is nothing to remember of a node that the DaemonSet has never run on.
    if (known ? isDeepStrictEqual(known, facts) : !facts.eligible) return;
    const wasSo = previous?.ready === node.ready && previous.readyChangedAt === node.readyChangedAt;
    ledger.setNode(facts, clock.now(), wasSo);
    enqueue();
  };

  const forget = (kept: P): void => {
    const pod = projection.facts(kept);
    if (!pod) return;
    ledger.removePod(pod.uid, clock.now());
    images.removePod(pod);
  };

  return {
    ledger,
    view: () => view,
    update(next) {
      const policyChanged = !isDeepStrictEqual(view.policy, next.policy);
      const nodesChanged = !seeNodesAlike(view, next);
      view = next;
      if (policyChanged) ledger.setPolicy(next.policy.policy, clock.now());
      if (nodesChanged) for (const node of nodes.values()) setNode(node, node);
      return { policyChanged, nodesChanged };
    },
    setNode,
    removeNode(name) {
      kindHandlers?.()?.node(name);
      ledger.removeNode(name, clock.now());
      enqueue();
    },
    setPod(kept, previous) {
      const pod = projection.facts(kept);
      if (pod) {
        ledger.setPod(pod, clock.now());
        images.setPod(pod);
      } else if (previous !== undefined) forget(previous);
      kindHandlers?.()?.pod(kept);
      enqueue();
    },
    removePod(kept) {
      forget(kept);
      kindHandlers?.()?.pod(kept);
      enqueue();
    },
  };
};

export interface WatchPodsOptions<V extends DaemonSetView, P> {
  client: KubeClient;
  env: Env;
  model: RolloutModel<V, P>;
  projection: PodProjection<P>;
  /** Runs `call`; when that throws, nothing more is decided by this model. Default: nothing is caught. */
  guard?: (about: string, call: () => void) => void;
  /** All pods have been set. */
  synced?: () => void;
  /** What the cache of pods lacks has changed. */
  failuresChanged: () => void;
}

/** The watch of a DaemonSet's pods, which keeps its model up to date. */
export const watchPods = <V extends DaemonSetView, P>(options: WatchPodsOptions<V, P>): Reflector<P> => {
  const { client, env, model, projection, guard = (_about, call) => call(), synced, failuresChanged } = options;
  const { namespace, uid, podSelector } = model.view();
  return createReflector({
    client,
    env,
    resource: pods,
    namespace,
    labelSelector: podSelector,
    project: (pod) => projection.project(pod, uid),
    handlers: [
      {
        upsert: (key, kept, previous) => guard(`Pod ${key}`, () => model.setPod(kept, previous)),
        remove: (key, kept) => guard(`Pod ${key}`, () => model.removePod(kept)),
        ...(synced && { synced: () => guard('its Pods', synced) }),
        failuresChanged,
      },
    ],
  });
};

/** The cache of the pods of one DaemonSet, for responses. */
export const podCacheOf = <P>(
  reflector: Pick<Reflector<P>, 'accept' | 'acceptDeletion' | 'reached'>,
  { namespace, podSelector }: Pick<DaemonSetView, 'namespace' | 'podSelector'>,
): PodCache => {
  const selector = parseSelector(podSelector);
  return {
    accept(pod) {
      // The watch says of pods that the selector does not match that they are gone.
      if (selector.ok && matches(selector.selector, pod.metadata?.labels ?? {})) reflector.accept(pod);
    },
    acceptDeletion: ({ podName, podUid }) =>
      reflector.acceptDeletion(keyOf({ metadata: { namespace, name: podName } }), podUid),
    reached: (version) => reflector.reached(version),
  };
};
