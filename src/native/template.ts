import { createHash } from 'node:crypto';

/** JSON with sorted keys, without nulls and without the patch directive that a ControllerRevision's data carries. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => inner !== null && inner !== undefined && key !== '$patch')
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, canonical(inner)]),
  );
};

/**
 * Tells whether a ControllerRevision holds the template that a DaemonSet has now. It is no substitute for Kubernetes'
 * template hash, which is never computed here: pods are compared by their label alone.
 */
export const templateDigest = (template: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(canonical(template)))
    .digest('base64url');
