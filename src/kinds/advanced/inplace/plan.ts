import { isDeepStrictEqual } from 'node:util';
import type { Container, PodSpec, PodTemplateSpec, ResourceRequirements } from 'kubernetes-types/core/v1.d.ts';
import { impliedPullPolicies } from './pull-policy.ts';
import { qosOf, resizable } from './resources.ts';

/** The changes that update a running pod from one template to another. */
export interface InPlacePlan {
  kind: 'in-place';
  /** New images of containers and sidecars. */
  images: Readonly<Record<string, string>>;
  /** Complete resources of containers whose cpu or memory changes. */
  resources: Readonly<Record<string, ResourceRequirements>>;
  /** Labels and annotations that change; null removes one. */
  labels: Readonly<Record<string, string | null>>;
  annotations: Readonly<Record<string, string | null>>;
}

/** `why` completes "the pod is recreated because". */
export type Plan = InPlacePlan | { kind: 'recreate'; why: string };

type Texts = Readonly<Record<string, string>>;
type Changes = Readonly<Record<string, string | null>>;

/** The merge patch that turns one map into the other. */
const changedKeys = (from: Texts = {}, to: Texts = {}): Changes =>
  Object.fromEntries(
    [...new Set([...Object.keys(from), ...Object.keys(to)])]
      .filter((key) => from[key] !== to[key])
      .map((key) => [key, to[key] ?? null]),
  );

const FIELD = /^metadata\.(labels|annotations)\['(.*)'\]$/;

/** Does an environment variable of the container refer to a changed entry? It is only set when the container starts. */
const readsMetadata = ({ env = [] }: Container, labels: Changes, annotations: Changes): boolean =>
  env.some(({ valueFrom }) => {
    const [, kind, key = ''] = FIELD.exec(valueFrom?.fieldRef?.fieldPath ?? '') ?? [];
    return kind !== undefined && key in (kind === 'labels' ? labels : annotations);
  });

const recreate = (why: string): Plan => ({ kind: 'recreate', why });

/** A restartable init container. Other init containers have completed and never run again. */
const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === 'Always';

/** Containers that can be restarted with another image in a running pod. */
export const updatableContainers = (spec: PodSpec | undefined): Container[] => [
  ...(spec?.initContainers ?? []).filter(isSidecar),
  ...(spec?.containers ?? []),
];

const byName = (containers: readonly Container[]): Map<string, Container> =>
  new Map(containers.map((container) => [container.name, container]));

/**
 * The spec without the fields that can be updated in place, and without the pull policies of these containers: a running pod
 * keeps its own.
 */
const immutablePart = (spec: PodSpec | undefined, keepPullPolicy: ReadonlySet<string>): unknown => {
  const bare = (container: Container): unknown => {
    const { image: _, resources, imagePullPolicy, ...others } = container;
    const policy = keepPullPolicy.has(container.name) ? {} : { imagePullPolicy };
    return { ...others, ...policy, resources: resizable.without(resources) };
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
 * Plans the in-place update of a pod between two templates, both with all defaults. It is possible if only images of
 * containers and sidecars, labels, annotations, cpu and memory differ. `stated`: the newer template without defaults.
 */
export const planInPlace = (from: PodTemplateSpec, to: PodTemplateSpec, stated: PodTemplateSpec | undefined): Plan => {
  const { labels: oldLabels, annotations: oldAnnotations, ...oldMeta } = from.metadata ?? {};
  const { labels: newLabels, annotations: newAnnotations, ...newMeta } = to.metadata ?? {};
  const implied = impliedPullPolicies(from.spec, to.spec, stated?.spec);
  const [oldRest, newRest] = [immutablePart(from.spec, implied), immutablePart(to.spec, implied)];
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
    const blocker = resizable.blocker(old?.resources, wanted);
    if (blocker !== undefined) return recreate(`container ${name} ${blocker}`);
    resources[name] = wanted ?? {};
  }
  if (Object.keys(resources).length > 0 && qosOf(from.spec) !== qosOf(to.spec))
    return recreate(`its quality of service changes from ${qosOf(from.spec)} to ${qosOf(to.spec)}`);
  return { kind: 'in-place', images, resources, labels, annotations };
};
