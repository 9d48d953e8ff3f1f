import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  askedOf,
  hasCondition,
  hashIn,
  IN_PLACE_GATE,
  isControlledBy,
  isLive,
  isPreparingDelete,
  LIFECYCLE_GATE,
  nodeOf,
} from '../../invariants/index.ts';
import type { AuditRecord } from '../audit/audit-record.ts';
import { type ClusterState, isDeleted, livePods, mayHavePod, type PodState } from './cluster-state.ts';
import type { StartedUpdate } from './follow-updates.ts';

export type PodWriteKind =
  /** The first write that takes a pod away: its delete, or the preparation of it. */
  | 'delete'
  /** The first write of an in-place update. */
  | 'in-place'
  /** A new pod beside an old one. */
  | 'surge'
  /** The first write that takes away one of several pods of a node, or of several at one revision. */
  | 'delete-surged-out'
  | 'delete-twin'
  /** A pod on a node that has none. */
  | 'create'
  /** Takes away a pod that has ended, or does not belong on its node. */
  | 'clean-up'
  /** Continues what an earlier write began. */
  | 'continue';

/** What one write to a pod of the DaemonSet was for. */
export interface PodWrite {
  kind: PodWriteKind;
  /** Of the pod that existed before; of the new pod where there was none. */
  node: string;
  /** As it was before the write; of a surge, the old pod; undefined for a pod on a node that has none. */
  pod: PodState | undefined;
  record: AuditRecord;
  /** Hash of the revision that the write brings to the node; undefined when it brings none. */
  brings?: string | undefined;
}

/** A write to a pod that exists: a call on its way, or a record of the log. */
export interface Written {
  verb: string;
  /** The patch, if it was recorded. */
  request: unknown;
  /** The pod after it. */
  response?: unknown;
}

/** Whether the write begins to bring a node to another revision. */
export const isUpdate = ({ kind }: Pick<PodWrite, 'kind'>): boolean =>
  kind === 'delete' || kind === 'in-place' || kind === 'surge';

/** How the update begins that a write is the first of. */
export const startOf = ({
  kind,
  record,
}: {
  kind: PodWriteKind;
  record: Pick<Written, 'verb'>;
}): StartedUpdate['kind'] => {
  if (kind === 'in-place' || kind === 'surge') return kind;
  return record.verb === 'delete' ? 'delete' : 'prepare';
};

/** The pod beside which a pod is created: one that lives, or one of another revision that has ended and still exists. */
export const podReplacedBySurge = (pods: readonly PodState[], created: unknown): PodState | undefined => {
  const present = pods.filter(({ terminating }) => !terminating);
  return present.find(isLive) ?? present.find(({ hash }) => hash !== hashIn(created as Pod));
};

/** Whether a write of a pod's status opens or closes gates, and does nothing else. */
export const isGateWrite = ({ request }: AuditRecord): boolean => {
  const conditions = (request as Pod | undefined)?.status?.conditions ?? [];
  return conditions.length > 0 && conditions.every(({ type }) => type === IN_PLACE_GATE || type === LIFECYCLE_GATE);
};

/** Tells what the writes of a DaemonSet's controller are for, by the state before them. */
export const createPodWriteReader = (state: ClusterState) => {
  /** By UID: the revision of a pod that was taken out of service for an in-place update. */
  const closed = new Map<string, string>();
  /** UIDs of pods whose deletion was prepared: they were taken out of service, or their hooks have had their turn. */
  const leaving = new Set<string>();

  const mayStay = (pod: PodState): boolean => {
    const node = state.nodes.get(pod.node);
    return node !== undefined && mayHavePod(state, node, 'to stay');
  };
  const deletionOf = (pod: PodState, belongs: boolean): PodWriteKind => {
    if (pod.terminating || pod.ended || isDeleted(state) || !belongs) return 'clean-up';
    const others = livePods(state, pod.node).filter(({ uid }) => uid !== pod.uid);
    if (others.length === 0) return 'delete';
    return others.some(({ hash }) => hash === pod.hash) ? 'delete-twin' : 'delete-surged-out';
  };

  /** Undefined: it begins nothing and takes nothing away. `belongs`: the pod may stay on its node. */
  const purposeOf = ({ verb, request, response }: Written, pod: PodState, belongs = mayStay(pod)) => {
    const asked = askedOf(request ?? response);
    const closes = (gate: string): boolean =>
      verb !== 'delete' && hasCondition(request as Pod | undefined, gate, 'False');
    if (verb === 'delete' || isPreparingDelete(asked) || closes(LIFECYCLE_GATE)) {
      const isPrepared = leaving.has(pod.uid) && (pod.preparing || pod.shut.includes(LIFECYCLE_GATE));
      return { kind: deletionOf(pod, belongs), continues: pod.terminating || isPrepared };
    }
    const hash = hashIn(asked);
    const brings = hash === pod.hash ? undefined : hash;
    if (brings === undefined && !closes(IN_PLACE_GATE)) return undefined;
    const continues = closed.get(pod.uid) === pod.hash && pod.shut.includes(IN_PLACE_GATE);
    return { kind: 'in-place' as const, continues, brings };
  };
  /** The write was executed. */
  const note = ({ uid, hash }: PodState, kind: PodWriteKind, { verb }: Written): void => {
    if (kind === 'in-place') closed.set(uid, hash);
    else if (verb !== 'delete') leaving.add(uid);
  };

  return {
    purposeOf,
    /** Reads the records of a log: call it before the state has applied them. Undefined: also where the pod is not the DaemonSet's. */
    read(record: AuditRecord): PodWrite | undefined {
      const { group, resource, verb } = record;
      if (group !== '' || !/^pods\b/.test(resource)) return undefined;
      const after = record.response as Pod;
      if (verb === 'create' && resource === 'pods') {
        if (!isControlledBy(after, state.daemonSet?.metadata?.uid) || isDeleted(state)) return undefined;
        const node = nodeOf(after);
        const pod = podReplacedBySurge(state.podsOn(node), after);
        return { kind: pod ? 'surge' : 'create', node, pod, record, brings: hashIn(after) ?? '' };
      }
      const pod = state.pods.get(after.metadata?.uid ?? '');
      if (!pod || (verb === 'delete' ? resource !== 'pods' : verb !== 'patch')) return undefined;
      const purpose = purposeOf(record, pod);
      if (!purpose) return undefined;
      const { kind, continues, ...more } = purpose;
      note(pod, kind, record);
      return { kind: continues ? 'continue' : kind, ...more, node: pod.node, pod, record };
    },
  };
};
