import { badRequest, invalid, invalidValue } from '../errors.ts';
import type { Json } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { unknownFields, wrongType } from '../schema/type-check.ts';

/** Refuses values that are not of their field's type. Custom resources have their own validation for that. */
const checkTypes = (kind: Kind, object: Json, isPatch: boolean): void => {
  if (kind.custom) return;
  const fault = wrongType(object, shapeOfKind(kind));
  if (fault === undefined) return;
  if (isPatch)
    throw invalid({ group: '', plural: '', kind: '' }, '', [invalidValue('patch', JSON.stringify(object), fault)]);
  throw badRequest(
    `${kind.kind} in version ${JSON.stringify(apiVersionOf(kind).split('/').at(-1))} cannot be handled as a ${kind.kind}: ${fault}`,
  );
};

/**
 * What is done about fields that the type does not have: `Strict` refuses them, `Warn` (also when nothing is asked for)
 * returns warnings, `Ignore` drops them without a word.
 */
export const validateFields = (kind: Kind, object: Json, query: URLSearchParams, isPatch = false): string[] => {
  checkTypes(kind, object, isPatch);
  const mode = query.get('fieldValidation') || 'Warn';
  if (mode === 'Ignore') return [];
  if (mode !== 'Warn' && mode !== 'Strict')
    throw badRequest(
      `fieldValidation parameter: Unsupported value: ${JSON.stringify(mode)}: supported values: "Ignore", "Strict", "Warn"`,
    );
  const faults = unknownFields(object, shapeOfKind(kind)).map((path) => `unknown field ${JSON.stringify(path)}`);
  if (faults.length === 0 || mode === 'Warn') return faults;
  const why = `strict decoding error: ${faults.join(', ')}`;
  throw badRequest(
    isPatch
      ? why
      : `${kind.kind} in version ${JSON.stringify(apiVersionOf(kind).split('/').at(-1))} cannot be handled as a ${kind.kind}: ${why}`,
  );
};
