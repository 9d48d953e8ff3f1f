import type { PodSpec, Volume } from 'kubernetes-types/core/v1.d.ts';

/** One image of a pod template, with its pull policy. */
export interface PullImage {
  image: string;
  policy: string | undefined;
}

/** The types in use are older than image volumes. */
type ImageVolume = Volume & { image?: { reference?: string; pullPolicy?: string } };

/** The policy that asks more of the registry wins: two containers with one image may differ. */
const STRENGTH: readonly (string | undefined)[] = ['Never', undefined, 'IfNotPresent', 'Always'];

/** The images of a template that a running pod of template `other` lacks. */
export const imagesBeyond = (spec: PodSpec, other: PodSpec | undefined): PullImage[] => {
  const there = new Set(other && imagesOf(other).map(({ image }) => image));
  return imagesOf(spec).filter(({ image }) => !there.has(image));
};

/**
 * The distinct images that a pod of this template needs on its node: of containers, init containers (sidecars among
 * them) and image volumes, in the order of their first mention.
 */
export const imagesOf = (spec: PodSpec): PullImage[] => {
  const found = new Map<string, string | undefined>();
  const add = (image: string | undefined, policy: string | undefined): void => {
    if (!image) return;
    const known = found.get(image);
    const stronger = !found.has(image) || STRENGTH.indexOf(policy) > STRENGTH.indexOf(known);
    if (stronger) found.set(image, policy);
  };
  for (const { image, imagePullPolicy } of spec.initContainers ?? []) add(image, imagePullPolicy);
  for (const { image, imagePullPolicy } of spec.containers) add(image, imagePullPolicy);
  const volumes: readonly ImageVolume[] = spec.volumes ?? [];
  for (const { image } of volumes) add(image?.reference, image?.pullPolicy);
  return [...found].map(([image, policy]) => ({ image, policy }));
};
