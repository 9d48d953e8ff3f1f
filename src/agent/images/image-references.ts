import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';

const DEFAULT_HOST = 'docker.io';

/** Splits off the registry host like container runtimes do: a first part without `.`, `:` or capitals is not a host. */
const splitHost = (name: string): { host: string; path: string } => {
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  if (!/[.:]/.test(first) && first !== 'localhost' && first === first.toLowerCase())
    return { host: DEFAULT_HOST, path: name };
  return { host: first === `index.${DEFAULT_HOST}` ? DEFAULT_HOST : first, path: name.slice(slash + 1) };
};

/** The name without digest and tag; a colon before the last slash belongs to a port. */
const splitTag = (image: string): { name: string; versioned: boolean } => {
  const at = image.indexOf('@');
  const undigested = at < 0 ? image : image.slice(0, at);
  const colon = undigested.lastIndexOf(':');
  const tagged = colon > undigested.lastIndexOf('/');
  return { name: tagged ? undigested.slice(0, colon) : undigested, versioned: tagged || at >= 0 };
};

/** `registry/path` without tag and digest, used to look up pull secrets: `docker.io/library/busybox` for `busybox`. */
export const repositoryOf = (image: string): string => {
  const { host, path } = splitHost(splitTag(image).name);
  return host === DEFAULT_HOST && !path.includes('/') ? `${host}/library/${path}` : `${host}/${path}`;
};

/** The image as the kubelet passes it to the runtime: short names stay short, only the tag becomes explicit. */
export const withDefaultTag = (image: string): string => (splitTag(image).versioned ? image : `${image}:latest`);

/** Whether the name can refer to a new version later; Kubernetes' default for these is to always pull. */
const isLatest = (image: string): boolean => {
  const full = withDefaultTag(image);
  return full.endsWith(':latest') && !full.includes('@');
};

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

export interface WantedImage {
  /** The name as passed to the runtime. */
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

/** A volume of type image, which the types in use do not contain yet. */
interface ImageVolume {
  image?: { reference?: string; pullPolicy?: string };
}

const imageVolumes = (spec: PodSpec): Source[] =>
  (spec.volumes ?? []).flatMap((volume) => {
    const { image } = volume as ImageVolume;
    return image ? [{ image: image.reference ?? '', policy: image.pullPolicy }] : [];
  });

/** Every image that a pod of this template needs, once, with the strongest policy that any container sets for it. */
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
