/** A field in which two templates differ; undefined on the side that lacks it. */
export interface Difference {
  /** For example `spec.containers[web].image`. */
  path: string;
  from: unknown;
  to: unknown;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The items of a list by name, so that inserting an item doesn't make all later ones differ. */
const byName = (list: readonly unknown[]): Map<string, unknown> | undefined => {
  const named = new Map(
    list.flatMap((item) => (isRecord(item) && typeof item.name === 'string' ? [[item.name, item]] : [])),
  );
  return named.size === list.length ? named : undefined;
};

const step = (path: string, key: string): string => {
  if (!/^[\w-]+$/.test(key)) return `${path}["${key}"]`;
  return path === '' ? key : `${path}.${key}`;
};

/** The differences between two templates, field by field, sorted by path. */
export const diffTemplates = (from: unknown, to: unknown, path = ''): Difference[] => {
  if (Array.isArray(from) && Array.isArray(to)) {
    const [old, next] = [byName(from), byName(to)];
    if (old && next)
      return [...new Set([...old.keys(), ...next.keys()])].flatMap((name) =>
        diffTemplates(old.get(name), next.get(name), `${path}[${name}]`),
      );
    const length = Math.max(from.length, to.length);
    return Array.from({ length }).flatMap((_, index) => diffTemplates(from[index], to[index], `${path}[${index}]`));
  }
  if (isRecord(from) && isRecord(to)) {
    const keys = [...new Set([...Object.keys(from), ...Object.keys(to)])].toSorted();
    return keys.flatMap((key) => diffTemplates(from[key], to[key], step(path, key)));
  }
  // Go serializes some unset fields as null.
  if ((from ?? undefined) === (to ?? undefined)) return [];
  return [{ path, from: from ?? undefined, to: to ?? undefined }];
};

/** Strings that need no quotes: no spaces, not a number, not a literal. */
const UNMISTAKABLE = /^(?!(?:true|false|null|-?[\d.]+)$)[\x21-\x7e]+$/;

/** A value of a field, as people read it. */
export const shown = (value: unknown): string => {
  if (value === undefined) return '(not set)';
  return typeof value === 'string' && UNMISTAKABLE.test(value) ? value : JSON.stringify(value);
};

/** `spec.containers[web].image: web:2 -> web:1` */
export const renderDifference = ({ path, from, to }: Difference): string => `${path}: ${shown(from)} -> ${shown(to)}`;
