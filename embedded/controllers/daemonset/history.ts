import { controllerRevisions, daemonSets, isKubeError, pods } from '../../../src/kube/index.ts';
import { memoize } from '../../memoize.ts';
import { type StoredDaemonSet, type StoredPod, type StoredRevision, updateStatus } from '../../resources.ts';
import type { ApiServer } from '../../types.ts';
import { ownerReference } from './controller-ref-manager.ts';

// The alphabet of k8s.io/apimachinery/pkg/util/rand.SafeEncodeString, which spells no words.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

const fnv32a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
};

/**
 * The hash label of a revision, in the format of the built-in controller. The value differs: only Go can compute it.
 * `collisions` keeps templates with equal hashes apart.
 */
const templateHash = (template: string, collisions: number | undefined): string => {
  const hash = fnv32a(collisions === undefined ? template : `${template}#${collisions}`);
  return Array.from(String(hash), (digit) => ALPHABET[digit.charCodeAt(0) % ALPHABET.length]).join('');
};

export const HASH_LABEL = 'controller-revision-hash';

export interface History {
  hash: string;
  old: readonly StoredRevision[];
}

/** The work queue retries: the cached DaemonSet is stale. */
class Collision extends Error {
  override readonly name = 'Collision';
  readonly code = 'Collision';
}

const hashOf = ({ metadata }: StoredRevision | StoredPod): string => metadata.labels?.[HASH_LABEL] ?? '';

/** The data of a ControllerRevision: a strategic merge patch that restores the template. */
const revisionDataOf = (template: object | undefined): object => ({
  spec: { template: { $patch: 'replace', ...template } },
});

// Keys are sorted, so that equal data has equal text.
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

const textOf = memoize((data: object) => canonical(data));

const templateTextOf = memoize((template: object) => canonical(revisionDataOf(template)));
const templateText = ({ spec }: StoredDaemonSet): string => templateTextOf(spec?.template ?? {});

/** Maintains a DaemonSet's ControllerRevisions as the built-in controller does. */
export const createHistoryManager = (apiServer: ApiServer) => {
  const refOf = ({ metadata: { namespace, name } }: StoredRevision) => ({ namespace, name });

  const create = (daemonSet: StoredDaemonSet, revision: number): StoredRevision => {
    const { metadata, spec, status } = daemonSet;
    const hash = templateHash(templateText(daemonSet), status?.collisionCount);
    const name = `${metadata.name}-${hash}`;
    const { namespace } = metadata;
    try {
      return apiServer.create<object>(controllerRevisions, {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: {
          name,
          namespace,
          labels: { ...spec?.template.metadata?.labels, [HASH_LABEL]: hash },
          ...(metadata.annotations && { annotations: metadata.annotations }),
          ownerReferences: [ownerReference(daemonSet)],
        },
        data: revisionDataOf(spec?.template),
        revision,
      }) as StoredRevision;
    } catch (error) {
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      const existing = apiServer.get<StoredRevision>(controllerRevisions, { namespace, name });
      if (textOf(existing.data ?? {}) === templateText(daemonSet)) return existing;
      const fresh = apiServer.get<StoredDaemonSet>(daemonSets, { namespace, name: metadata.name });
      if (fresh.status?.collisionCount === status?.collisionCount) {
        const collisionCount = (fresh.status?.collisionCount ?? 0) + 1;
        updateStatus(apiServer, daemonSets, fresh, { collisionCount });
      }
      throw new Collision(`revision ${name} holds another template`, { cause: error });
    }
  };

  /** Of several revisions with the current template, keeps the newest and relabels the pods of the others. */
  const deduplicate = (found: readonly StoredRevision[], claimedPods: readonly StoredPod[]): StoredRevision => {
    const [first, ...others] = found.toSorted((a, b) => b.revision - a.revision);
    if (!first) throw new Error('no revisions to deduplicate');
    if (others.length === 0) return first;
    for (const pod of claimedPods) {
      if (hashOf(pod) === hashOf(first)) continue;
      const { namespace, name } = pod.metadata;
      apiServer.patch(
        pods,
        { namespace, name },
        { metadata: { labels: { [HASH_LABEL]: hashOf(first) } } },
        { type: 'merge' },
      );
    }
    for (const other of others) apiServer.delete(controllerRevisions, refOf(other));
    return first;
  };

  return {
    /** The hash of the current template's revision, which is created or given the highest number if needed. */
    construct(
      daemonSet: StoredDaemonSet,
      claimed: readonly StoredRevision[],
      claimedPods: readonly StoredPod[],
    ): History {
      const labelled = claimed.map((revision) =>
        hashOf(revision) === ''
          ? apiServer.patch<StoredRevision>(
              controllerRevisions,
              refOf(revision),
              { metadata: { labels: { [HASH_LABEL]: revision.metadata.name } } },
              { type: 'merge' },
            )
          : revision,
      );
      const isCurrent = ({ data }: StoredRevision): boolean => textOf(data ?? {}) === templateText(daemonSet);
      const old = labelled.filter((revision) => !isCurrent(revision));
      const next = old.reduce((most, { revision }) => Math.max(most, revision), 0) + 1;
      const found = labelled.filter(isCurrent);
      if (found.length === 0) return { hash: hashOf(create(daemonSet, next)), old };
      const current = deduplicate(found, claimedPods);
      if (current.revision < next) apiServer.update<object>(controllerRevisions, { ...current, revision: next });
      return { hash: hashOf(current), old };
    },

    /** Deletes the oldest revisions beyond the history limit, except those that pods still run. */
    cleanUp(daemonSet: StoredDaemonSet, old: readonly StoredRevision[], claimedPods: readonly StoredPod[]): void {
      let excess = old.length - (daemonSet.spec?.revisionHistoryLimit ?? 10);
      if (excess <= 0) return;
      const live = new Set(claimedPods.map(hashOf));
      for (const revision of old.toSorted((a, b) => a.revision - b.revision)) {
        if (excess <= 0) return;
        if (live.has(hashOf(revision))) continue;
        apiServer.delete(controllerRevisions, refOf(revision));
        excess -= 1;
      }
    },
  };
};
