import { invalidValue, requiredField, type StatusCause } from '../errors.ts';
import { arrayOf, at, type Json, mapField, mapItems, recordOf, textOf, withDefaultFields } from '../json.ts';
import { keepSpec, type Strategy } from '../registry/kind.ts';

const withNames = (spec: Json): Json =>
  mapField(spec, 'names', (names) =>
    withDefaultFields(names, { singular: textOf(names.kind).toLowerCase(), listKind: `${textOf(names.kind)}List` }),
  );

const storageVersion = (object: Json): string =>
  textOf(
    at(
      arrayOf(at(object, 'spec', 'versions')).find((version) => at(version, 'storage') === true),
      'name',
    ),
  );

const condition = (type: string, reason: string, message: string, time: string): Json => ({
  type,
  status: 'True',
  lastTransitionTime: time,
  reason,
  message,
});

/** The definition with its names accepted and established, as the API server's own controllers do. */
export const establish = (object: Json, time: string): Json => {
  const conditions = [
    condition('NamesAccepted', 'NoConflicts', 'no conflicts found', time),
    condition('Established', 'InitialNamesAccepted', 'the initial names have been accepted', time),
  ];
  const present = new Set(arrayOf(at(object, 'status', 'conditions')).map((each) => at(each, 'type')));
  return {
    ...object,
    status: {
      ...recordOf(object.status),
      acceptedNames: at(object, 'spec', 'names'),
      conditions: [
        ...arrayOf(at(object, 'status', 'conditions')),
        ...conditions.filter(({ type }) => !present.has(type)),
      ],
    },
  };
};

const isEmpty = (value: unknown): boolean => value === undefined || value === '';

const validate = (object: Json): StatusCause[] => {
  const causes: StatusCause[] = [];
  const name = textOf(at(object, 'metadata', 'name'));
  const group = textOf(at(object, 'spec', 'group'));
  const plural = textOf(at(object, 'spec', 'names', 'plural'));
  if (name !== `${plural}.${group}`)
    causes.push(invalidValue('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  for (const field of ['group', 'scope'])
    if (isEmpty(at(object, 'spec', field))) causes.push(requiredField(`spec.${field}`));
  const versions = arrayOf(at(object, 'spec', 'versions'));
  if (versions.filter((version) => at(version, 'storage') === true).length !== 1)
    causes.push(invalidValue('spec.versions', versions, 'must have exactly one version marked as storage version'));
  for (const field of ['plural', 'singular', 'kind', 'listKind'])
    if (isEmpty(at(object, 'spec', 'names', field))) causes.push(requiredField(`spec.names.${field}`));
  for (const [index, version] of versions.entries())
    if (at(version, 'schema', 'openAPIV3Schema') === undefined)
      causes.push(requiredField(`spec.versions[${index}].schema.openAPIV3Schema`, 'schemas are required'));
  return causes;
};

/** The strategy of CustomResourceDefinitions. */
export const definitionStrategy: Strategy = {
  hasGeneration: true,
  defaults: (object) =>
    mapField(object, 'spec', (spec) =>
      mapItems(withDefaultFields(withNames(spec), { conversion: { strategy: 'None' } }), 'versions', (version) =>
        withDefaultFields(version, { served: false, storage: false }),
      ),
    ),
  prepareForCreate: (object) => ({
    ...object,
    status: { acceptedNames: { kind: '', plural: '' }, conditions: [], storedVersions: [storageVersion(object)] },
  }),
  prepareForUpdate(object, previous) {
    const stored = arrayOf(at(previous, 'status', 'storedVersions'));
    const storage = storageVersion(object);
    const status = recordOf(previous.status);
    return {
      ...object,
      status: stored.includes(storage) ? status : { ...status, storedVersions: [...stored, storage] },
    };
  },
  validate,
  subresources: { status: keepSpec },
};
