import { announcedRevision } from './need-upgrade.ts';
import type { PodFacts } from './pod.ts';

/** One pod whose node needs the images of another revision than the one that the pod runs. */
export interface ImageRequest {
  podUid: string;
  podName: string;
  /** The version of the pod that has the request. */
  resourceVersion: string;
  node: string;
  /** Hash label of the revision. */
  revision: string;
  /** The cause that was last reported; undefined before the first report. */
  failure: string | undefined;
  /** Hash label of the revision that the pod runs: only images that differ from its images are needed. Absent: all are. */
  runs?: string;
  /** How often the kubelet has deleted the images that were pulled ahead, and when that was last seen; absent: never. */
  deletions?: { count: number; seenAt: number };
}

/** The DaemonSet that the pods of a request belong to. */
export interface RequestingDaemonSet {
  namespace: string;
  name: string;
  uid: string;
  /** How long one try may take. */
  pullTimeoutMs: number;
  /** How many pulls may run at once. */
  parallelism: number;
}

/** Who pulls images. The controller of the pods passes requests on and does not know how they are served. */
export interface ImageRequests {
  /**
   * All current requests by the pods' UID; undefined when the DaemonSet is no longer served. The caller keeps updating the
   * same map, and calls this after each change.
   */
  update(daemonSet: RequestingDaemonSet, requests: ReadonlyMap<string, ImageRequest> | undefined): void;
}

/** The pod's request that is still to be served, and the last failure; undefined for none. */
export const openImageRequest = ({ images, terminating }: Pick<PodFacts, 'images' | 'terminating'>) => {
  if (!images || terminating || images.state === 'present') return undefined;
  const { revision, state, cause, at, deletions } = images;
  return {
    revision,
    failure: state === 'failed' ? cause : undefined,
    ...(deletions && { deletions: { count: deletions, seenAt: at } }),
  };
};

/**
 * Does the pod's owner request this revision? Only if it is announced and not halted: a request for another revision, or for
 * one that is no longer announced, is void.
 */
export const isRequestedByOwner = ({ announced }: Pick<PodFacts, 'announced'>, revision: string): boolean =>
  announced?.status === 'True' && announced.reason !== 'Halted' && announcedRevision(announced) === revision;
