import type { Pod } from 'kubernetes-types/core/v1.d.ts';
import { type ImageReady, imageReadyOf } from './image-ready.ts';
import { announcedRevision, needUpgradeOf } from './need-upgrade.ts';

/** One pod whose node is to get the images of another revision than the one that it runs. */
export interface ImageRequest {
  podUid: string;
  podName: string;
  /** The version of the pod in which the request stands. */
  resourceVersion: string;
  node: string;
  /** Hash label of the revision. */
  revision: string;
  /** The cause that was reported last; undefined before the first report. */
  failure: string | undefined;
}

/** The DaemonSet that the pods of a request belong to. */
export interface RequestingDaemonSet {
  namespace: string;
  name: string;
  uid: string;
  /** How long one try may take. */
  pullTimeoutMs: number;
}

/**
 * Whoever makes images present, as the controller of the pods sees it: it tells what is asked for and knows nothing of
 * how that is done.
 */
export interface ImageRequests {
  /**
   * All that is asked for now, by the pods' UID; undefined when the DaemonSet is served no more. The map is kept up to
   * date, and each change of it told.
   */
  update(daemonSet: RequestingDaemonSet, requests: ReadonlyMap<string, ImageRequest> | undefined): void;
}

/** It becomes part of a label selector, and anybody who may write the condition may have written it. */
const HASH = /^[a-z0-9]{1,63}$/;

/** The revision that the pod's update leads to and may be made to: none while its rollout is halted. */
const announcedOf = (pod: Pod): string | undefined => {
  const found = needUpgradeOf(pod);
  if (found?.status !== 'True' || found.reason === 'Halted') return undefined;
  const revision = announcedRevision(found);
  return HASH.test(revision) ? revision : undefined;
};

const isOpen = ({ status, reason, byAgent }: ImageReady): boolean =>
  !byAgent && status === 'False' && (reason === 'PullingImage' || reason === 'PullImageFail');

/**
 * What the conditions of a pod ask for: the images of the announced revision, until they are there. A request for a
 * revision that is not the announced one, or not any more, stands for nothing.
 */
export const askedRevision = (pod: Pod): { revision: string; failure: string | undefined } | undefined => {
  const ready = imageReadyOf(pod);
  if (!ready || !isOpen(ready) || ready.revision !== announcedOf(pod)) return undefined;
  return { revision: ready.revision, failure: ready.reason === 'PullImageFail' ? ready.message : undefined };
};
