import type { Strategy } from '../kinds/strategy.ts';
import type { Cause } from '../refusal.ts';
import { at, type Json, recordOf, withPath } from '../value/index.ts';
import { withDefaults } from './defaults.ts';
import { prune } from './prune.ts';
import { ruleFaults } from './rules.ts';
import { blocksRules, schemaFaults } from './validate.ts';

const NOT_CHECKED: Cause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; ' +
    'correct the existing errors to complete validation',
  field: '<nil>',
};

const faults = (object: Json, previous: Json | undefined, schema: Json): readonly Cause[] => {
  const found = schemaFaults(object, schema, '');
  return blocksRules(found) ? [...found, NOT_CHECKED] : [...found, ...ruleFaults(object, previous, schema, '')];
};

/** Custom resources: their schema says what they may hold, and how it is filled in. */
export const customStrategy = (schema: Json, hasStatus: boolean): Strategy => {
  const withStatusOf = (object: Json, previous: Json | undefined): Json =>
    hasStatus ? withPath(object, ['status'], previous?.status) : object;
  return {
    generation: true,
    unconditionalUpdate: false,
    defaults: (object) => withDefaults(prune(object, schema, true), schema) as Json,
    prepareCreate: (object) => withStatusOf(object, undefined),
    prepareUpdate: (object, previous) => withStatusOf(object, previous),
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
