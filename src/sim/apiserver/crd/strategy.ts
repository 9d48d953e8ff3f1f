import type { StatusCause } from '../errors.ts';
import type { Strategy } from '../registry/strategy.ts';
import { at, type Json, recordOf, withPath } from '../value/index.ts';
import { withDefaults } from './defaults.ts';
import { pruneUnknownFields } from './prune.ts';
import { validateRules } from './rules.ts';
import { preventsRuleEvaluation, validateSchema } from './validation.ts';

const NOT_CHECKED: StatusCause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; ' +
    'correct the existing errors to complete validation',
  field: '<nil>',
};

const faults = (object: Json, previous: Json | undefined, schema: Json): readonly StatusCause[] => {
  const found = validateSchema(object, schema, '');
  return preventsRuleEvaluation(found)
    ? [...found, NOT_CHECKED]
    : [...found, ...validateRules(object, previous, schema, '')];
};

/** Custom resources: their schema says what they may hold, and how it is filled in. */
export const customStrategy = (schema: Json, hasStatus: boolean): Strategy => {
  const withStatusOf = (object: Json, previous: Json | undefined): Json =>
    hasStatus ? withPath(object, ['status'], previous?.status) : object;
  return {
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    defaults: (object) => withDefaults(pruneUnknownFields(object, schema, true), schema) as Json,
    prepareForCreate: (object) => withStatusOf(object, undefined),
    prepareForUpdate: (object, previous) => withStatusOf(object, previous),
    validate: (object, previous) => [...faults(object, previous, schema)],
    subresources: hasStatus
      ? {
          // Only the status is taken: metadata stays, but for what the write itself brings.
          status: (previous, sent) =>
            withPath(
              {
                ...previous,
                metadata: { ...recordOf(previous.metadata), managedFields: at(sent, 'metadata', 'managedFields') },
              },
              ['status'],
              sent.status,
            ),
        }
      : {},
  };
};
