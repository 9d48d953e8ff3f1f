import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { announcedRevision, controllerOf, imageReadyOf, needUpgradeOf } from '../../rollout/index.ts';
import { type ContainerImage, type Owner, type WithheldReason, withheldReasons } from '../types.ts';

const GROUPS: ReadonlySet<string> = new Set(['apps', 'apps.kruise.io']);
const REVISION_LABEL = 'controller-revision-hash';

export const groupOf = (apiVersion: string): string => apiVersion.split('/', 1)[0] ?? '';

/** Whether it is an Advanced DaemonSet: then the manager updates, and the agent only records the owner's approval. */
export const isAdvanced = ({ apiVersion }: Pick<Owner, 'apiVersion'>): boolean => groupOf(apiVersion) !== 'apps';

/** Undefined unless the pod belongs to a DaemonSet of `apps` or `apps.kruise.io`. */
export const daemonSetOf = (pod: Pod): Owner | undefined => {
  const owner = controllerOf(pod);
  if (owner?.kind !== 'DaemonSet' || !GROUPS.has(groupOf(owner.apiVersion))) return undefined;
  const { apiVersion, uid, name } = owner;
  return { namespace: pod.metadata?.namespace ?? '', daemonSet: name, apiVersion, uid };
};

/** What the manager announces to the owner on a pod. */
export type Announcement = {
  /** Hash label of the target revision. */
  revision: string;
} & (
  | {
      need: 'yes' | 'no' | 'halted';
      /** The manager's reason, such as `UpToDate`. */
      reason: string;
    }
  /** The pod does not run the target, which is not offered for now. */
  | { need: 'withheld'; reason: WithheldReason }
);

/** A new version is announced to the owner: to decide on, or halted. */
export const isOffered = ({ need }: Pick<Announcement, 'need'>): boolean => need === 'yes' || need === 'halted';

export const revisionOf = (pod: Pod): string => pod.metadata?.labels?.[REVISION_LABEL] ?? '';

/** Undefined without an announcement, and for one that names no revision. */
export const announcementOf = (pod: Pod): Announcement | undefined => {
  const condition = needUpgradeOf(pod);
  const revision = condition ? announcedRevision(condition) : '';
  if (!condition || revision === '') return undefined;
  const { status, reason } = condition;
  if (status !== 'True') {
    if (reason === 'UpToDate' || revisionOf(pod) === revision) return { revision, need: 'no', reason };
    return { revision, need: 'withheld', reason: withheldReasons.find((known) => known === reason) ?? 'NotOffered' };
  }
  return { revision, need: reason === 'Halted' ? 'halted' : 'yes', reason };
};

export const imagesOf = (spec: { containers?: readonly { name: string; image?: string }[] } | undefined) =>
  (spec?.containers ?? []).map(({ name, image = '' }): ContainerImage => ({ container: name, image }));

/** Why the images block the update of this pod to `revision`; undefined if they are ready or were never requested. */
export const imageBlockOf = (pod: Pod, revision: string): string | undefined => {
  const image = imageReadyOf(pod);
  if (!image || (image.status === 'True' && image.revision === revision)) return undefined;
  const record = image.revision === revision || image.revision === '' ? '' : `, for revision ${image.revision}`;
  const cause = image.message === '' ? '' : `: ${image.message}`;
  return `reason: ${image.reason}${record}${cause}`;
};

export const isTerminating = (pod: Pod): boolean => pod.metadata?.deletionTimestamp != null;
