import { badRequest, invalid, invalidValue } from '../errors.ts';
import type { Json } from '../json.ts';
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

/**
 * Checks for unknown fields: `Strict` rejects them, `Warn` (the default) returns warnings, `Ignore` drops them
 * silently.
 */
export const validateFields = (kind: Kind, object: Json, query: URLSearchParams, isPatch = false): string[] => {
  checkTypes(kind, object, isPatch);
  const mode = query.get('fieldValidation') || 'Warn';
  if (mode === 'Ignore') return [];
  if (mode !== 'Warn' && mode !== 'Strict')
    throw badRequest(
      `fieldValidation parameter: Unsupported value: ${JSON.stringify(mode)}: supported values: "Ignore", "Strict", "Warn"`,
    );
  const errors = unknownFields(object, shapeOfKind(kind)).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (errors.length === 0 || mode === 'Warn') return errors;
  const why = `strict decoding error: ${errors.join(', ')}`;
  throw badRequest(
    isPatch
      ? why
      : `${kind.kind} in version ${JSON.stringify(apiVersionOf(kind).split('/').at(-1))} cannot be handled as a ${kind.kind}: ${why}`,
  );
};
