import type { ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';
import { badRequest, forbiddenField, invalid, invalidValue, requiredField, type StatusCause } from '../errors.ts';
import { arrayOf, at, equal, type Json, recordOf, textOf } from '../json.ts';
import { apiVersionOf, type Kind } from '../registry/kind.ts';
import {
  nameErrors,
  qualifiedNameErrors,
  validateAnnotations,
  validateLabels,
  validateName,
} from '../registry/strategies/names.ts';

export const metaOf = (object: Json): Readonly<ObjectMeta> => recordOf(object.metadata);

/** Rejects a body of another kind than its path; `isKnown` tells whether the kind exists at all. */
export const checkType = (
  kind: Kind,
  object: Json,
  isKnown: (apiVersion: string, kind: string) => boolean,
  isPatch = false,
): void => {
  const expected = apiVersionOf(kind);
  const apiVersion = textOf(object.apiVersion) || expected;
  const given = textOf(object.kind) || kind.kind;
  if (given === kind.kind && apiVersion === expected) return;
  if (kind.custom && given === kind.kind) {
    if (isPatch)
      throw invalid(kind, textOf(at(object, 'metadata', 'name')), [
        invalidValue('apiVersion', apiVersion, `must be ${expected}`),
      ]);
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  const version = apiVersion.split('/').at(-1) ?? '';
  const group = kind.group === '' ? 'core' : kind.group.split('.', 1)[0];
  const why = isKnown(apiVersion, given)
    ? `converting (${version}.${given}) to (${group}.${kind.kind}): unknown conversion`
    : `no kind ${JSON.stringify(given)} is registered for version ${JSON.stringify(apiVersion)} in scheme "pkg/runtime/scheme.go:110"`;
  throw badRequest(`${given} in version ${JSON.stringify(version)} cannot be handled as a ${kind.kind}: ${why}`);
};

/** An apiVersion with a version in it. */
const VERSION = /^([^/]+\/)?[^/]+$/;

const ownerCauses = (meta: Readonly<ObjectMeta>): StatusCause[] => {
  const owners = meta.ownerReferences ?? [];
  const causes = owners.flatMap((owner) => {
    const field = 'metadata.ownerReferences';
    const found: StatusCause[] = [];
    if (!VERSION.test(owner.apiVersion))
      found.push(invalidValue(`${field}.apiVersion`, owner.apiVersion, 'version must not be empty'));
    if (!owner.kind) found.push(invalidValue(`${field}.kind`, '', 'must not be empty'));
    if (!owner.name) found.push(invalidValue(`${field}.name`, '', 'must not be empty'));
    if (!owner.uid) found.push(invalidValue(`${field}.uid`, '', 'must not be empty'));
    if (owner.apiVersion === 'v1' && owner.kind === 'Event')
      found.push(invalidValue(field, owner, '/v1, Kind=Event is disallowed from being an owner'));
    return found;
  });
  const [first, second] = owners.filter((owner) => owner.controller === true);
  if (first && second)
    causes.push(
      invalidValue(
        'metadata.ownerReferences',
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${first.kind}/${first.name} and ${second.kind}/${second.name}`,
      ),
    );
  return causes;
};

const STANDARD_FINALIZERS = ['kubernetes', 'orphan', 'foregroundDeletion'];
const UNQUALIFIED = 'name is neither a standard finalizer name nor is it fully qualified';

/** Built-in kinds only have finalizers that Kubernetes knows or whose name has a domain. */
const unqualifiedFinalizers = (finalizers: readonly string[]): StatusCause[] =>
  finalizers.flatMap((name, index) =>
    name.includes('/') || STANDARD_FINALIZERS.includes(name)
      ? []
      : [invalidValue(`metadata.finalizers[${index}]`, name, UNQUALIFIED)],
  );

const finalizerCauses = (finalizers: readonly string[]): StatusCause[] => [
  ...finalizers.flatMap((name) =>
    qualifiedNameErrors(name).map((detail) => invalidValue('metadata.finalizers', name, detail)),
  ),
  ...(finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')
    ? [invalidValue('metadata.finalizers', finalizers, 'finalizer orphan and foregroundDeletion cannot be both set')]
    : []),
];

const REPEATED_OWNERS =
  'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:';

/** The object with each owner once; the writer is warned of owners that are named twice. */
export const withOwnersOnce = (object: Json, isPatch: boolean, warn?: (text: string) => void): Json => {
  const owners = arrayOf(at(object, 'metadata', 'ownerReferences'));
  if (owners.length < 2) return object;
  const kept = owners.filter((owner, index) => owners.findIndex((each) => equal(each, owner)) === index);
  if (kept.length === owners.length) return object;
  const repeated = owners.filter((owner) => !kept.includes(owner)).map((owner) => textOf(at(owner, 'uid')));
  const when = isPatch ? ' after mutating admission happens' : '';
  warn?.(`.metadata.ownerReferences contains duplicate entries${when}; ${REPEATED_OWNERS} ${repeated.join(', ')}`);
  return { ...object, metadata: { ...recordOf(object.metadata), ownerReferences: kept } };
};

/** Validates metadata. Parts shared with the previous object are already valid. */
export const validateMetadata = (kind: Kind, object: Json, previous?: Json): StatusCause[] => {
  const meta = metaOf(object);
  const before = previous && metaOf(previous);
  const causes: StatusCause[] = [];
  const prefix = meta.generateName;
  if (prefix && !before)
    causes.push(
      ...nameErrors(prefix.replace(/-$/, 'a'), kind.strategy.nameRule ?? 'subdomain').map((why) =>
        invalidValue('metadata.generateName', prefix, why),
      ),
    );
  if (!meta.name) causes.push(requiredField('metadata.name', 'name or generateName is required'));
  else if (meta.name !== before?.name) causes.push(...validateName(meta.name, kind.strategy.nameRule ?? 'subdomain'));
  if (meta.labels && meta.labels !== before?.labels) causes.push(...validateLabels(meta.labels, 'metadata.labels'));
  if (meta.annotations && meta.annotations !== before?.annotations)
    causes.push(...validateAnnotations(meta.annotations));
  if (meta.finalizers && meta.finalizers !== before?.finalizers) causes.push(...finalizerCauses(meta.finalizers));
  if (meta.ownerReferences && meta.ownerReferences !== before?.ownerReferences) causes.push(...ownerCauses(meta));
  if (meta.finalizers && !kind.custom && meta.finalizers !== before?.finalizers)
    causes.push(...unqualifiedFinalizers(meta.finalizers));
  return causes;
};

const addedFinalizers = (object: Json, previous: Json): StatusCause[] => {
  if (at(previous, 'metadata', 'deletionTimestamp') === undefined) return [];
  const before = arrayOf(at(previous, 'metadata', 'finalizers'));
  const added = arrayOf(at(object, 'metadata', 'finalizers')).filter((each) => !before.includes(each));
  if (added.length === 0) return [];
  const list = `[]string{${added.map((each) => JSON.stringify(each)).join(', ')}}`;
  const why = `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`;
  return [forbiddenField('metadata.finalizers', why)];
};

/** Validates an update of metadata; `sent` is the request, before server-managed fields were restored. */
export const validateMetadataUpdate = (object: Json, previous: Json, sent: Json): StatusCause[] => {
  const { uid, deletionTimestamp } = metaOf(sent);
  const causes = addedFinalizers(object, previous);
  if (deletionTimestamp && deletionTimestamp !== at(previous, 'metadata', 'deletionTimestamp'))
    causes.push(invalidValue('metadata.deletionTimestamp', deletionTimestamp, 'field is immutable'));
  if (uid && uid !== at(previous, 'metadata', 'uid'))
    causes.push(invalidValue('metadata.uid', uid, 'field is immutable'));
  // Reported twice, because the real server validates twice.
  return [...causes, ...causes];
};
