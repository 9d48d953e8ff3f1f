import type { StoredObject } from '../../types.ts';
import { recordOwner } from '../apply/managers.ts';
import { apiVersionOf, type Kind } from '../kinds/index.ts';
import { badRequest, type Cause, conflict, invalid, MODIFIED, noResource, notFound } from '../refusal.ts';
import { keyOf } from '../store/index.ts';
import { invalidValue } from '../strategy/index.ts';
import { arrayOf, at, equal, identical, type Json, recordOf, textOf, without } from '../value/index.ts';
import { checkPolicies } from './admission-policies.ts';
import { type Core, type Ref, storedOf, timeText, viewOf, type WriteContext } from './core.ts';
import { decoded, noted } from './create.ts';
import { removeObject } from './delete.ts';
import { checkType, metaCauses, metaOf, metaUpdateCauses } from './meta.ts';
import { preconditionText } from './precondition.ts';

const checkIdentity = (kind: Kind, ref: Ref, given: Json, present: StoredObject, isPatch: boolean): void => {
  const meta = metaOf(given);
  if (meta.name !== undefined && meta.name !== '' && meta.name !== ref.name)
    throw badRequest(`the name of the object (${meta.name}) does not match the name on the URL (${ref.name})`);
  if (meta.namespace && ref.namespace && meta.namespace !== ref.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
  if (!isPatch && meta.uid && meta.uid !== present.metadata.uid)
    throw conflict(kind, ref.name, preconditionText(kind, present, 'UID', meta.uid, present.metadata.uid));
  const { resourceVersion } = meta;
  if (resourceVersion) {
    if (resourceVersion !== present.metadata.resourceVersion) throw conflict(kind, ref.name, MODIFIED);
  } else if (!isPatch && kind.strategy.unconditionalUpdate === false)
    throw invalid({ ...kind, kind: kind.plural }, ref.name, [
      invalidValue('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
};

const KEPT = ['namespace', 'generation', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const;
const OF_SERVER = [...KEPT, 'name', 'uid', 'creationTimestamp', 'resourceVersion', 'selfLink'];

/** The metadata that is sent, with what the server alone writes into it as it is. */
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

const asSubresource = (kind: Kind, name: string, previous: Json, sent: Json, core: Core): Json => {
  const write = kind.strategy.subresources?.[name];
  if (!write) throw noResource();
  return write(previous, sent, core.world);
};

export interface UpdateOptions extends WriteContext {
  /** A patch needs no resourceVersion, and an apply keeps its own account of who owns what. */
  mode?: 'patch' | 'apply';
}

/**
 * Changes one object. `change` makes the whole new object of the present one, as the version of `kind` shows both; it
 * is decoded, filled in, checked and written only when it differs.
 */
export const updateObject = (
  core: Core,
  kind: Kind,
  ref: Ref,
  change: (present: StoredObject) => Json,
  options: UpdateOptions = {},
): StoredObject => {
  const { strategy } = kind;
  const key = keyOf(kind.namespaced ? ref.namespace : undefined, ref.name);
  const stored = core.store.get(kind.table, key);
  if (!stored) throw notFound(kind, ref.name);
  const present = viewOf(kind, stored);
  const sent = change(present);
  checkType(kind, sent, core.registry.isKnown, options.mode !== undefined);
  const given = decoded(kind, sent);
  // Whoever writes a status most often sends the rest as it was.
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
      ? (strategy.prepareUpdate?.(next, present, core.world) ?? next)
      : asSubresource(kind, options.subresource, present, next, core);
  if (next.status === undefined && 'status' in next) next = without(next, 'status');

  const causes: Cause[] = [
    ...(sameMeta ? [] : [...metaCauses(kind, next, present), ...metaUpdateCauses(next, present, given)]),
    ...(options.subresource === 'binding' ? [] : (strategy.validateUpdate?.(next, present, options.subresource) ?? [])),
  ];
  if (options.subresource !== 'status' || kind.custom) causes.push(...(strategy.validate?.(next, present) ?? []));
  if (causes.length > 0) throw invalid(kind, ref.name, causes);

  const isContent = options.subresource === undefined || CONTENT_SUBRESOURCES.includes(options.subresource);
  if (strategy.generation && isContent && changesContent(next, present)) {
    const generation = (present.metadata.generation ?? 0) + 1;
    next = { ...next, metadata: { ...recordOf(next.metadata), generation } };
  }
  if (options.fieldManager !== undefined && options.mode !== 'apply')
    next = recordOwner(present, next, kind, {
      manager: options.fieldManager,
      time: timeText(core.clock.now()),
      subresource: options.subresource,
    });
  const { subresource } = options;
  checkPolicies(core, kind, {
    operation: 'UPDATE',
    ...ref,
    namespace: ref.namespace,
    subresource,
    object: next,
    oldObject: present,
  });
  if (identical(next, present)) return present;
  const changed = storedOf(kind, next);
  if (options.dryRun) return viewOf(kind, changed as StoredObject);
  const versioned = (resourceVersion: string): StoredObject =>
    ({ ...changed, metadata: { ...metaOf(changed), resourceVersion } }) as StoredObject;
  if (isReleased(next, present) && !strategy.held?.(next)) {
    // The update that lets go is answered but never stored: watchers see the object as it was before.
    const { metadata } = removeObject(core, kind, key, (resourceVersion) => ({
      ...stored,
      metadata: { ...stored.metadata, resourceVersion },
    }));
    return viewOf(kind, versioned(metadata.resourceVersion));
  }
  const made = core.store.put(kind.table, key, (version) => noted(kind, versioned(version)));
  core.afterWrite(kind, made);
  return viewOf(kind, made);
};

/** PUT: the object that is sent takes the place of the present one. */
export const replaceObject = (core: Core, kind: Kind, sent: Json, context: WriteContext = {}): StoredObject => {
  const { name, namespace } = metaOf(sent);
  if (!name) throw badRequest('name must be provided');
  return updateObject(core, kind, { name, namespace: textOf(namespace) }, () => sent, context);
};
