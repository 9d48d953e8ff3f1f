import type { Container, EphemeralContainer, Pod } from 'kubernetes-types/core/v1.d.ts';

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const LISTS = ['containers', 'initContainers', 'ephemeralContainers'] as const;

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** References to Secrets and ConfigMaps stay: they don't contain the value. */
const withoutValue = (variable: unknown): unknown => {
  if (!isRecord(variable) || !('value' in variable)) return variable;
  const { value: _hidden, ...rest } = variable;
  return rest;
};

const withoutValues = (container: unknown): unknown =>
  isRecord(container) && Array.isArray(container.env)
    ? { ...container, env: container.env.map(withoutValue) }
    : container;

/** The annotation can contain anything, not only a valid pod. It is removed if it can't be parsed. */
const appliedWithoutValues = (text: string): string | undefined => {
  let applied: unknown;
  try {
    applied = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(applied)) return undefined;
  if (!isRecord(applied.spec)) return JSON.stringify(applied);
  const spec = { ...applied.spec };
  for (const list of LISTS) if (Array.isArray(spec[list])) spec[list] = spec[list].map(withoutValues);
  return JSON.stringify({ ...applied, spec });
};

const hideEnv = <T extends Container | EphemeralContainer>(containers: readonly T[]): T[] =>
  containers.map((container) =>
    container.env === undefined
      ? container
      : { ...container, env: container.env.map(({ value: _hidden, ...rest }) => rest) },
  );

/** A copy of the pod without literal env values and managedFields, safe to serve and to save. */
export const sanitizePod = (pod: Pod): Pod => {
  const { managedFields: _dropped, ...metadata } = pod.metadata ?? {};
  const applied = metadata.annotations?.[LAST_APPLIED];
  if (applied !== undefined) {
    const { [LAST_APPLIED]: _replaced, ...annotations } = metadata.annotations ?? {};
    const shown = appliedWithoutValues(applied);
    metadata.annotations = shown === undefined ? annotations : { ...annotations, [LAST_APPLIED]: shown };
  }
  const { spec } = pod;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    ...pod,
    metadata,
    ...(spec && {
      spec: {
        ...spec,
        containers: hideEnv(spec.containers ?? []),
        ...(spec.initContainers && { initContainers: hideEnv(spec.initContainers) }),
        ...(spec.ephemeralContainers && { ephemeralContainers: hideEnv(spec.ephemeralContainers) }),
      },
    }),
  };
};
