import { equal, isRecord, type Json, recordOf } from '../json.ts';
import { anyShape, type Shape, type StructShape } from '../schema/shape.ts';
import { type FieldSet, fieldsOf, parts, SELF, union } from './field-set.ts';

export interface Comparison {
  /** Fields that were added or changed. */
  readonly changed: FieldSet | undefined;
  readonly removed: FieldSet | undefined;
}

const SAME: Comparison = { changed: undefined, removed: undefined };
const LEAF: FieldSet = Object.freeze({});

const asMember = (shape: Shape, set: FieldSet): FieldSet =>
  shape.form === 'list' || shape.form === 'map'
    ? Object.keys(set).length === 0
      ? set
      : { [SELF]: LEAF, ...set }
    : set;

const NONE: ReadonlySet<string> = new Set();

/** Most updates touch few fields: only those are visited. */
const compareStructs = (before: Json, after: Json, shape: StructShape, except = NONE): Comparison => {
  let changed: Record<string, unknown> | undefined;
  let removed: Record<string, unknown> | undefined;
  for (const name in after) {
    const value = after[name];
    const old = before[name];
    if (value === old || value === undefined || except.has(name)) continue;
    const of = shape.fields.get(name)?.shape ?? anyShape;
    if (old === undefined) {
      (changed ??= {})[`f:${name}`] = fieldsOf(value, of);
      continue;
    }
    const inner = compare(old, value, of);
    if (inner.changed) (changed ??= {})[`f:${name}`] = inner.changed;
    if (inner.removed) (removed ??= {})[`f:${name}`] = inner.removed;
  }
  for (const name in before)
    if (before[name] !== undefined && after[name] === undefined && !except.has(name))
      (removed ??= {})[`f:${name}`] = fieldsOf(before[name], shape.fields.get(name)?.shape ?? anyShape);
  return { changed, removed };
};

const NOT_CONTENT: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

/** Compares two objects, except the metadata fields that nobody owns. */
export const compareObjects = (
  before: Json,
  after: Json,
  shape: StructShape,
  ownerless: ReadonlySet<string>,
): Comparison => {
  const content = compareStructs(before, after, shape, NOT_CONTENT);
  const metaShape = shape.fields.get('metadata')?.shape;
  if (before.metadata === after.metadata || metaShape?.form !== 'struct') return content;
  const meta = compareStructs(recordOf(before.metadata), recordOf(after.metadata), metaShape, ownerless);
  return {
    changed: meta.changed ? { ...content.changed, 'f:metadata': meta.changed } : content.changed,
    removed: meta.removed ? { ...content.removed, 'f:metadata': meta.removed } : content.removed,
  };
};

/** Compares two values of one shape. Shared parts are skipped. */
export const compare = (before: unknown, after: unknown, shape: Shape): Comparison => {
  if (before === after) return SAME;
  if (shape.form === 'struct' && !shape.atomic && isRecord(before) && isRecord(after))
    return compareStructs(before, after, shape);
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
      changed[step] = asMember(shape, fieldsOf(value, partShape));
      continue;
    }
    const inner = compare(known.get(step), value, partShape);
    known.delete(step);
    if (inner.changed) changed[step] = inner.changed;
    if (inner.removed) removed[step] = inner.removed;
  }
  for (const [step, value, partShape] of old)
    if (known.has(step) && !now.some(([other]) => other === step))
      removed[step] = union(asMember(shape, fieldsOf(value, partShape)), undefined) ?? LEAF;
  return {
    changed: Object.keys(changed).length === 0 ? undefined : changed,
    removed: Object.keys(removed).length === 0 ? undefined : removed,
  };
};
