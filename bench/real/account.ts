import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from '../../test/conformance/index.ts';
import type { Taken } from '../measure/slots.ts';

const isChange = ({ code, group, resource, response }: AuditRecord): boolean =>
  code >= 200 &&
  code < 300 &&
  group === '' &&
  resource.startsWith('pods') &&
  (response as Pod | undefined)?.kind === 'Pod';

const versionOf = ({ response }: AuditRecord): number => Number((response as Pod).metadata?.resourceVersion ?? 0);

const nodeOf = ({ spec }: Pod): string => {
  const required = spec?.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return spec?.nodeName ?? required?.nodeSelectorTerms[0]?.matchFields?.[0]?.values?.[0] ?? '';
};

const isTrue = ({ status }: Pod, type: string): boolean =>
  status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

const isEnding = ({ metadata }: Pod): boolean => metadata?.deletionTimestamp !== undefined;

/** Condition Ready follows a gate with a delay: whoever shut one has taken the pod out of service by that. */
const isUp = (pod: Pod): boolean =>
  !isEnding(pod) &&
  isTrue(pod, 'Ready') &&
  (pod.spec?.readinessGates ?? []).every(({ conditionType }) => isTrue(pod, conditionType));

export interface Question {
  namespace: string;
  /** Label `app` of the pods. */
  app: string;
  /** Whose writes are acts. */
  user: string;
  /** ms since the epoch. */
  since: number;
  /** When a node has a slot: while it has no available pod, or while it has two that are not ending. */
  slot: 'down' | 'doubled';
}

/** What is known of one node. */
interface Node {
  /** Its pods that are not ending, by UID: are they up? */
  pods: Map<string, boolean>;
  /** The slot that it has, but for its end. */
  taken: Omit<Taken, 'to' | 'ended'> | undefined;
  /** When something was last written to its pods, and when by the product. */
  lastAt: number;
  lastOursAt: number;
}

const takesSlot: Readonly<Record<Question['slot'], (pods: Node['pods']) => boolean>> = {
  down: (pods) => !pods.values().some((up) => up),
  doubled: (pods) => pods.size > 1,
};

/** A simulated kubelet may take Ready back for so long when a gate is opened while it writes: by the gates of before. */
const BLIP_MS = 500;

/** The times in which nodes had a slot, as the API server's log has it. */
export const slotTimes = (records: readonly AuditRecord[], question: Question): Taken[] => {
  const { namespace, app, user, since, slot } = question;
  const nodes = new Map<string, Node>();
  const found: Taken[] = [];
  const changes = records
    .filter((record) => record.namespace === namespace && isChange(record))
    .toSorted((a, b) => versionOf(a) - versionOf(b));
  for (const record of changes) {
    const { answeredAt } = record;
    const pod = record.response as Pod;
    if (pod.metadata?.labels?.app !== app) continue;
    const name = nodeOf(pod);
    const node = nodes.get(name) ?? { pods: new Map(), taken: undefined, lastAt: answeredAt, lastOursAt: answeredAt };
    const { pods, taken } = node;
    const isFirst = !nodes.has(name);
    nodes.set(name, node);
    const uid = pod.metadata.uid ?? '';
    if (isEnding(pod)) pods.delete(uid);
    else pods.set(uid, isUp(pod));
    const ours = record.user === user;
    if (ours && taken) {
      // Whoever shut a gate need not wait for the kubelet before the change itself.
      const readyAt = record.verb === 'patch' && record.resource === 'pods' ? node.lastOursAt : node.lastAt;
      taken.lagMs += Math.max(0, answeredAt - readyAt);
    }
    if (ours) node.lastOursAt = answeredAt;
    node.lastAt = answeredAt;
    const takes = takesSlot[slot](pods);
    if (takes && !taken && !isFirst)
      node.taken = { node: name, from: answeredAt, lagMs: 0, began: versionOf(record), ours };
    if (takes || !taken) continue;
    node.taken = undefined;
    const isBlip = !taken.ours && answeredAt - taken.from < BLIP_MS;
    if (taken.from >= since && !isBlip) found.push({ ...taken, to: answeredAt, ended: versionOf(record) });
  }
  return found;
};

export interface Calls {
  /** Writes to pods. */
  deletes: number;
  creates: number;
  patches: number;
  /** Writes of rollout objects: reservations and status. */
  rollouts: number;
  /** Writes of the status of DaemonSets. */
  statuses: number;
  events: number;
  otherWrites: number;
  /** Gets and lists; watches are streams that stay open. */
  reads: number;
  /** Of these, of pods. */
  podReads: number;
}

const kindOf = ({ verb, resource }: AuditRecord): keyof Calls => {
  const [plural] = resource.split('/');
  if (plural === 'pods') return verb === 'delete' ? 'deletes' : verb === 'create' ? 'creates' : 'patches';
  if (plural === 'daemonrollouts') return 'rollouts';
  if (resource === 'daemonsets/status') return 'statuses';
  return resource === 'events' ? 'events' : 'otherWrites';
};

/** What one user asked of the API server from `since` on. */
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
  };
  for (const record of records) {
    const { verb, resource } = record;
    if (record.user !== user || record.receivedAt < since || verb === 'watch') continue;
    if (verb !== 'get' && verb !== 'list') calls[kindOf(record)] += 1;
    else {
      calls.reads += 1;
      if (resource === 'pods') calls.podReads += 1;
    }
  }
  return calls;
};

export const podWrites = ({ deletes, creates, patches }: Calls): number => deletes + creates + patches;
