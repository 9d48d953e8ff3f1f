import { createHash } from 'node:crypto';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';

/** JSON with sorted keys, without nulls and without the patch directive that a ControllerRevision's data carries. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => inner !== null && inner !== undefined && key !== '$patch')
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
};

/**
 * Tells whether a ControllerRevision holds the template that a DaemonSet has now. It is no substitute for Kubernetes'
 * template hash, which is never computed here: pods are compared by their label alone.
 */
export const templateDigest = (template: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(template ?? null)))
    .digest('base64url');

/** The pod template that a DaemonSet's ControllerRevision keeps; undefined when there is none. */
export const recordedTemplate = ({ data }: ControllerRevision): object | undefined => {
  const { spec } = (data ?? {}) as { spec?: { template?: unknown } | null };
  const template = spec?.template;
  return typeof template === 'object' && template !== null ? template : undefined;
};
