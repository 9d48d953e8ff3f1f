import {
  type CallOptions,
  controllerRevisions,
  ifFound,
  type KubeClient,
  type KubeObject,
  nodes,
  pagesOf,
  pods,
  type Resource,
} from '../kube/index.ts';
import {
  controllerOf,
  createLedger,
  type DaemonRolloutStatus,
  type Decision,
  decide,
  type Ledger,
  type OutsideHold,
  recordedTemplate,
  restore,
  toNodeInfo,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import { daemonRollouts } from './daemon-rollout.ts';
import { type DaemonSetObject, type DaemonSetView, type Kind, nodeFactsOf, type RecordedRevision } from './kind.ts';
import { toRevisionView } from './revisions.ts';

/** A rollout at one moment, read from the cluster's objects alone. */
export interface RolloutReading<V extends DaemonSetView = DaemonSetView> {
  view: V;
  ledger: Ledger;
  decision: Decision;
  /** What the manager wrote last; undefined before its first write. */
  status: DaemonRolloutStatus | undefined;
}

export interface ReadOptions<D extends DaemonSetObject = DaemonSetObject, V extends DaemonSetView = DaemonSetView> {
  /** It only reads, so a cache that serves the five kinds of object is enough. */
  client: Pick<KubeClient, 'get' | 'list'>;
  clock: Clock;
  namespace: string;
  name: string;
  signal?: AbortSignal;
  /** Changes the DaemonSet before the decision, for a dry run. */
  as?: (daemonSet: D) => D;
  /** What else would hold the manager back. */
  outsideHold?: (view: V) => Promise<OutsideHold | undefined>;
}

/**
 * Reads a DaemonSet's rollout as the manager does when it starts, and decides without executing anything. Undefined for a
 * DaemonSet that is not managed; throws a `KubeError`.
 */
export const readRollout = async <D extends DaemonSetObject, V extends DaemonSetView, P>(
  kind: Kind<D, V, P>,
  options: ReadOptions<D, V>,
): Promise<RolloutReading<V> | undefined> => {
  const { client, clock, namespace, name } = options;
  const call: CallOptions = options.signal ? { signal: options.signal } : {};
  const daemonSet = await client.get(kind.resource, { namespace, name }, call);
  const view = kind.toView(options.as?.(daemonSet) ?? daemonSet);
  if (!view) return undefined;

  const listAll = async <T extends KubeObject>(resource: Resource<T>, query: object): Promise<T[]> => {
    const items: T[] = [];
    for await (const page of pagesOf(client, resource, { ...query, ...call })) items.push(...page.items);
    return items;
  };
  const own = { namespace, labelSelector: view.podSelector };
  const [allNodes, ownPods, revisions, status, hold] = await Promise.all([
    listAll(nodes, {}),
    listAll(pods, own),
    listAll(controllerRevisions, own),
    readStatus(),
    options.outsideHold?.(view),
  ]);

  const now = clock.now();
  const podFacts = ownPods.flatMap((pod) => {
    const kept = kind.pods.project(pod, view.uid);
    return (kept !== undefined && kind.pods.facts(kept)) || [];
  });
  // The manager's flags and the agents' pods can't be read here; the requests for images can.
  const asked = podFacts.filter(({ images, revision }) => images && images.revision !== revision);
  const agents = new Set(asked.filter(({ images }) => images?.byAgent).map(({ node }) => node));
  const ledger = createLedger(view.policy.policy, { pullsByDefault: asked.length > 0, readOnly: true });
  for (const node of allNodes) {
    const facts = nodeFactsOf(view, toNodeInfo(node), agents.has(node.metadata?.name ?? ''));
    if (facts.eligible) ledger.setNode(facts, now);
  }
  for (const facts of podFacts) ledger.setPod(facts, now);
  ledger.finishInitialSync();
  const saved = restore(status);
  ledger.restore(saved.state, saved.updates, saved.forgiven, now);
  const owned = revisions.flatMap((revision): RecordedRevision[] => {
    const seen = toRevisionView(revision, kind.resource);
    return seen?.ownerUid === view.uid ? [{ ...seen, template: recordedTemplate(revision) }] : [];
  });
  const target = kind.targetOf(view, owned);
  if (target) ledger.setTarget(target, now);
  ledger.tick(now);
  return { view, ledger, decision: decide(ledger, holdOf(), now), status };

  function holdOf(): OutsideHold | undefined {
    if (view?.policy.kind === 'invalid') return { kind: 'invalid', errors: view.policy.errors };
    return hold ?? (target ? undefined : { kind: 'unobserved' });
  }

  async function readStatus(): Promise<DaemonRolloutStatus | undefined> {
    const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: kind.rolloutName(name) }, call));
    return rollout && controllerOf(rollout)?.uid === view?.uid ? rollout.status : undefined;
  }
};
