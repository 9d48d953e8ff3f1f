import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, type DaemonRollout, TEMPLATE_NOT_OBSERVED } from '../../rollout/index.ts';
import {
  type Announcement,
  announcementOf,
  daemonSetOf,
  imageBlockOf,
  isTerminating,
  type Owner,
  type Terms,
} from '../updates/index.ts';
import { type Refusal, refuse } from './refusal.ts';

/** A pod that may be updated, as far as it says itself. */
export interface Candidate {
  pod: Pod;
  owner: Owner;
  announced: Announcement;
}

/** A pod that may be updated as far as its DaemonSet says, too. */
export interface EligibleCandidate extends Candidate {
  /** As they are now: what is kept of them may be as old as the last update, for they are watched while one waits. */
  terms: Terms;
}

export const nameOf = ({ metadata }: Pod): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;

export const isRefusal = (value: object): value is Refusal => 'status' in value && 'text' in value;

/**
 * What a pod itself says against its update: the compatible routes' checks, in their order and with OpenYurt's phrases.
 * `images: false` leaves out the one on images, for the route that has them pulled.
 */
export const checkPod = (pod: Pod, node: string, { images }: { images: boolean }): Candidate | Refusal => {
  const name = nameOf(pod);
  if (isTerminating(pod)) return refuse('Deleting', 403, `Pod ${name} is deleting, can not be updated`);
  const runsOn = pod.spec?.nodeName ?? '';
  if (runsOn !== node)
    return refuse('OtherNode', 403, `Pod ${name} is running on ${runsOn || 'no node'}, can not be updated`);
  const announced = announcementOf(pod);
  if (!announced || announced.need === 'no')
    return refuse('NoUpdate', 403, `Pod ${name} update status is False, can not be updated`);
  if (announced.need === 'withheld')
    return refuse('NoUpdate', 403, `Pod ${name} update status is False, can not be updated: ${announced.reason}`);
  const blocked = images ? imageBlockOf(pod, announced.revision) : undefined;
  if (blocked !== undefined) return refuse('ImageNotReady', 403, `Pod ${name} image is not ready, ${blocked}`);
  const references = pod.metadata?.ownerReferences ?? [];
  if (references.length === 0) return refuse('NoOwner', 400, 'Pod has no owner references');
  const owner = daemonSetOf(pod);
  if (!owner) {
    const { kind = '', apiVersion = '' } = controllerOf(pod) ?? references[0] ?? {};
    const origin = kind === 'DaemonSet' ? ` of ${apiVersion}` : '';
    return refuse('OtherOwner', 400, `Not support ota upgrade pod type ${kind}${origin}`);
  }
  return { pod, owner, announced };
};

/** Does the manager say of the DaemonSet as it is now that this revision is its target? */
export const isTargetOf = (daemonSet: DaemonSet, rollout: DaemonRollout | undefined, revision: string): boolean => {
  const { generation = 0 } = daemonSet.metadata ?? {};
  const { observedGeneration, target, conditions = [] } = rollout?.status ?? {};
  const isObserved = (daemonSet.status?.observedGeneration ?? 0) >= generation && observedGeneration === generation;
  return isObserved && target?.hash === revision && !conditions.some(({ reason }) => reason === TEMPLATE_NOT_OBSERVED);
};

/** What the pod's DaemonSet and its rollout say; `terms` undefined for a DaemonSet that is gone. */
export const checkOwner = (
  candidate: Candidate,
  terms: Terms | undefined,
  rollout: DaemonRollout | undefined,
): EligibleCandidate | Refusal => {
  const { pod, owner, announced } = candidate;
  const name = nameOf(pod);
  if (!terms?.ota)
    return refuse(
      'NotOta',
      403,
      `Pod ${name} can not be updated: its DaemonSet ${owner.daemonSet} is not in the OTA mode any more`,
    );
  const { status } = rollout ?? {};
  // A rollout that speaks of another revision says nothing of this one.
  const isHalted =
    status?.target?.hash === announced.revision &&
    status.conditions?.some((condition) => condition.type === 'Halted' && condition.status === 'True');
  if (announced.need === 'halted' || isHalted)
    return refuse('Halted', 403, `Pod ${name} can not be updated: the rollout of ${announced.revision} is halted`);
  return { ...candidate, terms };
};
