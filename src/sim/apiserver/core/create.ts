import type { StoredObject } from '../../types.ts';
import { recordOwner, withManagers } from '../apply/managers.ts';
import { apiVersionOf, type Kind } from '../kinds/index.ts';
import { alreadyExists, badRequest, failed, forbidden, invalid, notFound } from '../refusal.ts';
import { definitionOfKind, definitionShape, normalize, noteStored, shapeOfKind } from '../schema/index.ts';
import { keyOf } from '../store/index.ts';
import { generatedName, randomUid } from '../strategy/index.ts';
import { isRecord, type Json, recordOf, textOf, without } from '../value/index.ts';
import { checkPolicies } from './admission-policies.ts';
import { type Core, storedOf, timeText, viewOf, type WriteContext } from './core.ts';
import { checkType, metaCauses, metaOf } from './meta.ts';

/** The object as a real server would decode it. */
export const decoded = (kind: Kind, object: Json): Json => {
  // Of a custom object the metadata alone is of a type that the server knows.
  if (kind.custom)
    return isRecord(object.metadata)
      ? { ...object, metadata: normalize(object.metadata, definitionShape('meta.v1.ObjectMeta')) }
      : object;
  const name = kind.definition === undefined ? undefined : definitionOfKind(kind.definition);
  return name === undefined ? object : (normalize(object, definitionShape(name)) as Json);
};

/** The object, which is about to be stored, so that whoever sends parts of it again need not be read again. */
export const noted = (kind: Kind, object: StoredObject): StoredObject => {
  if (kind.custom) noteStored(object.metadata, definitionShape('meta.v1.ObjectMeta'));
  else if (kind.toStored === undefined) noteStored(object, shapeOfKind(kind));
  return object;
};

const NAMESPACES = { group: '', plural: 'namespaces', kind: 'Namespace' };

/** Nothing is created in a namespace that is not there, or is going. */
export const checkNamespace = (core: Core, kind: Kind, namespace: string, name: string): void => {
  const found = core.store.get('namespaces', namespace);
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

const freshName = (core: Core, kind: Kind, namespace: string | undefined, prefix: string): string => {
  let name = generatedName(prefix, core.random);
  for (let tries = 1; tries < MOST_TRIES && core.store.get(kind.table, keyOf(namespace, name)); tries += 1)
    name = generatedName(prefix, core.random);
  return name;
};

const namespaceOf = (kind: Kind, given: Json): string | undefined => {
  // Of what has no namespace, one that is given is dropped.
  if (!kind.namespaced) return undefined;
  const namespace = textOf(recordOf(given.metadata).namespace);
  if (namespace === '') throw badRequest('an empty namespace may not be set during creation');
  return namespace;
};

/** The creator owns what was sent, and not what the server adds to it afterwards. */
const withCreator = (core: Core, kind: Kind, object: Json, manager: string): Json => {
  const hasStatus = kind.subresources.some(({ name }) => name === 'status');
  const { metadata } = recordOwner(undefined, hasStatus ? without(object, 'status') : object, kind, {
    manager,
    time: timeText(core.clock.now()),
    subresource: undefined,
  });
  return { ...object, metadata };
};

export const createObject = (core: Core, kind: Kind, sent: Json, context: WriteContext = {}): StoredObject => {
  checkType(kind, sent, core.registry.isKnown);
  const { strategy } = kind;
  const typed: Json = { ...sent, apiVersion: apiVersionOf(kind), kind: kind.kind };
  const given = decoded(kind, typed);
  const sentMeta = recordOf(given.metadata);
  if (textOf(sentMeta.resourceVersion) !== '')
    throw failed('resourceVersion should not be set on objects to be created');
  const namespace = namespaceOf(kind, given);
  const prefix = textOf(sentMeta.generateName);
  const named = textOf(sentMeta.name);
  if (namespace !== undefined) checkNamespace(core, kind, namespace, named);
  const name = named === '' && prefix !== '' ? freshName(core, kind, namespace, prefix) : named;

  const metadata = {
    ...without(sentMeta, 'namespace', ...OF_SERVER),
    name,
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUid(core.random),
    creationTimestamp: timeText(core.clock.now()),
    ...(strategy.generation ? { generation: 1 } : {}),
  };
  let object: Json = { ...given, metadata };
  if (strategy.defaults) object = strategy.defaults(object);
  if (context.managers) object = withManagers(object, context.managers);
  else if (context.fieldManager !== undefined) object = withCreator(core, kind, object, context.fieldManager);
  if (strategy.admit) object = strategy.admit(object, core.world);
  if (strategy.prepareCreate) object = strategy.prepareCreate(object, core.world);
  const causes = [...metaCauses(kind, object), ...(strategy.validate?.(object) ?? [])];
  if (causes.length > 0) throw invalid(kind, name, causes);
  checkPolicies(core, kind, { operation: 'CREATE', namespace, name, object });
  const key = keyOf(namespace, name);
  if (core.store.get(kind.table, key)) throw alreadyExists(kind, name);

  const stored = storedOf(kind, object);
  if (context.dryRun) return viewOf(kind, stored as StoredObject);
  const made = core.store.put(kind.table, key, (resourceVersion) =>
    noted(kind, { ...stored, metadata: { ...metaOf(stored), resourceVersion } } as StoredObject),
  );
  core.afterWrite(kind, made);
  return viewOf(kind, made);
};
