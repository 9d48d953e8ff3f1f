import type { ContainerStatus, Pod } from 'kubernetes-types/core/v1.d.ts';
import { daemonRolloutLimits as limits } from '../../words/index.ts';
import { isStatusUpToDate, withoutStaleStatuses } from './openkruise.ts';

/** What a kubelet reports of the content that it runs for one image. */
export interface ImageReport {
  /** The image, as the pod's spec names it. */
  image: string;
  /** What gave the digest its meaning: only digests of one source can be compared. */
  source: string;
  digest: string;
}

export const noReports: readonly ImageReport[] = [];

const DIGEST = /^sha(?:256:[0-9a-f]{64}|384:[0-9a-f]{96}|512:[0-9a-f]{128})$/;

/** `docker://` and `docker-pullable://`, with which Docker's shim begins an ID. */
const SCHEME = /^docker(?:-pullable)?:\/\//;

/** Docker leaves out what containerd writes. */
const HUB = /^docker\.io\/(?:library\/)?/;

/**
 * The two forms of an image ID: `REPOSITORY@DIGEST`, where the digest is of a manifest or of a multi-architecture list, and a digest alone,
 * which is of the image's local configuration (after an import, for example). Undefined for any other.
 */
export const parseImageId = (imageId: string): { repository: string; digest: string } | undefined => {
  if (imageId.length > 2 * limits.image) return undefined;
  const name = imageId.replace(SCHEME, '');
  const at = name.lastIndexOf('@');
  const digest = name.slice(at + 1);
  return DIGEST.test(digest) ? { repository: name.slice(0, Math.max(0, at)).replace(HUB, ''), digest } : undefined;
};

/**
 * An image may have several digests, of its lists and of its manifests, and under each name that it has on a node. The kubelet reports
 * one of them: CRI-O the first in alphabetical order, others that of the list. So repositories are kept apart, as is CRI-O.
 */
const sourceOf = (repository: string, { containerID = '' }: ContainerStatus): string =>
  containerID.startsWith('cri-o://') ? `cri-o ${repository}` : repository;

/** Twice the images of a template that are compared: a pod may have containers that its template lacks. */
const MOST_REPORTS = 2 * limits.images;

const MOST_SHARED = 1_000;
/** The nodes of a rollout report the same few lists: pods share them. */
const shared = new Map<string, readonly ImageReport[]>();

const share = (reports: readonly ImageReport[]): readonly ImageReport[] => {
  const key = reports.map(({ image, source, digest }) => `${image} ${source} ${digest}`).join('\n');
  const known = shared.get(key);
  if (known) return known;
  if (shared.size >= MOST_SHARED) shared.clear();
  shared.set(key, reports);
  return reports;
};

/**
 * What the containers of a pod run, as far as it can be known and can differ between nodes; one entry for each content. A container
 * that has crashed counts: its image may be the reason. Nothing while the status may be about an earlier spec.
 */
export const imageReportsOf = (pod: Pod): readonly ImageReport[] => {
  if (isStatusUpToDate(pod) === false) return noReports;
  const { spec, status } = withoutStaleStatuses(pod);
  const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
  if (statuses.every(({ imageID }) => !imageID)) return noReports;
  const reports: ImageReport[] = [];
  for (const { name, image = '' } of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    // An image that is named by its digest cannot differ.
    if (image === '' || image.includes('@') || image.length > limits.image) continue;
    const container = statuses.find((each) => each.name === name);
    const id = container && parseImageId(container.imageID);
    if (!id || reports.length >= MOST_REPORTS) continue;
    const source = sourceOf(id.repository, container);
    const isKnown = reports.some((each) => each.image === image && each.source === source && each.digest === id.digest);
    if (!isKnown) reports.push({ image, source, digest: id.digest });
  }
  return reports.length > 0 ? share(reports) : noReports;
};
