import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodSpec } from 'kubernetes-types/core/v1.d.ts';
import { type CallOptions, isKubeError } from '../../kube/index.ts';
import { imagesOf } from '../../prefetch/index.ts';
import { controllerRevisions } from '../../resources/index.ts';
import {
  annotation,
  controllerOf,
  type DaemonRolloutStatus,
  formatSelector,
  fromLabelSelector,
  recordedTemplate,
  templateDigest,
} from '../../rollout/index.ts';
import type { Connection } from './connect.ts';
import { CommandFailure, daemonSetNotFound } from './failure.ts';
import { listAll } from './list-all.ts';
import { readStatus } from './reading.ts';
import type { RevisedDaemonSet, RevisedKind } from './revised-kinds.ts';

/** A template that a DaemonSet has had, and that is kept in a ControllerRevision of its own. */
export interface KeptRevision {
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
export interface Kept {
  kind: RevisedKind;
  namespace: string;
  name: string;
  daemonSet: RevisedDaemonSet;
  /** By number, the oldest first. */
  revisions: readonly KeptRevision[];
  /** What the DaemonSet asks for now; undefined while its controller has not recorded that. */
  present: KeptRevision | undefined;
  /** The last that every online node was seen to run; undefined also where it is kept no more. */
  lastComplete: KeptRevision | undefined;
  /** Hash of the revision that was rolled back because it failed, and that is not to be set again unnoticed. */
  rolledBackFrom: string | undefined;
  /** What the manager says of the rollout; undefined where there is none. */
  status: DaemonRolloutStatus | undefined;
}

const CHANGE_CAUSE = 'kubernetes.io/change-cause';
export const HASH_LABEL = 'controller-revision-hash';

const toKept = (revision: ControllerRevision): KeptRevision => {
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

/**
 * The newest that holds the present template; else, once the controller has recorded this generation, the newest of all:
 * one that an API server of another version wrote may differ in defaults.
 */
const presentOf = (
  { metadata, spec, status }: RevisedDaemonSet,
  revisions: readonly KeptRevision[],
): KeptRevision | undefined => {
  const digest = templateDigest(spec?.template);
  const same = revisions.findLast(({ template }) => templateDigest(template) === digest);
  const observed = (status?.observedGeneration ?? 0) >= (metadata?.generation ?? 0);
  return same ?? (observed ? revisions.at(-1) : undefined);
};

/** The DaemonSet as it is now. Rejects with a `CommandFailure` where there is none, or none for much longer. */
export const readDaemonSet = async (
  { client, namespace }: Connection,
  { resource }: RevisedKind,
  name: string,
  call: CallOptions = {},
): Promise<RevisedDaemonSet> => {
  try {
    const daemonSet = await client.get(resource, { namespace, name }, call);
    if (!daemonSet.metadata?.deletionTimestamp) return daemonSet;
  } catch (error) {
    throw isKubeError(error, 'NotFound') ? daemonSetNotFound(namespace, name, error) : error;
  }
  throw new CommandFailure(
    'BeingDeleted',
    `DaemonSet ${namespace}/${name} is being deleted: it has no history to go back to`,
  );
};

/** The query for what is the DaemonSet's: pods and revisions carry the labels of its template. */
export const selectorOf = ({ spec }: RevisedDaemonSet): string => {
  const parsed = fromLabelSelector(spec?.selector);
  return parsed.ok ? formatSelector(parsed.selector) : '';
};

/** The revisions that the DaemonSet owns, by number, the oldest first. */
export const readRevisions = async (
  { client, namespace }: Connection,
  daemonSet: RevisedDaemonSet,
  call: CallOptions = {},
): Promise<KeptRevision[]> => {
  const labelSelector = selectorOf(daemonSet);
  const found = await listAll(client, controllerRevisions, { namespace, labelSelector, ...call });
  return found
    .filter((revision) => controllerOf(revision)?.uid === daemonSet.metadata?.uid)
    .map(toKept)
    .toSorted((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1));
};

export const readKept = async (connection: Connection, kind: RevisedKind, name: string): Promise<Kept> => {
  const { namespace } = connection;
  const daemonSet = await readDaemonSet(connection, kind, name);
  const servedByUs = kind.policyOf(daemonSet).kind !== 'off';
  const [revisions, status] = await Promise.all([
    readRevisions(connection, daemonSet),
    // Where nobody opted in there may be no right to read it, and nothing in it is of the present.
    servedByUs ? readStatus(connection, kind.rolloutName(name), daemonSet.metadata?.uid) : undefined,
  ]);
  return {
    kind,
    namespace,
    name,
    daemonSet,
    revisions,
    present: presentOf(daemonSet, revisions),
    lastComplete: revisions.find((revision) => revision.name === status?.lastComplete?.revision),
    rolledBackFrom: daemonSet.metadata?.annotations?.[annotation.rolledBackFrom],
    status,
  };
};

/** `2 (web:2)`: as it is told in a sentence. */
export const inWords = ({ number, images }: KeptRevision): string =>
  images.length > 0 ? `${number} (${images.join(', ')})` : `${number}`;
