import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { isLatest, withDefaultTag } from './reference.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface WantedImage {
  /** As the runtime is asked for it. */
  image: string;
  policy: PullPolicy;
}

interface Source {
  image: string;
  policy: string | undefined;
}

const strength: Readonly<Record<PullPolicy, number>> = { Never: 0, IfNotPresent: 1, Always: 2 };

const policyOf = ({ image, policy }: Source): PullPolicy => {
  if (policy === 'Always' || policy === 'IfNotPresent' || policy === 'Never') return policy;
  return isLatest(image) ? 'Always' : 'IfNotPresent';
};

/** A volume made of an image, which the types in use do not know yet. */
interface ImageVolume {
  image?: { reference?: string; pullPolicy?: string };
}

const imageVolumes = (spec: PodSpec): Source[] =>
  (spec.volumes ?? []).flatMap((volume) => {
    const { image } = volume as ImageVolume;
    return image ? [{ image: image.reference ?? '', policy: image.pullPolicy }] : [];
  });

/** Every image that a pod of this template needs, once; where containers differ on the policy, the one that pulls more. */
export const imagesOf = (spec: PodSpec): readonly WantedImage[] => {
  const containers = [...(spec.initContainers ?? []), ...spec.containers];
  const sources: Source[] = [
    ...containers.map(({ image = '', imagePullPolicy }) => ({ image, policy: imagePullPolicy })),
    ...imageVolumes(spec),
  ];
  const wanted = new Map<string, PullPolicy>();
  for (const source of sources) {
    if (source.image === '') continue;
    const image = withDefaultTag(source.image);
    const policy = policyOf(source);
    const known = wanted.get(image);
    if (known === undefined || strength[policy] > strength[known]) wanted.set(image, policy);
  }
  return [...wanted].map(([image, policy]) => ({ image, policy }));
};
