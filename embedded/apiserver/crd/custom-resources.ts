import { memoize } from '../../memoize.ts';
import type { StatusCause } from '../errors.ts';
import { selectableCustomFields } from '../field-selectors.ts';
import { arrayOf, at, type Json, recordOf, textOf, withPath } from '../json.ts';
import type { Kind, Strategy, Subresource } from '../registry/kind.ts';
import { validateRules } from './rules.ts';
import { pruneUnknownFields, withDefaults } from './structural-schema.ts';
import { preventsRuleEvaluation, validateSchema } from './validation.ts';

const NOT_CHECKED: StatusCause = {
  reason: 'FieldValueInvalid',
  message:
    'Invalid value: null: some validation rules were not checked because the object was invalid; ' +
    'correct the existing errors to complete validation',
  field: '<nil>',
};

const errors = (object: Json, previous: Json | undefined, schema: Json): readonly StatusCause[] => {
  const found = validateSchema(object, schema, '');
  return preventsRuleEvaluation(found)
    ? [...found, NOT_CHECKED]
    : [...found, ...validateRules(object, previous, schema, '')];
};

/** The strategy of custom resources: their schema prunes, defaults and validates. */
const customStrategy = (schema: Json, hasStatus: boolean): Strategy => {
  const withStatusOf = (object: Json, previous: Json | undefined): Json =>
    hasStatus ? withPath(object, ['status'], previous?.status) : object;
  return {
    hasGeneration: true,
    allowUnconditionalUpdate: false,
    defaults: (object) => withDefaults(pruneUnknownFields(object, schema, true), schema) as Json,
    prepareForCreate: (object) => withStatusOf(object, undefined),
    prepareForUpdate: (object, previous) => withStatusOf(object, previous),
    validate: (object, previous) => [...errors(object, previous, schema)],
    subresources: hasStatus
      ? {
          // Only the status and the writer's managedFields are updated.
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

const texts = (value: unknown): string[] => arrayOf(value).map(textOf);

const status: Subresource = { name: 'status', verbs: ['get', 'patch', 'update'] };

/** Converts to another version: with conversion strategy None only the apiVersion differs. */
const inVersion = (apiVersion: string): ((object: Json) => Json) => {
  const convert = memoize((object: Json): Json => ({ ...object, apiVersion }));
  return (object) => (object.apiVersion === apiVersion ? object : convert(object));
};

/** The kinds of a CustomResourceDefinition: one for each served version. */
export const servedKinds = (definition: Json): Kind[] => {
  const spec = recordOf(definition.spec);
  const group = textOf(spec.group);
  const names = recordOf(spec.names);
  const plural = textOf(names.plural);
  const kind = textOf(names.kind);
  const versions = arrayOf(spec.versions).map(recordOf);
  const storage = textOf(versions.find((version) => version.storage === true)?.name);
  return versions
    .filter((version) => version.served === true)
    .map((version): Kind => {
      const name = textOf(version.name);
      const schema = recordOf(at(version, 'schema', 'openAPIV3Schema'));
      const hasStatus = at(version, 'subresources', 'status') !== undefined;
      const paths = arrayOf(version.selectableFields).map((each) => textOf(at(each, 'jsonPath')).replace(/^\./, ''));
      return {
        group,
        version: name,
        plural,
        kind,
        namespaced: spec.scope === 'Namespaced',
        singular: textOf(names.singular),
        listKind: textOf(names.listKind),
        shortNames: texts(names.shortNames),
        categories: texts(names.categories),
        subresources: hasStatus ? [status] : [],
        collection: `${plural}.${group}`,
        fields: selectableCustomFields(...paths),
        strategy: customStrategy(schema, hasStatus),
        ...(name === storage
          ? {}
          : { fromStorageVersion: inVersion(`${group}/${name}`), toStorageVersion: inVersion(`${group}/${storage}`) }),
        custom: {
          schema,
          columns: arrayOf(version.additionalPrinterColumns).map(recordOf),
          crdUid: textOf(at(definition, 'metadata', 'uid')),
        },
      };
    });
};
