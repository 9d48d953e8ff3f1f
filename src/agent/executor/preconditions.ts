import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, INTERNAL_ERROR, TEMPLATE_NOT_OBSERVED } from '../../rollout/index.ts';
import type { DaemonRollout } from '../../words/index.ts';
import type { Owner } from '../types.ts';
import {
  type Announcement,
  announcementOf,
  daemonSetOf,
  imageBlockOf,
  isTerminating,
  type Terms,
} from '../updates/index.ts';
import { type Refusal, refuse } from './refusal.ts';

/** A pod that can be updated, according to the pod itself. */
export interface Candidate {
  pod: Pod;
  owner: Owner;
  announced: Announcement;
}

/** A pod that can be updated, according to its DaemonSet and rollout, too. */
export interface EligibleCandidate extends Candidate {
  /** Just read. The tracker's copy may be outdated, because it watches the DaemonSet only while an update is pending. */
  terms: Terms;
}

export const nameOf = ({ metadata }: Pod): string => `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`;

/**
 * Checks the pod itself: the checks of the YurtHub routes, in their order and with OpenYurt's texts. `images: false` skips
 * the check of the images, for the route that pulls them.
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

/** Reasons of the conditions of a rollout whose target may be that of an older template. */
const withoutTarget: ReadonlySet<string> = new Set([TEMPLATE_NOT_OBSERVED, INTERNAL_ERROR]);

/** Whether the manager has observed the current generation of the DaemonSet and reports this revision as its target. */
export const isTargetOf = (daemonSet: DaemonSet, rollout: DaemonRollout | undefined, revision: string): boolean => {
  const { generation = 0 } = daemonSet.metadata ?? {};
  const { daemonSetGeneration, target, conditions = [] } = rollout?.status ?? {};
  const isObserved = (daemonSet.status?.observedGeneration ?? 0) >= generation && daemonSetGeneration === generation;
  return isObserved && target?.hash === revision && !conditions.some(({ reason }) => withoutTarget.has(reason));
};

/** Checks the pod's DaemonSet and rollout; `terms` is undefined if the DaemonSet is gone. */
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
      `Pod ${name} can not be updated: its DaemonSet ${owner.daemonSet} is no longer in OTA mode`,
    );
  const { status } = rollout ?? {};
  // A rollout of another revision says nothing about this one.
  const isHalted =
    status?.target?.hash === announced.revision &&
    status.conditions?.some((condition) => condition.type === 'Halted' && condition.status === 'True');
  if (announced.need === 'halted' || isHalted)
    return refuse('Halted', 403, `Pod ${name} can not be updated: the rollout of ${announced.revision} is halted`);
  return { ...candidate, terms };
};
