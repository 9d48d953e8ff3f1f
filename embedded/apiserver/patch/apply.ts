import { toTime } from '../../resources.ts';
import { badRequest, notFound, unexplained } from '../errors.ts';
import { createObject } from '../handlers/create.ts';
import { keyFor, type PatchContext, type PatchResult, type Ref, type ServerState } from '../handlers/state.ts';
import { updateObject } from '../handlers/update.ts';
import { equal, isRecord, type Json, recordOf, textOf, without } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import { shapeOfKind } from '../schema/kind-shape.ts';
import { compare } from './compare.ts';
import { KUBECTL, throwConflicts, withLastApplied, withoutClientSideConflicts } from './conflicts.ts';
import { commonPaths, difference, type FieldSet, fieldsOf, union } from './field-set.ts';
import {
  type ManagedFieldsEntry,
  readManagedFields,
  withManagedFields,
  withoutServerFields,
} from './managed-fields.ts';
import { mergeApplied, removeFields } from './merge-applied.ts';
import { typedError } from './typed-errors.ts';

interface Applier {
  readonly manager: string;
  readonly subresource: string;
}

const isApplier = (entry: ManagedFieldsEntry, { manager, subresource }: Applier): boolean =>
  entry.manager === manager && entry.operation === 'Apply' && entry.subresource === subresource;

const configuredFields = (kind: Kind, config: Json, subresource: string): FieldSet => {
  const own = withoutServerFields(config);
  const hasStatus = kind.subresources.some(({ name }) => name === 'status');
  const part =
    subresource === 'status'
      ? own.status === undefined
        ? {}
        : { status: own.status }
      : hasStatus
        ? without(own, 'status')
        : own;
  return fieldsOf(part, shapeOfKind(kind));
};

const applyTo = (kind: Kind, present: Json, config: Json, applier: Applier, force: boolean, time: string): Json => {
  const shape = shapeOfKind(kind);
  const before = readManagedFields(present);
  const own = before.find((entry) => isApplier(entry, applier));
  const others = before.filter((entry) => entry !== own);
  const wanted = configuredFields(kind, config, applier.subresource);
  let merged = mergeApplied(present, withoutServerFields(config), shape) as Json;
  const dropped = others.reduce<FieldSet | undefined>(
    (left, { fields }) => difference(left, fields),
    difference(own?.fields, wanted),
  );
  if (dropped) merged = removeFields(merged, dropped, shape) as Json;
  const { changed } = compare(withoutServerFields(present), withoutServerFields(merged), shape);
  if (!force) {
    const found = others.flatMap((owner) => commonPaths(changed, owner.fields).map((path) => ({ owner, path })));
    const conflicts = applier.manager === KUBECTL ? withoutClientSideConflicts(found, present, shape) : found;
    if (conflicts.length > 0) throwConflicts(conflicts);
  }
  const left = others.map((owner) => ({ ...owner, fields: difference(owner.fields, changed) ?? {} }));
  const unchanged =
    own !== undefined && equal(own.fields, wanted) && equal(withoutServerFields(present), withoutServerFields(merged));
  const entry: ManagedFieldsEntry = {
    ...applier,
    operation: 'Apply',
    apiVersion: apiVersionOf(kind),
    time: unchanged ? own.time : time,
    fields: wanted,
  };
  const annotated = applier.manager === KUBECTL ? withLastApplied(merged, config) : merged;
  return withManagedFields(annotated, [entry, ...left]);
};

const checked = (kind: Kind, ref: Ref, body: unknown): Json => {
  if (!isRecord(body)) throw badRequest('an applied configuration must be an object');
  const given = { apiVersion: textOf(body.apiVersion), kind: textOf(body.kind) };
  const isOther = given.kind !== kind.kind || given.apiVersion !== apiVersionOf(kind);
  if (given.kind === '' || given.apiVersion === '' || (isOther && !kind.custom)) {
    const groupVersion = given.apiVersion.includes('/') ? given.apiVersion : `/${given.apiVersion}`;
    throw badRequest(`invalid object type: ${groupVersion}, Kind=${given.kind}`);
  }
  const { name = '', namespace = '' } = recordOf(body.metadata);
  const why = kind.custom ? undefined : typedError(body, shapeOfKind(kind));
  if (why !== undefined) {
    const object = `${textOf(namespace)}/${textOf(name)}; ${apiVersionOf(kind)}, Kind=${kind.kind}`;
    throw unexplained(`failed to create typed patch object (${object}): ${why}`);
  }
  const metadata = recordOf(body.metadata);
  if (Array.isArray(metadata.managedFields) && metadata.managedFields.length > 0)
    throw badRequest('metadata.managedFields must be nil');
  if (textOf(metadata.name) !== '' && metadata.name !== ref.name)
    throw badRequest(
      `the name of the object (${textOf(metadata.name)}) does not match the name on the URL (${ref.name})`,
    );
  return body;
};

/** Server-side apply: merges the configuration field by field and tracks ownership. */
export const applyObject = (
  state: ServerState,
  kind: Kind,
  ref: Ref,
  body: unknown,
  context: PatchContext,
): PatchResult => {
  const config = checked(kind, ref, body);
  context.inspect?.(config);
  const { fieldManager = '', subresource, dryRun, warn, isLarge } = context;
  const applier: Applier = { manager: fieldManager, subresource: subresource ?? '' };
  const time = toTime(state.clock.now());
  const exists = state.store.get(kind.collection, keyFor(kind, ref));
  if (!exists) {
    if (subresource !== undefined) throw notFound(kind, ref.name);
    const fields = union(configuredFields(kind, config, ''), undefined) ?? {};
    const entry: ManagedFieldsEntry = { ...applier, operation: 'Apply', apiVersion: apiVersionOf(kind), time, fields };
    const metadata = {
      ...without(recordOf(config.metadata), 'resourceVersion'),
      name: ref.name,
      ...(ref.namespace ? { namespace: ref.namespace } : {}),
    };
    const object = createObject(state, kind, { ...config, metadata }, { dryRun, warn, isLarge, managers: [entry] });
    return { object, created: true };
  }
  const object = updateObject(
    state,
    kind,
    ref,
    (present) => {
      const next = applyTo(kind, present, config, applier, context.force === true, time);
      const { uid, resourceVersion } = recordOf(config.metadata);
      const pinned = { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) };
      return { ...next, metadata: { ...recordOf(next.metadata), ...pinned } };
    },
    { dryRun, subresource, warn, isLarge, mode: 'apply' },
  );
  return { object, created: false };
};
