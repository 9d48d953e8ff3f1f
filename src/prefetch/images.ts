import type { PodSpec, Volume } from 'kubernetes-types/core/v1.d.ts';

/** One image of a pod template, and how the template wants it pulled. */
export interface PullImage {
  image: string;
  policy: string | undefined;
}

/** The types that we have are older than image volumes. */
type ImageVolume = Volume & { image?: { reference?: string; pullPolicy?: string } };

/** Whoever asks more of the registry wins: two containers of one image may differ. */
const STRENGTH: readonly (string | undefined)[] = ['Never', undefined, 'IfNotPresent', 'Always'];

/** Those images of a template that a pod which runs `other` has not brought to its node. */
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
