import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { DaemonRollout } from '../../src/words/index.ts';
import type { AuditRecord } from '../../test/conformance/index.ts';
import { hasCondition, nodeOf } from '../../test/invariants/index.ts';
import type { RolloutWrite } from '../measure/idle.ts';
import type { OccupiedSlot } from '../measure/slots.ts';

/** The write of a pod whose result is in the log. */
export const isPodChange = ({ code, group, resource, response }: AuditRecord): boolean =>
  code >= 200 &&
  code < 300 &&
  group === '' &&
  resource.startsWith('pods') &&
  (response as Pod | undefined)?.kind === 'Pod';

const versionOf = ({ response }: AuditRecord): number => Number((response as Pod).metadata?.resourceVersion ?? 0);

const isTerminating = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp !== undefined;

/** Ready follows a readiness gate with a delay: a pod with a closed gate is already out of service. */
export const isUp = (pod: Pod): boolean =>
  !isTerminating(pod) &&
  hasCondition(pod, 'Ready') &&
  (pod.spec?.readinessGates ?? []).every(({ conditionType }) => hasCondition(pod, conditionType));

export interface SlotQuery {
  namespace: string;
  /** Label `app` of the pods. */
  app: string;
  /** The user whose writes are the product's. */
  user: string;
  /** ms since the epoch. */
  since: number;
  /** When a node occupies a slot: while it has no available pod, or while it has two that are not terminating. */
  slot: 'down' | 'doubled';
}

/** The state of one node. */
interface Node {
  /** Whether its pods that are not terminating are available, by UID. */
  pods: Map<string, boolean>;
  /** The slot it occupies. */
  taken: Omit<OccupiedSlot, 'to' | 'ended'> | undefined;
  /** When its pods were last written, and when by the product. */
  lastAt: number;
  lastOursAt: number;
}

const takesSlot: Readonly<Record<SlotQuery['slot'], (pods: Node['pods']) => boolean>> = {
  down: (pods) => !pods.values().some((up) => up),
  doubled: (pods) => pods.size > 1,
};

/** A simulated kubelet may briefly reset Ready when a gate opens while it writes the status. */
const BLIP_MS = 500;

/** The periods in which nodes occupied a slot, from the API server's audit log. */
export const slotTimes = (records: readonly AuditRecord[], question: SlotQuery): OccupiedSlot[] => {
  const { namespace, app, user, since, slot } = question;
  const nodes = new Map<string, Node>();
  const found: OccupiedSlot[] = [];
  const changes = records
    .filter((record) => record.namespace === namespace && isPodChange(record))
    .toSorted((a, b) => versionOf(a) - versionOf(b));
  for (const record of changes) {
    const { receivedAt, answeredAt } = record;
    const pod = record.response as Pod;
    if (pod.metadata?.labels?.app !== app) continue;
    const name = nodeOf(pod);
    const node = nodes.get(name) ?? { pods: new Map(), taken: undefined, lastAt: answeredAt, lastOursAt: answeredAt };
    const { pods, taken } = node;
    const isFirst = !nodes.has(name);
    nodes.set(name, node);
    const uid = pod.metadata.uid ?? '';
    if (isTerminating(pod)) pods.delete(uid);
    else pods.set(uid, isUp(pod));
    const ours = record.user === user;
    if (ours && taken) {
      // After closing a gate the product need not wait for the kubelet before it patches the pod.
      const readyAt = record.verb === 'patch' && record.resource === 'pods' ? node.lastOursAt : node.lastAt;
      taken.lagMs += Math.max(0, answeredAt - readyAt);
    }
    if (ours) node.lastOursAt = answeredAt;
    node.lastAt = answeredAt;
    const takes = takesSlot[slot](pods);
    if (takes && !taken && !isFirst)
      node.taken = {
        node: name,
        requestedAt: receivedAt,
        from: answeredAt,
        lagMs: 0,
        began: versionOf(record),
        ours,
      };
    if (takes || !taken) continue;
    node.taken = undefined;
    const isBlip = !taken.ours && answeredAt - taken.from < BLIP_MS;
    if (taken.from >= since && !isBlip) found.push({ ...taken, to: answeredAt, ended: versionOf(record) });
  }
  return found;
};

/** The user's writes of DaemonRollouts, in the order in which the API server received them. */
export const rolloutWrites = (
  records: readonly AuditRecord[],
  { namespace, user, since }: Pick<SlotQuery, 'namespace' | 'user' | 'since'>,
): RolloutWrite[] => {
  const reserved = new Set<string>();
  return records
    .filter(
      (record) =>
        record.user === user &&
        record.namespace === namespace &&
        record.resource === 'daemonrollouts/status' &&
        record.verb === 'update' &&
        record.code < 300 &&
        record.receivedAt >= since,
    )
    .toSorted((a, b) => a.receivedAt - b.receivedAt)
    .map(({ receivedAt, answeredAt, request }) => {
      const { reservations = [] } = (request as DaemonRollout).status ?? {};
      const reserves = reservations
        .filter(({ node, carriedOut }) => !carriedOut && !reserved.has(node))
        .map(({ node }) => node);
      for (const node of reserves) reserved.add(node);
      return { receivedAt, answeredAt, reserves };
    });
};

export interface Calls {
  /** Writes to pods. */
  deletes: number;
  creates: number;
  patches: number;
  /** Writes of DaemonRollouts: reservations and status. */
  rollouts: number;
  /** Writes of the status of DaemonSets. */
  statuses: number;
  events: number;
  otherWrites: number;
  /** Gets and lists; watches are streams that stay open. */
  reads: number;
  /** Of these, gets of a pod. */
  podReads: number;
  /** Of these, lists of pods. */
  podLists: number;
  /** Of any kind, refused with 429 (Too Many Requests); in none of the others. */
  refused: number;
}

const TOO_MANY_REQUESTS = 429;

const kindOf = ({ verb, resource }: AuditRecord): keyof Calls => {
  const [plural] = resource.split('/');
  if (plural === 'pods') return verb === 'delete' ? 'deletes' : verb === 'create' ? 'creates' : 'patches';
  if (plural === 'daemonrollouts') return 'rollouts';
  if (resource === 'daemonsets/status') return 'statuses';
  return resource === 'events' ? 'events' : 'otherWrites';
};

export const callsOf = (records: readonly AuditRecord[], user: string, since: number): Calls => {
  const calls: Calls = {
    deletes: 0,
    creates: 0,
    patches: 0,
    rollouts: 0,
    statuses: 0,
    events: 0,
    otherWrites: 0,
    reads: 0,
    podReads: 0,
    podLists: 0,
    refused: 0,
  };
  for (const record of records) {
    const { verb, resource } = record;
    if (record.user !== user || record.receivedAt < since || verb === 'watch') continue;
    if (record.code === TOO_MANY_REQUESTS) calls.refused += 1;
    else if (verb !== 'get' && verb !== 'list') calls[kindOf(record)] += 1;
    else {
      calls.reads += 1;
      if (resource === 'pods') calls[verb === 'get' ? 'podReads' : 'podLists'] += 1;
    }
  }
  return calls;
};

export const podWrites = ({ deletes, creates, patches }: Calls): number => deletes + creates + patches;
