import { badRequest, invalid, invalidValue } from '../errors.ts';
import { isRecord, type Json } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { unknownFields, wrongType } from '../schema/type-check.ts';

/** Rejects values of the wrong type. Custom resources are validated by their schema instead. */
const checkTypes = (kind: Kind, object: Json, isPatch: boolean): void => {
  if (kind.custom) return;
  const detail = wrongType(object, shapeOfKind(kind));
  if (detail === undefined) return;
  if (isPatch)
    throw invalid({ group: '', plural: '', kind: '' }, '', [invalidValue('patch', JSON.stringify(object), detail)]);
  throw badRequest(
    `${kind.kind} in version ${JSON.stringify(apiVersionOf(kind).split('/').at(-1))} cannot be handled as a ${kind.kind}: ${detail}`,
  );
};

/** A patch as it was sent. */
export interface SentPatch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly body: unknown;
}

/** A value as Go prints it. */
const goText = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isRecord(value)) return value === null ? '<nil>' : typeof value === 'string' ? value : JSON.stringify(value);
  const keys = Object.keys(value).toSorted();
  return `map[${keys.map((key) => `${key}:${goText(value[key])}`).join(' ')}]`;
};

/**
 * Checks for unknown fields: `Strict` rejects them, `Warn` (the default) returns warnings, `Ignore` drops them
 * silently.
 */
export const validateFields = (kind: Kind, object: Json, query: URLSearchParams, patch?: SentPatch): string[] => {
  checkTypes(kind, object, patch !== undefined);
  const mode = query.get('fieldValidation') || 'Warn';
  if (mode === 'Ignore') return [];
  const errors = unknownFields(object, shapeOfKind(kind)).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (errors.length === 0 || mode === 'Warn') return errors;
  const why = `strict decoding error: ${errors.join(', ')}`;
  if (patch && patch.type !== 'apply' && !kind.custom) {
    const value = patch.type === 'strategic' ? goText(patch.body) : JSON.stringify(object);
    throw invalid({ group: '', plural: '', kind: '' }, '', [invalidValue('patch', value, why)]);
  }
  throw badRequest(
    patch
      ? why
      : `${kind.kind} in version ${JSON.stringify(apiVersionOf(kind).split('/').at(-1))} cannot be handled as a ${kind.kind}: ${why}`,
  );
};
