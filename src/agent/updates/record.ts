import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { compareVersions } from '../../kube/index.ts';
import { approvedRevision } from '../../rollout/index.ts';
import type { ContainerImage, DaemonSetRef, Decision } from '../types.ts';
import { type Announcement, announcementOf, imagesOf, isTerminating, type Owner, revisionOf } from './announcement.ts';

/** What the administrator says of updates of one DaemonSet. Times are epoch milliseconds. */
export interface Terms {
  ota: boolean;
  deadline: { at: number; spreadMs: number } | undefined;
}

/** An act that was carried out, until the pod that it made room for is ready. */
export interface Episode {
  /** As it was when it was settled. */
  decision: Decision;
  fromRevision: string;
  toRevision: string;
  startedAt: number;
  /** Why the new pod does not work, once that was written to the history. */
  failure?: string;
}

/** What this node knows of one DaemonSet whose owner decides. Kept on disk: it must be told without a network too. */
export interface UpdateRecord extends Owner {
  running: { revision: string; images: ContainerImage[] };
  announced: Announcement;
  /** UID of the pod that carries the announcement. */
  toldBy: string;
  /** Of the announced revision; null while it could not be read. */
  details: { images: ContainerImage[]; publishedAt: string | null } | null;
  terms: Terms | null;
  episode: Episode | null;
}

export const refKey = ({ namespace, daemonSet }: DaemonSetRef): string => `${namespace}/${daemonSet}`;

/** The pod that counts of those that a DaemonSet has here: the newest, those that are on their way out last. */
export const currentPod = (pods: readonly Pod[]): Pod | undefined => {
  const rank = (pod: Pod): string => `${isTerminating(pod) ? 0 : 1}${pod.metadata?.creationTimestamp ?? ''}`;
  return pods.reduce<Pod | undefined>((best, pod) => (best && rank(best) >= rank(pod) ? best : pod), undefined);
};

/**
 * What is known once these pods of the DaemonSet are seen; undefined when its owner has nothing to decide: it is not, or
 * no longer, in the OTA mode, or does not run here. A new pod is told a moment after it appears; until then, and while an
 * act waits for its pod, what was told before holds.
 */
export const nextRecord = (
  owner: Owner,
  pods: readonly Pod[],
  before: UpdateRecord | undefined,
): UpdateRecord | undefined => {
  const same = before?.uid === owner.uid ? before : undefined;
  const pod = currentPod(pods);
  const told = pod && announcementOf(pod);
  const running =
    pod && (!same || !isTerminating(pod))
      ? { revision: revisionOf(pod), images: imagesOf(pod.spec) }
      : (same?.running ?? { revision: '', images: [] });
  if (!told && (!same || (pod ? pod.metadata?.uid === same.toldBy : !same.episode))) return undefined;
  const announced = told ?? untold(same?.announced ?? { revision: '', need: 'no', reason: '' }, running.revision);
  const details =
    (same?.announced.revision === announced.revision ? same.details : null) ??
    (running.revision === announced.revision ? { images: running.images, publishedAt: null } : null);
  // Another target: what was begun for the one before is no longer waited for.
  const goesOn = same?.episode?.toRevision === announced.revision && !(pod && isForgotten(pod, same.episode));
  const episode = goesOn ? same.episode : null;
  const toldBy = told ? (pod?.metadata?.uid ?? '') : (same?.toldBy ?? '');
  return { ...owner, running, announced, toldBy, details, terms: same?.terms ?? null, episode };
};

/** The pod is newer than the approval, has not been brought to the revision, and does not carry the approval any more. */
const isForgotten = (pod: Pod, { decision: { act }, toRevision }: Episode): boolean => {
  if (act?.kind !== 'approve' || pod.metadata?.uid !== act.podUid || revisionOf(pod) === toRevision) return false;
  const since = compareVersions(pod.metadata.resourceVersion ?? '', act.podResourceVersion ?? '') ?? 0;
  return since > 0 && approvedRevision(pod) !== toRevision;
};

const untold = (before: Announcement, runs: string): Announcement =>
  before.revision === runs ? { revision: runs, need: 'no', reason: 'UpToDate' } : before;
