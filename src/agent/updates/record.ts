import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { compareVersions } from '../../kube/index.ts';
import { approvedRevision } from '../../rollout/index.ts';
import type { ContainerImage, DaemonSetRef, Decision, Owner } from '../types.ts';
import { type Announcement, announcementOf, imagesOf, isTerminating, revisionOf } from './announcement.ts';

/** The administrator's settings for updates of one DaemonSet. Times are epoch milliseconds. */
export interface Terms {
  ota: boolean;
  deadline: { at: number; spreadMs: number } | undefined;
}

/** An update in progress: from the write until the new pod is ready. */
export interface UpdateInProgress {
  /** As of the end of the write. */
  decision: Decision;
  fromRevision: string;
  toRevision: string;
  startedAt: number;
  /** Why the new pod fails, once the history shows it. */
  failure?: string;
}

/** What this node knows about one DaemonSet in OTA mode. Saved on disk, so that it is available offline. */
export interface UpdateRecord extends Owner {
  running: { revision: string; images: ContainerImage[] };
  announced: Announcement;
  /** UID of the pod with the announcement. */
  announcedBy: string;
  /** Of the announced revision; null until it was read. */
  details: { images: ContainerImage[]; publishedAt: string | null; notes: string | null } | null;
  terms: Terms | null;
  updateInProgress: UpdateInProgress | null;
}

export const refKey = ({ namespace, daemonSet }: DaemonSetRef): string => `${namespace}/${daemonSet}`;

/** Of several pods of a DaemonSet on this node: the newest one that isn't terminating, otherwise the newest. */
export const currentPod = (pods: readonly Pod[]): Pod | undefined => {
  const rank = (pod: Pod): string => `${isTerminating(pod) ? 0 : 1}${pod.metadata?.creationTimestamp ?? ''}`;
  return pods.reduce<Pod | undefined>((best, pod) => (best && rank(best) >= rank(pod) ? best : pod), undefined);
};

/**
 * The record after observing these pods of the DaemonSet. Undefined when there is nothing to decide: the DaemonSet is not in
 * OTA mode or does not run here. The manager announces on a new pod shortly after it appears; until then, and while an
 * update waits for its pod, the previous announcement applies.
 */
export const nextRecord = (
  owner: Owner,
  pods: readonly Pod[],
  before: UpdateRecord | undefined,
): UpdateRecord | undefined => {
  const same = before?.uid === owner.uid ? before : undefined;
  const pod = currentPod(pods);
  const announcement = pod && announcementOf(pod);
  const running =
    pod && (!same || !isTerminating(pod))
      ? { revision: revisionOf(pod), images: imagesOf(pod.spec) }
      : (same?.running ?? { revision: '', images: [] });
  if (!announcement && (!same || (pod ? pod.metadata?.uid === same.announcedBy : !same.updateInProgress)))
    return undefined;
  const announced =
    announcement ?? unannounced(same?.announced ?? { revision: '', need: 'no', reason: '' }, running.revision);
  const details =
    (same?.announced.revision === announced.revision ? same.details : null) ??
    (running.revision === announced.revision ? { images: running.images, publishedAt: null, notes: null } : null);
  // After a change of target, don't wait for the update to the previous one.
  const continues =
    same?.updateInProgress?.toRevision === announced.revision && !(pod && wasWithdrawn(pod, same.updateInProgress));
  const updateInProgress = continues ? same.updateInProgress : null;
  const announcedBy = announcement ? (pod?.metadata?.uid ?? '') : (same?.announcedBy ?? '');
  return { ...owner, running, announced, announcedBy, details, terms: same?.terms ?? null, updateInProgress };
};

/** The pod is newer than the approval, was not updated, and no longer carries the approval. */
const wasWithdrawn = (pod: Pod, { decision: { act }, toRevision }: UpdateInProgress): boolean => {
  if (act?.kind !== 'approve' || pod.metadata?.uid !== act.podUid || revisionOf(pod) === toRevision) return false;
  const since = compareVersions(pod.metadata.resourceVersion ?? '', act.podResourceVersion ?? '') ?? 0;
  return since > 0 && approvedRevision(pod) !== toRevision;
};

const unannounced = (before: Announcement, runs: string): Announcement =>
  before.revision === runs ? { revision: runs, need: 'no', reason: 'UpToDate' } : before;
