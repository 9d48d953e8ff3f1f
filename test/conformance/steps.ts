import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import type { AuditRecord } from './audit-record.ts';
import { belongs } from './eligible.ts';
import { livePods, nodeOf, type PodTruth, type Truth } from './truth.ts';

const IN_PLACE_GATE = 'InPlaceUpdateReady';
const LIFECYCLE_GATE = 'KruisePodReady';
const HASH = 'controller-revision-hash';

export type StepKind =
  /** The first write of what takes a pod away: its delete, or what prepares it. */
  | 'delete'
  /** The first write of a change in place. */
  | 'change'
  /** A new pod beside an old one. */
  | 'surge'
  /** The first write of what takes one of several pods of a node away. */
  | 'retire'
  /** A pod on a node that has none. */
  | 'create'
  /** Takes away what has ended, is one too many, or does not belong there. */
  | 'tidy'
  /** Goes on with what was begun before. */
  | 'go on';

/** What one write to a pod of the DaemonSet was. */
export interface Step {
  kind: StepKind;
  /** Of the pod that was there before; of the new one where none was. */
  node: string;
  /** As it was before the write; undefined for one that is created. */
  pod: PodTruth | undefined;
  record: AuditRecord;
  /** Hash of the revision that the write brings to the node; undefined when it brings none. */
  brings?: string;
}

/** Whether it begins to bring a node to another revision. */
export const isAct = ({ kind }: Pick<Step, 'kind'>): boolean =>
  kind === 'delete' || kind === 'change' || kind === 'surge';

/** What of a pod was begun and has not come to its end. */
interface Begun {
  shutForChange?: boolean;
  leaves?: boolean;
}

/** Whether a write of a pod's status opens or shuts gates, and does nothing else. */
export const isGateCall = ({ request }: AuditRecord): boolean => {
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
export const createStepReader = (truth: Truth) => {
  const begun = new Map<string, Begun>();

  const takesAway = (pod: PodTruth): StepKind => {
    if (begun.get(pod.uid)?.leaves || pod.deleting) return 'go on';
    const node = truth.nodes.get(pod.node);
    if (truth.ended || pod.over || !node || !belongs(truth, node, 'to stay')) return 'tidy';
    const others = livePods(truth, pod.node).filter(({ uid }) => uid !== pod.uid);
    if (others.length === 0) return 'delete';
    return others.some(({ hash }) => hash === pod.hash) ? 'tidy' : 'retire';
  };

  const patched = (pod: PodTruth, record: AuditRecord): Pick<Step, 'kind' | 'brings'> | undefined => {
    const so = begun.get(pod.uid) ?? {};
    const note = (more: Begun): void => void begun.set(pod.uid, { ...so, ...more });
    if (record.resource === 'pods/status') {
      if (isShutBy(record, IN_PLACE_GATE) && !pod.shut.has(IN_PLACE_GATE)) {
        note({ shutForChange: true });
        return { kind: 'change' };
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
      return { kind: so.shutForChange ? 'go on' : 'change', brings };
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
    read(record: AuditRecord): Step | undefined {
      const { group, resource, verb } = record;
      if (group !== '' || !/^pods\b/.test(resource)) return undefined;
      const after = record.response as Pod;
      const uid = after.metadata?.uid ?? '';
      const pod = truth.pods.get(uid);
      if (verb === 'create' && resource === 'pods') {
        const owner = after.metadata?.ownerReferences?.find(({ controller }) => controller);
        if (owner?.uid !== truth.daemonSet?.metadata?.uid || truth.ended) return undefined;
        const node = nodeOf(after);
        const brings = after.metadata?.labels?.[HASH] ?? '';
        const kind = livePods(truth, node).length > 0 ? 'surge' : 'create';
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
