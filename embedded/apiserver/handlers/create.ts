import { toTime } from '../../resources.ts';
import type { StoredObject } from '../../types.ts';
import { alreadyExists, badRequest, forbidden, invalid, notFound, unexplained } from '../errors.ts';
import { isRecord, type Json, recordOf, textOf, without } from '../json.ts';
import { trackUpdate, withManagedFields } from '../patch/managed-fields.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { generatedName, randomUid } from '../registry/strategies/names.ts';
import { definitionShape } from '../schema/definitions.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { markNormalized, normalize } from '../schema/normalize.ts';
import { keyOf, withVersion } from '../storage/store.ts';
import { admit } from './admission.ts';
import { checkType, validateMetadata, withOwnersOnce } from './metadata.ts';
import { checkStoredSize, fromStorageVersion, type ServerState, toStorageVersion, type WriteContext } from './state.ts';

/** The object as the real server would decode it. */
export const decode = (kind: Kind, object: Json): Json => {
  // Of a custom object, only the metadata has a built-in type.
  if (kind.custom)
    return isRecord(object.metadata)
      ? { ...object, metadata: normalize(object.metadata, definitionShape('meta.v1.ObjectMeta')) }
      : object;
  return normalize(object, shapeOfKind(kind)) as Json;
};

/**
 * Marks an object that is about to be stored, so that its parts need not be normalized again when a client sends them
 * back.
 */
export const asStored = (kind: Kind, object: StoredObject): StoredObject => {
  if (kind.custom) markNormalized(object.metadata, definitionShape('meta.v1.ObjectMeta'));
  else if (kind.toStorageVersion === undefined) markNormalized(object, shapeOfKind(kind));
  return object;
};

const NAMESPACES = { group: '', plural: 'namespaces', kind: 'Namespace' };

/** Rejects creates in namespaces that don't exist or are terminating. */
const checkNamespace = (state: ServerState, kind: Kind, namespace: string, name: string): void => {
  const found = state.store.get('namespaces', namespace);
  if (!found) throw notFound(NAMESPACES, namespace);
  if (found.metadata.deletionTimestamp === undefined) return;
  const why = `namespace ${namespace} is being terminated`;
  throw forbidden(kind, name, `unable to create new content in namespace ${namespace} because it is being terminated`, [
    { reason: 'NamespaceTerminating', message: why, field: 'metadata.namespace' },
  ]);
};

const OF_SERVER = [
  'uid',
  'resourceVersion',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'creationTimestamp',
  'managedFields',
];

const MOST_TRIES = 8;

const freshName = (state: ServerState, kind: Kind, namespace: string | undefined, prefix: string): string => {
  let name = generatedName(prefix, state.random);
  for (let tries = 1; tries < MOST_TRIES && state.store.get(kind.collection, keyOf(namespace, name)); tries += 1)
    name = generatedName(prefix, state.random);
  return name;
};

const namespaceOf = (kind: Kind, given: Json): string | undefined => {
  // A namespace of a cluster-scoped object is dropped.
  if (!kind.namespaced) return undefined;
  const namespace = textOf(recordOf(given.metadata).namespace);
  if (namespace === '') throw badRequest('an empty namespace may not be set during creation');
  return namespace;
};

/** The creator owns the fields that it sent, not those that the server sets afterwards. */
const withCreator = (state: ServerState, kind: Kind, object: Json, manager: string): Json => {
  const hasStatus = kind.subresources.some(({ name }) => name === 'status');
  const { metadata } = trackUpdate(undefined, hasStatus ? without(object, 'status') : object, kind, {
    manager,
    time: toTime(state.clock.now()),
    subresource: undefined,
  });
  return { ...object, metadata };
};

export const createObject = (state: ServerState, kind: Kind, sent: Json, context: WriteContext = {}): StoredObject => {
  checkType(kind, sent, state.registry.isKnown);
  const { strategy } = kind;
  const typed: Json = { ...sent, apiVersion: apiVersionOf(kind), kind: kind.kind };
  const given = withOwnersOnce(decode(kind, typed), false, context.warn);
  const sentMeta = recordOf(given.metadata);
  if (textOf(sentMeta.resourceVersion) !== '')
    throw unexplained('resourceVersion should not be set on objects to be created');
  const namespace = namespaceOf(kind, given);
  const prefix = textOf(sentMeta.generateName);
  const named = textOf(sentMeta.name);
  if (namespace !== undefined) checkNamespace(state, kind, namespace, named);
  const name = named === '' && prefix !== '' ? freshName(state, kind, namespace, prefix) : named;

  const metadata = {
    ...without(sentMeta, 'namespace', ...OF_SERVER),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUid(state.random),
    creationTimestamp: toTime(state.clock.now()),
    ...(strategy.hasGeneration ? { generation: 1 } : {}),
  };
  let object: Json = { ...given, metadata };
  if (strategy.defaults) object = strategy.defaults(object);
  if (context.managers) object = withManagedFields(object, context.managers);
  else if (context.fieldManager !== undefined) object = withCreator(state, kind, object, context.fieldManager);
  if (strategy.admit) object = strategy.admit(object, state.strategyContext);
  const warnings = (context.warn && strategy.warnings?.(object)) ?? [];
  if (strategy.prepareForCreate) object = strategy.prepareForCreate(object, state.strategyContext);
  const causes = [...validateMetadata(kind, object), ...(strategy.validate?.(object) ?? [])];
  if (causes.length > 0) throw invalid(kind, name, causes);
  for (const text of warnings) context.warn?.(text);
  admit(state, kind, { operation: 'CREATE', namespace, name, object });
  const key = keyOf(namespace, name);
  if (state.store.get(kind.collection, key)) throw alreadyExists(kind, name);

  const stored = toStorageVersion(kind, object);
  if (context.dryRun) return fromStorageVersion(kind, stored as StoredObject);
  if (context.isLarge) checkStoredSize(stored);
  const made = state.store.put(kind.collection, key, (version) => asStored(kind, withVersion(stored)(version)));
  state.afterWrite(kind, made);
  return fromStorageVersion(kind, made);
};
