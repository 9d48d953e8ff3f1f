import { toTime } from '../../resources.ts';
import type { StoredObject } from '../../types.ts';
import {
  badRequest,
  conflict,
  invalid,
  invalidValue,
  MODIFIED,
  noResource,
  type StatusCause,
  unexplained,
} from '../errors.ts';
import { arrayOf, at, equal, identical, type Json, recordOf, textOf, without } from '../json.ts';
import { trackUpdate } from '../patch/managed-fields.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { keyOf, withVersion } from '../storage/store.ts';
import { admit } from './admission.ts';
import { asStored, decode } from './create.ts';
import { removeObject } from './delete.ts';
import { checkType, metaOf, validateMetadata, validateMetadataUpdate, withOwnersOnce } from './metadata.ts';
import {
  checkStoredSize,
  fromStorageVersion,
  keyFor,
  type Ref,
  type ServerState,
  storedObject,
  toStorageVersion,
  type WriteContext,
} from './state.ts';

// The etcd prefixes of some of the oldest kinds.
const FOLDERS: Readonly<Record<string, string>> = { nodes: 'minions', services: 'services/specs' };

const folderOf = (kind: Kind): string => {
  if (kind.custom || kind.group === 'apiextensions.k8s.io') return `${kind.group}/${kind.plural}`;
  return FOLDERS[kind.plural] ?? kind.plural;
};

/** The message of a failed precondition, as the storage layer words it. */
const preconditionFailed = (
  kind: Kind,
  { metadata }: StoredObject,
  what: 'UID' | 'ResourceVersion',
  wanted: string,
  present: string,
): string =>
  `StorageError: invalid object, Code: 4, Key: /registry/${folderOf(kind)}/${keyOf(metadata.namespace, metadata.name)}, ` +
  `ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ${what} in precondition: ${wanted}, ` +
  `${what} in object meta: ${present}`;

