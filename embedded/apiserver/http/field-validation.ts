import { badRequest, goText, invalid, invalidValue } from '../errors.ts';
import type { Json } from '../json.ts';
import type { Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { unknownFields, wrongType } from '../schema/type-check.ts';

const undecodable = ({ kind, version }: Kind, why: string): Error =>
  badRequest(`${kind} in version ${JSON.stringify(version)} cannot be handled as a ${kind}: ${why}`);

/** Rejects values of the wrong type. Custom resources are validated by their schema instead. */
const checkTypes = (kind: Kind, object: Json, isPatch: boolean): void => {
  if (kind.custom) return;
  const detail = wrongType(object, shapeOfKind(kind));
  if (detail === undefined) return;
  if (isPatch)
    throw invalid({ group: '', plural: '', kind: '' }, '', [invalidValue('patch', JSON.stringify(object), detail)]);
  throw undecodable(kind, detail);
};

/** A patch as it was sent. */
export interface SentPatch {
  readonly type: 'json' | 'merge' | 'strategic' | 'apply';
  readonly body: unknown;
}

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
  throw patch ? badRequest(why) : undecodable(kind, why);
};
