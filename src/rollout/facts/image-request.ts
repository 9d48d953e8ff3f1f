import { announcedRevision } from './need-upgrade.ts';
import type { PodFacts } from './types.ts';

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
  /** Hash label of the revision that the pod runs, where only images that this one has not are wanted; else all are. */
  runs?: string;
  /** An agent is there that pulls: it is given time to begin. */
  byAgent?: true;
}

/** The DaemonSet that the pods of a request belong to. */
export interface RequestingDaemonSet {
  namespace: string;
  name: string;
  uid: string;
  /** How long one try may take. */
  pullTimeoutMs: number;
  /** Pulls under way at once. */
  parallelism: number;
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

/** What the pod asks of whoever can pull, and what came of it so far; undefined for nothing. */
export const openImageRequest = ({ images, terminating }: Pick<PodFacts, 'images' | 'terminating'>) => {
  if (!images || terminating || images.byAgent || images.state === 'present') return undefined;
  return { revision: images.revision, failure: images.state === 'failed' ? images.cause : undefined };
};

/**
 * Does the pod's owner ask for this revision? It is announced to him, and not halted. What he asked for another revision,
 * or one that is not announced any more, stands for nothing.
 */
export const isRequestedByOwner = ({ announced }: Pick<PodFacts, 'announced'>, revision: string): boolean =>
  announced?.status === 'True' && announced.reason !== 'Halted' && announcedRevision(announced) === revision;