const checkIdentity = (kind: Kind, ref: Ref, given: Json, present: StoredObject, isPatch: boolean): void => {
  const meta = metaOf(given);
  if (meta.name !== undefined && meta.name !== '' && meta.name !== ref.name)
    throw badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${ref.name})`);
  if (meta.namespace && ref.namespace && meta.namespace !== ref.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  if (!isPatch && meta.uid && meta.uid !== present.metadata.uid)
    throw conflict(kind, ref.name, preconditionFailed(kind, present, 'UID', meta.uid, present.metadata.uid));
  const { resourceVersion } = meta;
  if (resourceVersion) {
    if (!/^\d+$/.test(resourceVersion))
      throw unexplained(`strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`);
    if (resourceVersion !== present.metadata.resourceVersion) throw conflict(kind, ref.name, MODIFIED);
  } else if (!isPatch && kind.strategy.allowUnconditionalUpdate === false)
    throw invalid({ ...kind, kind: kind.plural }, ref.name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
};

const KEPT = ['namespace', 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
const OF_SERVER = [...KEPT, 'name', 'uid', 'creationTimestamp', 'resourceVersion', 'selfLink'];

/** The sent metadata with the server-managed fields of the stored object. */
const updatedMeta = (sent: Json, { metadata }: StoredObject): Json => {
  const next: Record<string, unknown> = {};
  for (const field in sent) if (!OF_SERVER.includes(field)) next[field] = sent[field];
  next.name = metadata.name;
  next.uid = metadata.uid;
  next.creationTimestamp = metadata.creationTimestamp;
  next.resourceVersion = metadata.resourceVersion;
  for (const field of KEPT) if (metadata[field] !== undefined) next[field] = metadata[field];
  return next;
};

const CONTENT_SUBRESOURCES = ['resize', 'ephemeralcontainers'];
const NOT_CONTENT = ['metadata', 'status', 'apiVersion', 'kind'];

const changesContent = (next: Json, present: Json): boolean =>
  !equal(without(next, ...NOT_CONTENT), without(present, ...NOT_CONTENT));

const isReleased = (next: Json, present: StoredObject): boolean =>
  present.metadata.deletionTimestamp !== undefined &&
  (present.metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  arrayOf(at(next, 'metadata', 'finalizers')).length === 0;

const asSubresource = (kind: Kind, name: string, previous: Json, sent: Json, state: ServerState): Json => {
  const write = kind.strategy.subresources?.[name];
  if (!write) throw noResource();
  return write(previous, sent, state.strategyContext);
};

export interface UpdateOptions extends WriteContext {
  /** A patch needs no resourceVersion; an apply also manages field ownership itself. */
  mode?: 'patch' | 'apply';
}

/**
 * Updates one object. `change` returns the whole new object for the current one, both in the version of `kind`. The
 * result is decoded, defaulted, validated, and stored only if it differs.
 */
export const updateObject = (
  state: ServerState,
  kind: Kind,
  ref: Ref,
  change: (present: StoredObject) => Json,
  options: UpdateOptions = {},
): StoredObject => {
  const { strategy } = kind;
  const key = keyFor(kind, ref);
  const stored = storedObject(state, kind, ref);
  const present = fromStorageVersion(kind, stored);
  const sent = change(present);
  checkType(kind, sent, state.registry.isKnown, options.mode !== undefined);
  const given = withOwnersOnce(decode(kind, sent), options.mode !== undefined, options.warn);
  // Status updates usually send the metadata unchanged.
  const sameMeta = given.metadata === present.metadata;
  if (!sameMeta) checkIdentity(kind, ref, given, present, options.mode !== undefined);
  let next: Json = {
    ...given,
    apiVersion: apiVersionOf(kind),
    kind: kind.kind,
    metadata: sameMeta ? present.metadata : updatedMeta(recordOf(given.metadata), present),
  };
  if (strategy.defaults) next = strategy.defaults(next);
  next =
    options.subresource === undefined
      ? (strategy.prepareForUpdate?.(next, present, state.strategyContext) ?? next)
      : asSubresource(kind, options.subresource, present, next, state);
  if (next.status === undefined && 'status' in next) next = without(next, 'status');

  const causes: StatusCause[] = [
    ...(sameMeta ? [] : [...validateMetadata(kind, next, present), ...validateMetadataUpdate(next, present, given)]),
    ...(options.subresource === 'binding' ? [] : (strategy.validateUpdate?.(next, present, options.subresource) ?? [])),
  ];
  if (options.subresource !== 'status' || kind.custom) causes.push(...(strategy.validate?.(next, present) ?? []));
  if (causes.length > 0) throw invalid(kind, ref.name, causes);
  if (options.warn && options.subresource === undefined)
    for (const text of strategy.warnings?.(next, present) ?? []) options.warn(text);

  const isContent = options.subresource === undefined || CONTENT_SUBRESOURCES.includes(options.subresource);
  if (strategy.hasGeneration && isContent && changesContent(next, present)) {
    const generation = (present.metadata.generation ?? 0) + 1;
    next = { ...next, metadata: { ...recordOf(next.metadata), generation } };
  }
  if (options.fieldManager !== undefined && options.mode !== 'apply')
    next = trackUpdate(present, next, kind, {
      manager: options.fieldManager,
      time: toTime(state.clock.now()),
      subresource: options.subresource,
    });
  const { subresource } = options;
  admit(state, kind, {
    operation: 'UPDATE',
    ...ref,
    namespace: ref.namespace,
    subresource,
    object: next,
    oldObject: present,
  });
  if (identical(next, present)) return present;
  const changed = toStorageVersion(kind, next);
  if (options.dryRun) return fromStorageVersion(kind, changed as StoredObject);
  if (options.isLarge) checkStoredSize(changed);
  if (isReleased(next, present) && !strategy.hasFinalizers?.(next)) {
    // The update that removes the last finalizer is returned but never stored: watchers see the previous object.
    const { metadata } = removeObject(state, kind, key, stored);
    return fromStorageVersion(kind, withVersion(changed)(metadata.resourceVersion));
  }
  const made = state.store.put(kind.collection, key, (version) => asStored(kind, withVersion(changed)(version)));
  state.afterWrite(kind, made);
  return fromStorageVersion(kind, made);
};

/** PUT: replaces the object. */
export const replaceObject = (state: ServerState, kind: Kind, sent: Json, context: WriteContext = {}): StoredObject => {
  const { name, namespace } = metaOf(sent);
  if (!name) throw badRequest('name must be provided');
  return updateObject(state, kind, { name, namespace: textOf(namespace) }, () => sent, context);
};
