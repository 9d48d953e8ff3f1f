import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import {
  hasCondition,
  hashIn,
  IN_PLACE_GATE,
  isControlledBy,
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
  /** The first write that takes away one of several pods of a node. */
  | 'delete-surged-out'
  /** A pod on a node that has none. */
  | 'create'
  /** Takes away a pod that has ended, is surplus, or does not belong on its node. */
  | 'clean-up'
  /** Continues what an earlier write began. */
  | 'continue';

/** What one write to a pod of the DaemonSet was for. */
export interface PodWrite {
  kind: PodWriteKind;
  /** Of the pod that existed before; of the new pod where there was none. */
  node: string;
  /** As it was before the write; undefined for a pod that is created. */
  pod: PodState | undefined;
  record: AuditRecord;
  /** Hash of the revision that the write brings to the node; undefined when it brings none. */
  brings?: string;
}

/** Whether the write begins to bring a node to another revision. */
export const isUpdate = ({ kind }: Pick<PodWrite, 'kind'>): boolean =>
  kind === 'delete' || kind === 'in-place' || kind === 'surge';

/** How the update begins that a write is the first of. */
export const startOf = ({ kind, record }: PodWrite): StartedUpdate['kind'] => {
  if (kind === 'in-place' || kind === 'surge') return kind;
  return record.verb === 'delete' ? 'delete' : 'prepare';
};

const isPatchOfGate = ({ request }: AuditRecord, gate: string, status: 'True' | 'False'): boolean =>
  hasCondition(request as Pod | undefined, gate, status);

/** Whether a write of a pod's status opens or closes gates, and does nothing else. */
export const isGateWrite = ({ request }: AuditRecord): boolean => {
  const conditions = (request as Pod | undefined)?.status?.conditions ?? [];
  return conditions.length > 0 && conditions.every(({ type }) => type === IN_PLACE_GATE || type === LIFECYCLE_GATE);
};

/** Whether the write reopens a pod that was taken out of service for an in-place update. */
export const isBackInService = (record: AuditRecord): boolean =>
  record.resource === 'pods/status' && isPatchOfGate(record, IN_PLACE_GATE, 'True');

/** Updates and deletions of a pod that have begun and not ended. */
interface Started {
  closedForUpdate?: boolean;
  leaving?: boolean;
}

/** Classifies each write of a DaemonSet's controller by the state before it: call `read` before `apply`. */
export const createPodWriteReader = (state: ClusterState) => {
  const started = new Map<string, Started>();

  const deletionKind = (pod: PodState): PodWriteKind => {
    if (started.get(pod.uid)?.leaving || pod.terminating) return 'continue';
    const node = state.nodes.get(pod.node);
    if (isDeleted(state) || pod.ended || !node || !mayHavePod(state, node, 'to stay')) return 'clean-up';
    const others = livePods(state, pod.node).filter(({ uid }) => uid !== pod.uid);
    if (others.length === 0) return 'delete';
    return others.some(({ hash }) => hash === pod.hash) ? 'clean-up' : 'delete-surged-out';
  };

  const patchKind = (pod: PodState, record: AuditRecord): Pick<PodWrite, 'kind' | 'brings'> | undefined => {
    const before = started.get(pod.uid) ?? {};
    const note = (more: Started): void => void started.set(pod.uid, { ...before, ...more });
    const closes = (gate: string): boolean => isPatchOfGate(record, gate, 'False') && !pod.shut.includes(gate);
    const beginDeletion = (): Pick<PodWrite, 'kind'> => {
      const kind = deletionKind(pod);
      note({ leaving: true });
      return { kind };
    };
    if (record.resource === 'pods/status') {
      if (closes(IN_PLACE_GATE)) {
        note({ closedForUpdate: true });
        return { kind: 'in-place' };
      }
      return closes(LIFECYCLE_GATE) ? beginDeletion() : undefined;
    }
    const after = record.response as Pod;
    const brings = hashIn(after) ?? '';
    if (brings !== pod.hash) {
      note({ closedForUpdate: false });
      return { kind: before.closedForUpdate ? 'continue' : 'in-place', brings };
    }
    const prepares = isPreparingDelete(after);
    if (prepares && !pod.preparing) return beginDeletion();
    if (!prepares && pod.preparing) note({ leaving: false });
    return undefined;
  };

  return {
    /** Undefined: it begins nothing and takes nothing away, or the pod is not the DaemonSet's. */
    read(record: AuditRecord): PodWrite | undefined {
      const { group, resource, verb } = record;
      if (group !== '' || !/^pods\b/.test(resource)) return undefined;
      const after = record.response as Pod;
      if (verb === 'create' && resource === 'pods') {
        if (!isControlledBy(after, state.daemonSet?.metadata?.uid) || isDeleted(state)) return undefined;
        const node = nodeOf(after);
        const kind = livePods(state, node).length > 0 ? 'surge' : 'create';
        return { kind, node, pod: undefined, record, brings: hashIn(after) ?? '' };
      }
      const pod = state.pods.get(after.metadata?.uid ?? '');
      if (!pod) return undefined;
      const isDelete = verb === 'delete' && resource === 'pods';
      const write = isDelete ? { kind: deletionKind(pod) } : verb === 'patch' ? patchKind(pod, record) : undefined;
      return write && { ...write, node: pod.node, pod, record };
    },
  };
};
