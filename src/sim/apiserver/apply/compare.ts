import type { Shape } from '../schema/index.ts';
import { equal } from '../value/index.ts';
import { type FieldSet, fieldsOf, parts, SELF, union } from './field-set.ts';

export interface Comparison {
  /** Fields that are new or have another value. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const SAME: Comparison = { changed: undefined, removed: undefined };
const LEAF: FieldSet = Object.freeze({});

const thing = (shape: Shape, set: FieldSet): FieldSet =>
  shape.form === 'list' || shape.form === 'map'
    ? Object.keys(set).length === 0
      ? set
      : { [SELF]: LEAF, ...set }
    : set;

/** What differs between two values of one shape. Shared parts are not walked. */
export const compare = (before: unknown, after: unknown, shape: Shape): Comparison => {
  if (before === after) return SAME;
  const old = parts(before, shape);
  const now = parts(after, shape);
  if (!old || !now) {
    if (equal(before, after)) return SAME;
    return { changed: after === undefined ? undefined : fieldsOf(after, shape), removed: undefined };
  }
  const known = new Map(old.map(([step, value]) => [step, value]));
  const changed: Record<string, unknown> = {};
  const removed: Record<string, unknown> = {};
  for (const [step, value, partShape] of now) {
    if (!known.has(step)) {
      changed[step] = thing(shape, fieldsOf(value, partShape));
      continue;
    }
    const inner = compare(known.get(step), value, partShape);
    known.delete(step);
    if (inner.changed) changed[step] = inner.changed;
    if (inner.removed) removed[step] = inner.removed;
  }
  for (const [step, value, partShape] of old)
    if (known.has(step) && !now.some(([other]) => other === step))
      removed[step] = union(thing(shape, fieldsOf(value, partShape)), undefined) ?? LEAF;
  return {
    changed: Object.keys(changed).length === 0 ? undefined : changed,
    removed: Object.keys(removed).length === 0 ? undefined : removed,
  };
};
