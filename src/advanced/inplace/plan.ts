import { isDeepStrictEqual } from 'node:util';
import type { Container, PodSpec, PodTemplateSpec, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import { qosOf, resizable } from './resources.ts';

/** What of a running pod is changed to bring it from one template to another. */
export interface InPlacePlan {
  kind: 'in-place';
  /** Containers and restartable init containers, with the image that they get. */
  images: Readonly<Record<string, string>>;
  /** Containers whose cpu or memory changes, with all that they are to have. */
  resources: Readonly<Record<string, ResourceRequirements>>;
  /** Labels and annotations that change; null takes one away. */
  labels: Readonly<Record<string, string | null>>;
  annotations: Readonly<Record<string, string | null>>;
}

/** `why` completes "the pod is replaced, because". */
export type Plan = InPlacePlan | { kind: 'recreate'; why: string };

type Texts = Readonly<Record<string, string>>;
type Changes = Readonly<Record<string, string | null>>;

/** What a merge patch has to say to make one map of the other. */
const changedKeys = (from: Texts = {}, to: Texts = {}): Changes =>
  Object.fromEntries(
    [...new Set([...Object.keys(from), ...Object.keys(to)])]
      .filter((key) => from[key] !== to[key])
      .map((key) => [key, to[key] ?? null]),
  );

const FIELD = /^metadata\.(labels|annotations)\['(.*)'\]$/;

/** Whether the container takes one of the changed entries into its environment, which is read only when it starts. */
const readsMetadata = ({ env = [] }: Container, labels: Changes, annotations: Changes): boolean =>
  env.some(({ valueFrom }) => {
    const [, kind, key = ''] = FIELD.exec(valueFrom?.fieldRef?.fieldPath ?? '') ?? [];
    return kind !== undefined && key in (kind === 'labels' ? labels : annotations);
  });

const recreate = (why: string): Plan => ({ kind: 'recreate', why });

/** Runs beside the containers for the pod's life; a plain init container has run already, and never runs again. */
const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/** Containers that can be exchanged in a running pod. */
export const updatableContainers = (spec: PodSpec | undefined): Container[] => [
  ...(spec?.initContainers ?? []).filter(isSidecar),
  ...(spec?.containers ?? []),
];

const byName = (containers: readonly Container[]): Map<string, Container> =>
  new Map(containers.map((container) => [container.name, container]));

/** The spec without what can be changed in place: two of them are equal when nothing else differs. */
const rest = (spec: PodSpec | undefined): unknown => {
  const bare = (container: Container): unknown => {
    const { image: _, resources, ...others } = container;
    return { ...others, resources: resizable.without(resources) };
  };
  return {
    ...spec,
    containers: spec?.containers.map(bare),
    ...(spec?.initContainers && {
      initContainers: spec.initContainers.map((container) => (isSidecar(container) ? bare(container) : container)),
    }),
  };
};

const firstDifference = (a: unknown, b: unknown, path: string): string => {
  const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isRecord(a) || !isRecord(b)) return path;
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)]))
    if (!isDeepStrictEqual(a[key], b[key])) return firstDifference(a[key], b[key], `${path}.${key}`);
  return path;
};

/**
 * Whether a pod of one template can become one of another while it runs: images of containers and sidecars, labels,
 * annotations, and cpu and memory may differ, and nothing else. Both templates have all defaults.
 */
export const planInPlace = (from: PodTemplateSpec, to: PodTemplateSpec): Plan => {
  const { labels: oldLabels, annotations: oldAnnotations, ...oldMeta } = from.metadata ?? {};
  const { labels: newLabels, annotations: newAnnotations, ...newMeta } = to.metadata ?? {};
  const [oldRest, newRest] = [rest(from.spec), rest(to.spec)];
  if (!isDeepStrictEqual(oldMeta, newMeta))
    return recreate(`${firstDifference(oldMeta, newMeta, 'metadata')} of the template differs`);
  if (!isDeepStrictEqual(oldRest, newRest))
    return recreate(`${firstDifference(oldRest, newRest, 'spec')} of the template differs`);

  const labels = changedKeys(oldLabels, newLabels);
  const annotations = changedKeys(oldAnnotations, newAnnotations);
  const reader = updatableContainers(to.spec).find((container) => readsMetadata(container, labels, annotations));
  if (reader) return recreate(`container ${reader.name} reads a changed label or annotation when it starts`);

  const before = byName(updatableContainers(from.spec));
  const images: Record<string, string> = {};
  const resources: Record<string, ResourceRequirements> = {};
  for (const { name, image, resources: wanted } of updatableContainers(to.spec)) {
    const old = before.get(name);
    if (image !== undefined && image !== old?.image) images[name] = image;
    if (isDeepStrictEqual(old?.resources ?? {}, wanted ?? {})) continue;
    const obstacle = resizable.obstacle(old?.resources, wanted);
    if (obstacle !== undefined) return recreate(`container ${name} ${obstacle}`);
    resources[name] = wanted ?? {};
  }
  if (Object.keys(resources).length > 0 && qosOf(from.spec) !== qosOf(to.spec))
    return recreate(`its quality of service changes from ${qosOf(from.spec)} to ${qosOf(to.spec)}`);
  return { kind: 'in-place', images, resources, labels, annotations };
};
