import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, recordedTemplate, type TargetRevision, templateDigest } from '../../../rollout/index.ts';
import { annotation, CHANGE_CAUSE } from '../../../words/index.ts';
import { controllerRef } from '../api/types.ts';
import { revisionHash } from './hash.ts';

export const HASH_LABEL = 'controller-revision-hash';

/** The Advanced DaemonSet that owns the history. */
export interface HistoryOwner {
  apiVersion: string;
  name: string;
  namespace: string;
  uid: string;
  /** From its status; 0 if absent. */
  collisionCount: number;
  /** See `describing`. */
  description?: Readonly<Record<string, string>>;
}

const DESCRIBING: readonly string[] = [CHANGE_CAUSE, annotation.releaseNotes];

/** Annotations of a DaemonSet that describe its template. A revision records them, as those of native DaemonSets do. */
export const describing = (annotations: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(annotations).filter(([key]) => DESCRIBING.includes(key)));

/** What is kept of a revision while the history is planned: not its template, which may be as large as an object can be. */
export type RevisionSummary = Pick<ControllerRevision, 'metadata' | 'revision'> & {
  /** Undefined: it records no template. */
  digest: string | undefined;
};

export const summaryOf = (recorded: ControllerRevision): RevisionSummary => {
  const { managedFields: _, annotations: __, ...metadata } = recorded.metadata ?? {};
  const template = recordedTemplate(recorded);
  return { metadata, revision: recorded.revision, digest: template && templateDigest(template) };
};

export interface HistoryInput {
  owner: HistoryOwner;
  /** With the API server's defaults. */
  template: PodTemplateSpec;
  /** Revisions that the owner controls, and orphans that its selector matches. */
  revisions: readonly RevisionSummary[];
  /** Hash labels of revisions in use. */
  live: ReadonlySet<string>;
  /** How many revisions to keep in addition to the target. */
  keep: number;
}

/** The write that must succeed before the target is used. */
export type HistoryWrite =
  | { kind: 'none' }
  | { kind: 'create'; revision: ControllerRevision }
  /** Adopts and labels an existing revision if necessary, and gives it the highest number. */
  | { kind: 'renumber'; revision: RevisionSummary };

export interface HistoryPlan {
  target: TargetRevision;
  write: HistoryWrite;
  /** Orphans of a deleted DaemonSet that the selector matches, as they should be written. */
  adopt: readonly RevisionSummary[];
  /** Over the history limit and not in use, oldest first. Deleted after the write. */
  remove: readonly RevisionSummary[];
  /** Hashes of revisions over the history limit that are still in use. */
  overLimit: ReadonlySet<string>;
}

export const hashOf = ({ metadata }: Pick<ControllerRevision, 'metadata'>): string =>
  metadata?.labels?.[HASH_LABEL] ?? metadata?.name ?? '';

/** A strategic merge patch that restores the template, in the format of the native controller. */
export const revisionData = (template: object): object => ({ spec: { template: { $patch: 'replace', ...template } } });

const newRevision = (owner: HistoryOwner, template: PodTemplateSpec, digest: string, number: number) => {
  const hash = revisionHash(digest, owner.collisionCount);
  const { description = {} } = owner;
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.name}-${hash}`,
      namespace: owner.namespace,
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ...(Object.keys(description).length > 0 && { annotations: description }),
      ownerReferences: [controllerRef(owner)],
    },
    data: revisionData(template),
    revision: number,
  } satisfies ControllerRevision;
};

/** Oldest first, ties by name. */
const byAge = (a: RevisionSummary, b: RevisionSummary): number =>
  a.revision - b.revision || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1);

const targetOf = (revision: Pick<ControllerRevision, 'metadata' | 'revision'>): TargetRevision => ({
  name: revision.metadata?.name ?? '',
  hash: hashOf(revision),
  number: revision.revision,
});

/** The revision with owner, hash label and this number; the same object if nothing differs. */
const withOwner = (revision: RevisionSummary, owner: HistoryOwner, number: number): RevisionSummary => {
  const { metadata = {} } = revision;
  const owned = controllerOf(revision)?.uid === owner.uid;
  const labelled = metadata.labels?.[HASH_LABEL] !== undefined;
  if (owned && labelled && revision.revision === number) return revision;
  return {
    ...revision,
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [HASH_LABEL]: hashOf(revision) },
      ownerReferences: owned
        ? (metadata.ownerReferences ?? [])
        : [...(metadata.ownerReferences ?? []), controllerRef(owner)],
    },
    revision: number,
  };
};

/**
 * Finds or creates the revision of the template. An earlier revision that becomes current again gets the highest number. If
 * several have the template (from two leaders, or from a native DaemonSet), the newest one in use is current, else the newest.
 */
export const planHistory = ({ owner, template, revisions, live, keep }: HistoryInput): HistoryPlan => {
  const digest = templateDigest(template);
  const ordered = revisions.toSorted(byAge);
  const matching = ordered.filter((revision) => revision.digest === digest);
  const found = matching.findLast((revision) => live.has(hashOf(revision))) ?? matching.at(-1);
  const others = ordered.filter((revision) => revision !== found);
  const highest = others.at(-1)?.revision ?? 0;

  const isOrphan = (revision: RevisionSummary): boolean =>
    controllerOf(revision) === undefined && revision.digest !== undefined;
  const adopt = others.filter(isOrphan).map((revision) => withOwner(revision, owner, revision.revision));
  const ours = others.filter((revision) => controllerOf(revision)?.uid === owner.uid);
  const unused = ours.filter((revision) => !live.has(hashOf(revision)));
  const remove = unused.slice(0, Math.max(0, ours.length - keep));
  const isOverLimit = ours.length - remove.length > keep;
  const overLimit = new Set(isOverLimit ? ours.map(hashOf).filter((hash) => live.has(hash)) : []);

  if (!found) {
    const revision = newRevision(owner, template, digest, highest + 1);
    return { target: targetOf(revision), write: { kind: 'create', revision }, adopt, remove, overLimit };
  }
  const revision = withOwner(found, owner, found.revision > highest ? found.revision : highest + 1);
  return {
    target: targetOf(revision),
    write: revision === found ? { kind: 'none' } : { kind: 'renumber', revision },
    adopt,
    remove,
    overLimit,
  };
};

/**
 * The name of a new revision is taken. With the same owner and template, another leader or an earlier attempt created it.
 * Otherwise the collision count of the DaemonSet must be increased.
 */
export const onNameTaken = (existing: ControllerRevision, wanted: ControllerRevision): 'same' | 'collision' =>
  controllerOf(existing)?.uid === controllerOf(wanted)?.uid &&
  templateDigest(recordedTemplate(existing)) === templateDigest(recordedTemplate(wanted))
    ? 'same'
    : 'collision';
