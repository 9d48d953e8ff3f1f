import { hash } from 'node:crypto';
import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';

/** Kubernetes' own templates have twenty levels; the API server lets those of a CRD have thousands, which no stack holds. */
const MOST_LEVELS = 200;

/** JSON with sorted keys, without nulls and without the patch directive that a ControllerRevision's data carries. */
const canonical = (value: unknown, level = 0): unknown => {
  if (level > MOST_LEVELS) throw new Error(`the pod template has more than ${MOST_LEVELS} levels: remove some of them`);
  if (Array.isArray(value)) return value.map((each) => canonical(each, level + 1));
  if (typeof value !== 'object' || value === null) return value;
  const fields = value as Readonly<Record<string, unknown>>;
  const sorted: Record<string, unknown> = {};
  for (const key of Object.keys(fields).toSorted()) {
    const inner = fields[key];
    if (inner !== null && inner !== undefined && key !== '$patch') sorted[key] = canonical(inner, level + 1);
  }
  return sorted;
};

// Caches return the same template objects again and again.
const digests = new WeakMap<object, string>();

/**
 * A digest to compare a ControllerRevision's template with a DaemonSet's. It does not replace Kubernetes' template hash,
 * which is never computed here: pods are compared by their label alone.
 */
export const templateDigest = (template: unknown): string => {
  if (typeof template !== 'object' || template === null) return digestOf(template ?? null);
  const known = digests.get(template);
  if (known !== undefined) return known;
  const digest = digestOf(template);
  digests.set(template, digest);
  return digest;
};

const digestOf = (template: unknown): string => hash('sha256', JSON.stringify(canonical(template)), 'base64url');

/** The pod template in a DaemonSet's ControllerRevision; undefined if there is none. */
export const recordedTemplate = ({ data }: ControllerRevision): object | undefined => {
  const { spec } = (data ?? {}) as { spec?: { template?: unknown } | null };
  const template = spec?.template;
  return typeof template === 'object' && template !== null ? template : undefined;
};
