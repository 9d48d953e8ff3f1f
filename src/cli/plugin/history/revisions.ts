import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type CallOptions, controllerRevisions } from '../../../kube/index.ts';
import { imagesOf } from '../../../prefetch/index.ts';
import {
  annotation,
  controllerOf,
  type DaemonRolloutStatus,
  formatSelector,
  fromLabelSelector,
  type ParsedPolicy,
  recordedTemplate,
  templateDigest,
} from '../../../rollout/index.ts';
import { type Connection, listAll } from '../connection.ts';
import { CommandError } from '../errors.ts';
import type { DaemonSetKind, DaemonSetLike, DaemonSetState } from '../kinds/kind.ts';
import { findKind, type Named } from '../kinds/names.ts';
import { readDaemonSet, readStatus } from '../read-rollout.ts';

/** A template that a DaemonSet has had, and that is kept in a ControllerRevision of its own. */
export interface Revision {
  number: number;
  name: string;
  /** Label of its pods. */
  hash: string;
  /** RFC 3339. */
  createdAt: string;
  images: string[];
  changeCause: string | undefined;
  /** Undefined for data that holds none. */
  template: object | undefined;
}

/** What is known of a DaemonSet's past. */
export interface RevisionHistory {
  kind: DaemonSetKind;
  namespace: string;
  name: string;
  daemonSet: DaemonSetLike;
  policy: ParsedPolicy;
  /** By number, the oldest first. */
  revisions: readonly Revision[];
  /** What the DaemonSet asks for now; undefined while its controller has not recorded that. */
  present: Revision | undefined;
  /** The newest revision may be the present one, and nobody has said so yet. */
  uncertain: boolean;
  /** The present template, as far as that is known in the form in which revisions record it. */
  template: object | undefined;
  /** The last that every online node was seen to run; undefined also where it is kept no more. */
  lastComplete: Revision | undefined;
  /** Hash of the revision that was rolled back because it failed, and that is not to be set again unnoticed. */
  rolledBackHash: string | undefined;
  /** What the manager says of the rollout; undefined where there is none. */
  status: DaemonRolloutStatus | undefined;
}

const CHANGE_CAUSE = 'kubernetes.io/change-cause';
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

/** Whether everything that `said` names is the same in `recorded`, which may name more. */
const covers = (recorded: unknown, said: unknown): boolean => {
  if (typeof said !== 'object' || said === null) return (said ?? undefined) === (recorded ?? undefined);
  if (typeof recorded !== 'object' || recorded === null) return false;
  const found: Readonly<Record<string, unknown>> = { ...recorded };
  const sizes = Array.isArray(said) && Array.isArray(recorded) ? said.length === recorded.length : true;
  return sizes && Object.entries(said).every(([key, value]) => covers(found[key], value));
};

/**
 * The newest that holds the present template; else, once the controller has recorded this generation, the newest of all:
 * one that an API server of another version wrote may differ in defaults. Without that, one that was recorded with
 * defaults may be the present one, or not: `uncertain`.
 */
const presentOf = (
  { metadata, spec, status }: DaemonSetLike,
  revisions: readonly Revision[],
  { recordsDefaults }: DaemonSetKind,
): Pick<RevisionHistory, 'present' | 'uncertain'> => {
  const digest = templateDigest(spec?.template);
  const same = revisions.findLast(({ template }) => templateDigest(template) === digest);
  const newest = revisions.at(-1);
  const observed = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  const present = same ?? (observed ? newest : undefined);
  return { present, uncertain: !present && recordsDefaults && covers(newest?.template, spec?.template) };
};

/** The DaemonSet as it is now. Rejects with a `CommandFailure` where there is none, or none for much longer. */
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
      `${kind.title} ${connection.namespace}/${name} is being deleted: it has no history to go back to`,
    );
  return subject;
};

/** The query for what is the DaemonSet's: pods and revisions carry the labels of its template. */
export const selectorOf = ({ spec }: DaemonSetLike): string => {
  const parsed = fromLabelSelector(spec?.selector);
  return parsed.ok ? formatSelector(parsed.selector) : '';
};

/** The revisions that the DaemonSet owns, by number, the oldest first. */
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
  const { namespace } = connection;
  const { name } = named;
  const kind = await findKind(connection, named);
  const { object: daemonSet, policy } = await readDaemonSet(connection, kind, name);
  const [revisions, status] = await Promise.all([
    readRevisions(connection, daemonSet),
    // Where nobody opted in there may be no right to read it, and nothing in it is of the present.
    policy.kind === 'off' ? undefined : readStatus(connection, kind.rolloutName(name), daemonSet.metadata?.uid),
  ]);
  const { present, uncertain } = presentOf(daemonSet, revisions, kind);
  return {
    kind,
    namespace,
    name,
    daemonSet,
    policy,
    revisions,
    present,
    uncertain,
    template: (kind.recordsDefaults ? present?.template : undefined) ?? daemonSet.spec?.template,
    lastComplete: revisions.find((revision) => revision.name === status?.lastComplete?.revision),
    rolledBackHash: daemonSet.metadata?.annotations?.[annotation.rolledBackFrom],
    status,
  };
};

/** `2 (web:2)`: as it is told in a sentence. */
export const describeRevision = ({ number, images }: Revision): string =>
  images.length > 0 ? `${number} (${images.join(', ')})` : `${number}`;
