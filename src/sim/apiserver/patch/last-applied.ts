import type { Shape } from '../schema/index.ts';
import { at, isRecord, type Json, recordOf, textOf, without, withPath } from '../value/index.ts';
import { compare } from './compare.ts';
import type { Conflict } from './conflicts.ts';
import { commonPaths, difference, fieldsOf } from './field-set.ts';
import { withoutServerFields } from './managed-fields.ts';

/** The manager that `kubectl apply --server-side` writes as; the server helps it over from client-side apply. */
export const KUBECTL = 'kubectl';
const ANNOTATION = 'kubectl.kubernetes.io/last-applied-configuration';

const lastApplied = (object: Json): Json | undefined => {
  const text = textOf(at(object, 'metadata', 'annotations', ANNOTATION));
  if (text === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

/** The conflicts without those in fields that are still as kubectl last applied them from the client. */
export const withoutClientSideConflicts = (
  conflicts: readonly Conflict[],
  present: Json,
  shape: Shape,
): readonly Conflict[] => {
  const applied = lastApplied(present);
  if (!applied || conflicts.length === 0) return conflicts;
  const then = withoutServerFields(applied);
  const { changed, removed } = compare(then, withoutServerFields(present), shape);
  const untouched = difference(difference(fieldsOf(then, shape), changed), removed);
  return conflicts.filter(({ path }) => {
    const set = path.toReversed().reduce<Json>((inner, step) => ({ [step]: inner }), {});
    return commonPaths(set, untouched).length === 0;
  });
};

/** The object with what is applied noted, where kubectl has noted it before. */
export const withLastApplied = (object: Json, config: Json): Json => {
  if (textOf(at(object, 'metadata', 'annotations', ANNOTATION)) === '') return object;
  const metadata = without(recordOf(config.metadata), 'managedFields');
  const annotations = without(recordOf(metadata.annotations), ANNOTATION);
  const bare = { ...config, metadata: { ...metadata, ...(metadata.annotations === undefined ? {} : { annotations }) } };
  return withPath(object, ['metadata', 'annotations', ANNOTATION], `${JSON.stringify(bare)}\n`);
};
