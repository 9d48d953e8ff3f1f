import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerOf, recordedTemplate, type TargetRevision, templateDigest } from '../../rollout/index.ts';
import { revisionHash } from './hash.ts';

export const CHANGE_CAUSE = 'kubernetes.io/change-cause';
export const HASH_LABEL = 'controller-revision-hash';

/** The Advanced DaemonSet whose history it is. */
export interface HistoryOwner {
  apiVersion: string;
  name: string;
  namespace: string;
  uid: string;
  /** Of its status; 0 when absent. */
  collisionCount: number;
  /** What its user says of the present template, kept with it as Kubernetes keeps it for native DaemonSets. */
  changeCause?: string | undefined;
}

export interface HistoryInput {
  owner: HistoryOwner;
  /** With all defaults, as the API server gave it back. */
  template: PodTemplateSpec;
  /** Those that the owner controls, and those that nobody does and that its selector matches. */
  revisions: readonly ControllerRevision[];
  /** Hash labels of pods that are there. */
  live: ReadonlySet<string>;
  /** How many revisions beside the target to keep to go back to. */
  keep: number;
}

/** What is to be written before anything is done with the target; `none` when all is there. */
export type HistoryWrite =
  | { kind: 'none' }
  | { kind: 'create'; revision: ControllerRevision }
  /** The revision exists: it becomes ours if it is nobody's, gets its label if it has none, and the highest number. */
  | { kind: 'renumber'; revision: ControllerRevision };

export interface HistoryPlan {
  target: TargetRevision;
  write: HistoryWrite;
  /** Nobody's, and matched by the selector, as they are to be: a DaemonSet that was deleted with its pods orphaned left them. */
  adopt: readonly ControllerRevision[];
  /** Too old, and no pod runs them; the oldest first. To be removed after the write. */
  remove: readonly ControllerRevision[];
  /** Hashes of those that are too old as well, and stay for the pods that carry them. */
  overLimit: ReadonlySet<string>;
}

const hashOf = ({ metadata }: ControllerRevision): string => metadata?.labels?.[HASH_LABEL] ?? metadata?.name ?? '';

/** The strategic merge patch that puts a template back: the form in which the native controller keeps its own. */
export const revisionData = (template: object): object => ({ spec: { template: { $patch: 'replace', ...template } } });

const ownerReference = ({ apiVersion, name, uid }: HistoryOwner) => ({
  apiVersion,
  kind: 'DaemonSet',
  name,
  uid,
  controller: true,
  blockOwnerDeletion: true,
});

const newRevision = (owner: HistoryOwner, template: PodTemplateSpec, digest: string, number: number) => {
  const hash = revisionHash(digest, owner.collisionCount);
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: `${owner.name}-${hash}`,
      namespace: owner.namespace,
      labels: { ...template.metadata?.labels, [HASH_LABEL]: hash },
      ...(owner.changeCause !== undefined && { annotations: { [CHANGE_CAUSE]: owner.changeCause } }),
      ownerReferences: [ownerReference(owner)],
    },
    data: revisionData(template),
    revision: number,
  } satisfies ControllerRevision;
};

/** Oldest first; of the same number the one that sorts first by name. */
const byAge = (a: ControllerRevision, b: ControllerRevision): number =>
  a.revision - b.revision || ((a.metadata?.name ?? '') < (b.metadata?.name ?? '') ? -1 : 1);

const targetOf = (revision: ControllerRevision): TargetRevision => ({
  name: revision.metadata?.name ?? '',
  hash: hashOf(revision),
  number: revision.revision,
});

/** The revision as it has to be: the owner's, labelled, with this number; itself when it is so already. */
const settled = (revision: ControllerRevision, owner: HistoryOwner, number: number): ControllerRevision => {
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
        : [...(metadata.ownerReferences ?? []), ownerReference(owner)],
    },
    revision: number,
  };
};

/**
 * Finds the revision that holds the template, or makes one; an earlier one that is asked for again gets the highest
 * number. Of several that hold it (two leaders, or a native DaemonSet's beside ours) the one that most pods may carry is
 * taken: the newest of those that pods carry, else the newest.
 */
export const planHistory = ({ owner, template, revisions, live, keep }: HistoryInput): HistoryPlan => {
  const digest = templateDigest(template);
  const ordered = revisions.toSorted(byAge);
  const same = ordered.filter((revision) => templateDigest(recordedTemplate(revision)) === digest);
  const found = same.findLast((revision) => live.has(hashOf(revision))) ?? same.at(-1);
  const others = ordered.filter((revision) => revision !== found);
  const highest = others.at(-1)?.revision ?? 0;

  const isOrphan = (revision: ControllerRevision): boolean =>
    controllerOf(revision) === undefined && recordedTemplate(revision) !== undefined;
  const adopt = others.filter(isOrphan).map((revision) => settled(revision, owner, revision.revision));
  const ours = others.filter((revision) => controllerOf(revision)?.uid === owner.uid);
  const idle = ours.filter((revision) => !live.has(hashOf(revision)));
  const remove = idle.slice(0, Math.max(0, ours.length - keep));
  const isOver = ours.length - remove.length > keep;
  const overLimit = new Set(isOver ? ours.map(hashOf).filter((hash) => live.has(hash)) : []);

  if (!found) {
    const revision = newRevision(owner, template, digest, highest + 1);
    return { target: targetOf(revision), write: { kind: 'create', revision }, adopt, remove, overLimit };
  }
  const revision = settled(found, owner, found.revision > highest ? found.revision : highest + 1);
  return {
    target: targetOf(revision),
    write: revision === found ? { kind: 'none' } : { kind: 'renumber', revision },
    adopt,
    remove,
    overLimit,
  };
};

/**
 * The name of a revision that was to be created is taken. The same owner and template: another leader, or an answer that
 * was lost, made it, and nothing is left to do. Else the collision count of the DaemonSet has to be raised.
 */
export const onNameTaken = (existing: ControllerRevision, wanted: ControllerRevision): 'same' | 'collision' =>
  controllerOf(existing)?.uid === controllerOf(wanted)?.uid &&
  templateDigest(recordedTemplate(existing)) === templateDigest(recordedTemplate(wanted))
    ? 'same'
    : 'collision';
