import {
  type DaemonSetObject,
  type DaemonSetView,
  daemonRollouts,
  type Kind,
  type OrderedDaemonSet,
  readPlans,
  toRecorded,
} from '../controller/index.ts';
import {
  type CallOptions,
  controllerRevisions,
  ifFound,
  type KubeClient,
  listAll,
  nodes,
  pods,
} from '../kube/index.ts';
import {
  controllerOf,
  createNodeReader,
  findCycles,
  type OutsideHold,
  type Preceding,
  type Predecessor,
  waitsFor,
  withoutCycle,
} from '../rollout/index.ts';
import type { Clock } from '../runtime/index.ts';
import type { DaemonRolloutStatus } from '../words/index.ts';
import { createRolloutDisplay, managerVerdict, type RolloutReading } from './rollout-display.ts';

export interface ReadOptions<D extends DaemonSetObject = DaemonSetObject, V extends DaemonSetView = DaemonSetView> {
  /** It only reads, so a cache that serves these kinds of object is enough. */
  client: Pick<KubeClient, 'get' | 'list'>;
  clock: Clock;
  namespace: string;
  name: string;
  signal?: AbortSignal;
  /** Changes the DaemonSet before the decision, for a dry run. */
  as?: (daemonSet: D) => D;
  /** What else would hold the manager back. */
  outsideHold?: (view: V) => Promise<OutsideHold | undefined>;
  /** A DaemonSet of the same namespace that the plan names in `after`; undefined if it is not managed. */
  preceding?: (predecessor: Predecessor) => Promise<Preceding | undefined>;
  /** What the plan of a DaemonSet says in `after`, as it is written: empty for one that is not managed. */
  afterOf?: (daemonSet: OrderedDaemonSet) => Promise<readonly Predecessor[]>;
}

/** What the plan's predecessors say, read once. */
export const readPreceding = async (
  after: readonly Predecessor[],
  read: (predecessor: Predecessor) => Promise<Preceding | undefined>,
): Promise<(node: string) => string | undefined> => {
  const found = new Map(
    await Promise.all(
      after.map(async (each): Promise<[Predecessor, Preceding | undefined]> => [each, await read(each)]),
    ),
  );
  return (node) => waitsFor(after, (each) => found.get(each), node);
};

/** The cycle that the plan of a DaemonSet leads in, for people; undefined: it leads in none. */
const readCycle = async (
  start: OrderedDaemonSet,
  after: readonly Predecessor[],
  read: (daemonSet: OrderedDaemonSet) => Promise<readonly Predecessor[]>,
): Promise<readonly string[] | undefined> => {
  const { namespace } = start;
  const keyOf = ({ apiGroup, name }: { apiGroup: string; name: string }): string => `${apiGroup}/${name}`;
  const known = new Map<string, readonly Predecessor[]>([[keyOf(start), after]]);
  const waiting = [...after];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    if (known.has(keyOf(next))) continue;
    const { apiGroup, name } = next;
    const found = await read({ apiGroup, namespace, name });
    known.set(keyOf(next), found);
    waiting.push(...found);
  }
  return findCycles([start], (one) => known.get(keyOf(one)) ?? [])[0];
};

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
  const asItIs = kind.toView(daemonSet);
  const own = options.as ? kind.toView(options.as(daemonSet)) : asItIs;
  if (!own) return undefined;
  const { group } = kind.resource;
  const { view: planned, approvals, unreadable } = await readPlans(client, group, own, call);
  const { after = [] } = planned.policy.policy.plan ?? {};
  const ref = { apiGroup: group, namespace, name };
  const cycle = options.afterOf && (await readCycle(ref, after, options.afterOf));
  const view = { ...planned, policy: withoutCycle(planned.policy, cycle) };

  const ownObjects = { namespace, labelSelector: view.podSelector, ...call };
  const [allNodes, ownPods, revisions, status, hold] = await Promise.all([
    listAll(client, nodes, call),
    listAll(client, pods, ownObjects),
    listAll(client, controllerRevisions, ownObjects),
    readStatus(),
    options.outsideHold?.(view),
  ]);

  const now = clock.now();
  const known = new Map(allNodes.map(createNodeReader()).map((node) => [node.name, node]));
  const moment = { clock: { now: () => now }, view, nodes: known, changed: () => undefined };
  const display = createRolloutDisplay(kind, moment);
  const { model } = display;
  model.ledger.setApprovals(approvals);
  for (const pod of ownPods) {
    const kept = kind.pods.project(pod, view.uid);
    if (kept !== undefined) model.setPod(kept);
  }
  for (const node of known.values()) model.setNode(node);
  if (options.preceding && after.length > 0) display.setOrder(await readPreceding(after, options.preceding));
  return display.read({
    status,
    hold: asItIs ? (managerVerdict(asItIs, status) ?? hold) : hold,
    unreadable,
    revisions: revisions.flatMap((one) => toRecorded(one, kind.resource)),
  });

  async function readStatus(): Promise<DaemonRolloutStatus | undefined> {
    const rollout = await ifFound(client.get(daemonRollouts, { namespace, name: kind.rolloutName(name) }, call));
    return rollout && controllerOf(rollout)?.uid === view?.uid ? rollout.status : undefined;
  }
};
