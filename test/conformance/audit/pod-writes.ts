import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';
import { type ClusterState, livePods, nodeOf, type PodState } from './cluster-state.ts';
import { belongs } from './eligible.ts';

const IN_PLACE_GATE = 'InPlaceUpdateReady';
const LIFECYCLE_GATE = 'KruisePodReady';
const HASH = 'controller-revision-hash';

export type PodWriteKind =
  /** The first write of what takes a pod away: its delete, or what prepares it. */
  | 'delete'
  /** The first write of a change in place. */
  | 'in-place'
  /** A new pod beside an old one. */
  | 'surge'
  /** The first write of what takes one of several pods of a node away. */
  | 'delete-surged-out'
  /** A pod on a node that has none. */
  | 'create'
  /** Takes away what has ended, is one too many, or does not belong there. */
  | 'clean-up'
  /** Goes on with what was started before. */
  | 'continue';

/** What one write to a pod of the DaemonSet was. */
export interface PodWrite {
  kind: PodWriteKind;
  /** Of the pod that was there before; of the new one where none was. */
  node: string;
  /** As it was before the write; undefined for one that is created. */
  pod: PodState | undefined;
  record: AuditRecord;
  /** Hash of the revision that the write brings to the node; undefined when it brings none. */
  brings?: string;
}

/** Whether it begins to bring a node to another revision. */
export const isUpdate = ({ kind }: Pick<PodWrite, 'kind'>): boolean =>
  kind === 'delete' || kind === 'in-place' || kind === 'surge';

/** What of a pod was started and has not come to its end. */
interface Started {
  shutForChange?: boolean;
  leaves?: boolean;
}

/** Whether a write of a pod's status opens or shuts gates, and does nothing else. */
export const isGateWrite = ({ request }: AuditRecord): boolean => {
  const conditions = (request as Pod | undefined)?.status?.conditions ?? [];
  return conditions.length > 0 && conditions.every(({ type }) => type === IN_PLACE_GATE || type === LIFECYCLE_GATE);
};

const isShutBy = (record: AuditRecord, gate: string): boolean =>
  (record.request as Pod | undefined)?.status?.conditions?.some(
    ({ type, status }) => type === gate && status === 'False',
  ) ?? false;

/** Whether a write puts a pod back into service that was taken out of it for a change in place. */
export const isBackInService = ({ resource, request }: AuditRecord): boolean =>
  resource === 'pods/status' &&
  ((request as Pod | undefined)?.status?.conditions?.some(
    ({ type, status }) => type === IN_PLACE_GATE && status === 'True',
  ) ??
    false);

/** Tells what each write of a DaemonSet's controller was, from what was the case before it: `read` before `apply`. */
export const createPodWriteReader = (state: ClusterState) => {
  const started = new Map<string, Started>();

  const takesAway = (pod: PodState): PodWriteKind => {
    if (started.get(pod.uid)?.leaves || pod.deleting) return 'continue';
    const node = state.nodes.get(pod.node);
    if (state.ended || pod.over || !node || !belongs(state, node, 'to stay')) return 'clean-up';
    const others = livePods(state, pod.node).filter(({ uid }) => uid !== pod.uid);
    if (others.length === 0) return 'delete';
    return others.some(({ hash }) => hash === pod.hash) ? 'clean-up' : 'delete-surged-out';
  };

  const patched = (pod: PodState, record: AuditRecord): Pick<PodWrite, 'kind' | 'brings'> | undefined => {
    const so = started.get(pod.uid) ?? {};
    const note = (more: Started): void => void started.set(pod.uid, { ...so, ...more });
    if (record.resource === 'pods/status') {
      if (isShutBy(record, IN_PLACE_GATE) && !pod.shut.has(IN_PLACE_GATE)) {
        note({ shutForChange: true });
        return { kind: 'in-place' };
      }
      if (isShutBy(record, LIFECYCLE_GATE) && !pod.shut.has(LIFECYCLE_GATE)) {
        const kind = takesAway(pod);
        note({ leaves: true });
        return { kind };
      }
      return undefined;
    }
    const { labels } = (record.response as Pod).metadata ?? {};
    const brings = labels?.[HASH] ?? '';
    if (brings !== pod.hash) {
      note({ shutForChange: false });
      return { kind: so.shutForChange ? 'continue' : 'in-place', brings };
    }
    const prepares = labels?.['lifecycle.apps.kruise.io/state'] === 'PreparingDelete';
    if (prepares && !pod.preparing) {
      const kind = takesAway(pod);
      note({ leaves: true });
      return { kind };
    }
    if (!prepares && pod.preparing) note({ leaves: false });
    return undefined;
  };

  return {
    /** Undefined: it begins nothing and takes nothing away, or the pod is not the DaemonSet's. */
    read(record: AuditRecord): PodWrite | undefined {
      const { group, resource, verb } = record;
      if (group !== '' || !/^pods\b/.test(resource)) return undefined;
      const after = record.response as Pod;
      const uid = after.metadata?.uid ?? '';
      const pod = state.pods.get(uid);
      if (verb === 'create' && resource === 'pods') {
        const owner = after.metadata?.ownerReferences?.find(({ controller }) => controller);
        if (owner?.uid !== state.daemonSet?.metadata?.uid || state.ended) return undefined;
        const node = nodeOf(after);
        const brings = after.metadata?.labels?.[HASH] ?? '';
        const kind = livePods(state, node).length > 0 ? 'surge' : 'create';
        return { kind, node, pod: undefined, record, brings };
      }
      if (!pod) return undefined;
      const step =
        verb === 'delete' && resource === 'pods'
          ? { kind: takesAway(pod) }
          : verb === 'patch'
            ? patched(pod, record)
            : undefined;
      return step && { ...step, node: pod.node, pod, record };
    },
  };
};
