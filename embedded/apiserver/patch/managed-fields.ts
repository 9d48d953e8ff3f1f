import { arrayOf, at, type Json, recordOf, textOf, without } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { compare, compareObjects } from './compare.ts';
import { difference, type FieldSet, union } from './field-set.ts';

export interface ManagedFieldsEntry {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly time: string;
  readonly subresource: string;
  readonly fields: FieldSet;
}

export const readManagedFields = (object: Json | undefined): ManagedFieldsEntry[] =>
  arrayOf(at(object, 'metadata', 'managedFields')).map((entry) => {
    const { manager, operation, apiVersion, time, subresource, fieldsV1 } = recordOf(entry);
    return {
      manager: textOf(manager),
      operation: operation === 'Apply' ? 'Apply' : 'Update',
      apiVersion: textOf(apiVersion),
      time: textOf(time),
      subresource: textOf(subresource),
      fields: recordOf(fieldsV1),
    };
  });

const rank = ({ operation, time, manager }: ManagedFieldsEntry): string =>
  `${operation === 'Apply' ? 0 : 1}/${time}/${manager}`;

export const withManagedFields = (object: Json, managers: readonly ManagedFieldsEntry[]): Json => {
  const entries = managers
    .filter(({ fields }) => Object.keys(fields).length > 0)
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
    .map(({ manager, operation, apiVersion, time, subresource, fields }) => ({
      manager,
      operation,
      apiVersion,
      time,
      fieldsType: 'FieldsV1',
      fieldsV1: fields,
      ...(subresource === '' ? {} : { subresource }),
    }));
  const metadata = recordOf(object.metadata);
  return {
    ...object,
    metadata: entries.length === 0 ? without(metadata, 'managedFields') : { ...metadata, managedFields: entries },
  };
};

const OF_SERVER = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
];

const ownerless: ReadonlySet<string> = new Set(OF_SERVER);

/** The object without the fields that only the server writes and nobody owns. */
export const withoutServerFields = (object: Json | undefined): Json => {
  if (object === undefined) return {};
  const metadata = without(recordOf(object.metadata), ...OF_SERVER);
  const bare = without(object, 'apiVersion', 'kind', 'metadata');
  return Object.keys(metadata).length === 0 ? bare : { ...bare, metadata };
};

export interface Writer {
  readonly manager: string;
  readonly time: string;
  readonly subresource: string | undefined;
}

const same = (a: Pick<ManagedFieldsEntry, 'manager' | 'operation' | 'subresource'>, b: typeof a): boolean =>
  a.manager === b.manager && a.operation === b.operation && a.subresource === b.subresource;

/**
 * The object with its writer as the owner of the changed fields. `previous` is undefined for a new object. Setting
 * `managedFields` to one empty entry resets it.
 */
export const trackUpdate = (previous: Json | undefined, next: Json, kind: Kind, writer: Writer): Json => {
  const shape = shapeOfKind(kind);
  const { changed, removed } =
    shape.form === 'struct'
      ? compareObjects(previous ?? {}, next, shape, ownerless)
      : compare(withoutServerFields(previous), withoutServerFields(next), shape);
  const cleared = arrayOf(at(next, 'metadata', 'managedFields'));
  const reset = previous !== undefined && cleared.length === 1 && Object.keys(recordOf(cleared[0])).length === 0;
  const given = previous === undefined || reset ? [] : edited(previous, next);
  if (changed === undefined && removed === undefined) return withManagedFields(next, given);
  const identity = {
    manager: writer.manager,
    operation: 'Update' as const,
    subresource: writer.subresource ?? '',
  };
  const own = given.find((each) => same(each, identity));
  const fields = union(difference(own?.fields, removed), changed);
  const others = given
    .filter((each) => each !== own)
    .map((each) => ({ ...each, fields: difference(difference(each.fields, changed), removed) ?? {} }));
  const entry: ManagedFieldsEntry = {
    ...identity,
    apiVersion: apiVersionOf(kind),
    time: writer.time,
    fields: fields ?? {},
  };
  return withManagedFields(next, [...others, entry]);
};

/** Clients may edit managedFields, as kubectl does when it takes over an object; omitting it is no change. */
const edited = (previous: Json, next: Json): ManagedFieldsEntry[] => {
  const sent = at(next, 'metadata', 'managedFields');
  return readManagedFields(Array.isArray(sent) && sent.length > 0 ? next : previous);
};
