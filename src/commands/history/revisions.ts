import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type CallOptions, controllerRevisions, listAll } from '../../kube/index.ts';
import {
  controllerOf,
  formatSelector,
  fromLabelSelector,
  imagesOf,
  type ParsedPolicy,
  recordedTemplate,
  templateDigest,
} from '../../rollout/index.ts';
import {
  CommandError,
  type Connection,
  type DaemonSetKind,
  type DaemonSetLike,
  type DaemonSetState,
  findKind,
  type Named,
  readDaemonSet,
  readStatus,
} from '../../view/index.ts';
import { annotation, CHANGE_CAUSE, type DaemonRolloutStatus } from '../../words/index.ts';

/** A template that a DaemonSet had, as recorded in a ControllerRevision. */
export interface Revision {
  number: number;
  name: string;
  /** The label controller-revision-hash of its pods. */
  hash: string;
  /** RFC 3339. */
  createdAt: string;
  images: string[];
  changeCause: string | undefined;
  /** Undefined if the data contains none. */
  template: object | undefined;
}

/** The revisions of a DaemonSet, and how they relate to its rollout. */
export interface RevisionHistory extends Pick<Connection, 'edgeset'> {
  kind: DaemonSetKind;
  namespace: string;
  name: string;
  daemonSet: DaemonSetLike;
  policy: ParsedPolicy;
  /** Sorted by number, oldest first. */
  revisions: readonly Revision[];
  /** The revision of the DaemonSet's template; undefined until its controller has recorded it. */
  present: Revision | undefined;
  /** The newest revision may be the current one, but its controller has not confirmed that yet. */
  uncertain: boolean;
  /** The current template, in the form in which revisions record it, if known. */
  template: object | undefined;
  /** The last revision that every online node ran; undefined if it is no longer kept. */
  lastComplete: Revision | undefined;
  /** Hash of the revision that failed and was rolled back. */
  rolledBackHash: string | undefined;
  status: DaemonRolloutStatus | undefined;
}

export const HASH_LABEL = 'controller-revision-hash';

const toKept = (revision: ControllerRevision): Revision => {
  const { metadata } = revision;
  const { $patch: _, ...template }: { $patch?: unknown; spec?: PodSpec } = recordedTemplate(revision) ?? {};
  return {
    number: revision.revision,
    name: metadata?.name ?? '',
    hash: metadata?.labels?.[HASH_LABEL] ?? '',
    createdAt: metadata?.creationTimestamp ?? '',
    images: template.spec ? imagesOf(template.spec).map(({ image }) => image) : [],
    changeCause: metadata?.annotations?.[CHANGE_CAUSE],
    template: template.spec && template,
  };
};

/** Whether `recorded` has every field of `wanted`, and possibly more. */
const covers = (recorded: unknown, wanted: unknown): boolean => {
  if (typeof wanted !== 'object' || wanted === null) return (wanted ?? undefined) === (recorded ?? undefined);
  if (typeof recorded !== 'object' || recorded === null) return false;
  const found: Readonly<Record<string, unknown>> = { ...recorded };
  const sizes = Array.isArray(wanted) && Array.isArray(recorded) ? wanted.length === recorded.length : true;
  return sizes && Object.entries(wanted).every(([key, value]) => covers(found[key], value));
};

/** The API server refuses the current template, so it has no revision. */
const isRefused = ({ metadata, status }: DaemonSetLike): boolean =>
  status?.conditions?.some(
    ({ type, status: is, reason, observedGeneration }) =>
      type === 'Stalled' &&
      is === 'True' &&
      reason === 'InvalidTemplate' &&
      observedGeneration === metadata?.generation,
  ) ?? false;

/**
 * The newest revision with the current template. If there is none and the controller has observed this generation, the
 * newest of all: an API server of another version may have written other defaults. Otherwise, a newest revision that
 * was recorded with defaults may or may not be the current one: `uncertain`.
 */
const presentOf = (
  daemonSet: DaemonSetLike,
  revisions: readonly Revision[],
  { recordsDefaults }: DaemonSetKind,
): Pick<RevisionHistory, 'present' | 'uncertain'> => {
  if (isRefused(daemonSet)) return { present: undefined, uncertain: false };
  const { metadata, spec, status } = daemonSet;
  const digest = templateDigest(spec?.template);
  const same = revisions.findLast(({ template }) => templateDigest(template) === digest);
  const newest = revisions.at(-1);
  const observed = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const present = same ?? (observed ? newest : undefined);
  return { present, uncertain: !present && recordsDefaults && covers(newest?.template, spec?.template) };
};

/**
 * The name of the last complete revision. The manager forgets it once a rollback to it was impossible, so that it does not
 * try again; the history still knows it.
 */
export const lastCompleteName = (status: DaemonRolloutStatus | undefined): string | undefined =>
  status?.lastComplete?.revision ?? status?.history?.find(({ finishedAt }) => finishedAt !== undefined)?.to.revision;

/** Reads the DaemonSet. Rejects with a `CommandError` if there is none, or if it is being deleted. */
export const readLiveDaemonSet = async (
  connection: Connection,
  kind: DaemonSetKind,
  name: string,
  call: CallOptions = {},
): Promise<DaemonSetState> => {
  const subject = await readDaemonSet(connection, kind, name, call);
  if (subject.object.metadata?.deletionTimestamp)
    throw new CommandError(
      'BeingDeleted',
      `${kind.title} ${connection.namespace}/${name} is being deleted: it cannot be rolled back`,
    );
  return subject;
};

/** The label selector for its pods and revisions, which have the labels of its template. */
export const selectorOf = ({ spec }: DaemonSetLike): string => {
  const parsed = fromLabelSelector(spec?.selector);
  return parsed.ok ? formatSelector(parsed.selector) : '';
};

/** The revisions that the DaemonSet owns, sorted by number, oldest first. */
export const readRevisions = async (
  { client, namespace }: Connection,
  daemonSet: DaemonSetLike,
  call: CallOptions = {},
): Promise<Revision[]> => {
  const labelSelector = selectorOf(daemonSet);
  const found = await listAll(client, controllerRevisions, { namespace, labelSelector, ...call });
  return found
    .filter((revision) => controllerOf(revision)?.uid === daemonSet.metadata?.uid)
    .map(toKept)
    .toSorted((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1));
};

export const readHistory = async (connection: Connection, named: Named): Promise<RevisionHistory> => {
  const { namespace, edgeset } = connection;
  const { name } = named;
  const kind = await findKind(connection, named);
  const { object: daemonSet, policy } = await readDaemonSet(connection, kind, name);
  const [revisions, status] = await Promise.all([
    readRevisions(connection, daemonSet),
    // Without opt-in, the user may not be allowed to read it, and it would be outdated.
    policy.kind === 'off' ? undefined : readStatus(connection, kind.rolloutName(name), daemonSet.metadata?.uid),
  ]);
  const { present, uncertain } = presentOf(daemonSet, revisions, kind);
  return {
    kind,
    namespace,
    name,
    edgeset,
    daemonSet,
    policy,
    revisions,
    present,
    uncertain,
    template: (kind.recordsDefaults ? present?.template : undefined) ?? daemonSet.spec?.template,
    lastComplete: revisions.find((revision) => revision.name === lastCompleteName(status)),
    rolledBackHash: daemonSet.metadata?.annotations?.[annotation.rolledBackFrom],
    status,
  };
};

/** `2 (web:2)`, for messages. */
export const describeRevision = ({ number, images }: Revision): string =>
  images.length > 0 ? `${number} (${images.join(', ')})` : `${number}`;
