import {
  type CallOptions,
  ifFound,
  type KubeClient,
  type KubeObject,
  type ListResult,
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
import type { DaemonSetObject, DaemonSetView, Kind, RecordedRevision } from './kind.ts';
import { nodeFactsOf } from './node-facts.ts';
import { controllerRevisions, daemonRollouts, nodes, pods } from './resources.ts';
import { toRevisionView } from './revisions.ts';

/** A rollout as it stands at one moment, read from the cluster's objects alone. */
export interface RolloutReading<V extends DaemonSetView = DaemonSetView> {
  view: V;
  ledger: Ledger;
  decision: Decision;
  /** What the manager wrote last; undefined before its first write. */
  status: DaemonRolloutStatus | undefined;
}

export interface ReadOptions<D extends DaemonSetObject = DaemonSetObject, V extends DaemonSetView = DaemonSetView> {
  /** Reads alone: caches that know the five kinds of object will do. */
  client: Pick<KubeClient, 'get' | 'list'>;
  clock: Clock;
  namespace: string;
  name: string;
  signal?: AbortSignal;
  /** The DaemonSet to decide by in place of the one that is there. */
  as?: (daemonSet: D) => D;
  /** What else the manager would find in its way. */
  obstacle?: (view: V) => Promise<OutsideHold | undefined>;
}

const PAGE = 500;

/**
 * Reads a DaemonSet's rollout as the manager would on starting, and decides on it without carrying anything out.
 * Undefined for a DaemonSet that is not served; throws a `KubeError`.
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

  const listAll = async <T extends KubeObject>(resource: Resource<T>, where: object): Promise<T[]> => {
    const items: T[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page: ListResult<T> = await client.list(resource, {
        ...where,
        ...call,
        limit: PAGE,
        ...(next && { continue: next }),
      });
      items.push(...page.items);
      next = page.continue;
    }
    return items;
  };
  const own = { namespace, labelSelector: view.podSelector };
  const [allNodes, ownPods, revisions, status, obstacle] = await Promise.all([
    listAll(nodes, {}),
    listAll(pods, own),
    listAll(controllerRevisions, own),
    readStatus(),
    options.obstacle?.(view),
  ]);

  const now = clock.now();
  const podFacts = ownPods.flatMap((pod) => {
    const kept = kind.pods.project(pod, view.uid);
    return (kept !== undefined && kind.pods.facts(kept)) || [];
  });
  // The manager's flag and the pods of agents are not to be read here; that images are asked for is.
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
    return obstacle ?? (target ? undefined : { kind: 'unobserved' });
  }

  async function readStatus(): Promise<DaemonRolloutStatus | undefined> {
    const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: kind.rolloutName(name) }, call));
    return rollout && controllerOf(rollout)?.uid === view?.uid ? rollout.status : undefined;
  }
};
