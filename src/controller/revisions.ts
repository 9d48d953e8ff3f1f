import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import { controllerRevisions, type KubeClient, pagesOf, type Resource } from '../kube/index.ts';
import { recordedTemplate, templateDigest } from '../rollout/index.ts';
import { CHANGE_CAUSE } from '../words/index.ts';
import { controllingDaemonSet, type DaemonSetView, type RecordedRevision, type RevisionView } from './kind.ts';

const HASH_LABEL = 'controller-revision-hash';

export const toRevisionView = (
  revision: ControllerRevision,
  resource: Pick<Resource, 'group' | 'kind'>,
): RevisionView | undefined => {
  const owner = controllingDaemonSet(revision, resource);
  const hash = revision.metadata?.labels?.[HASH_LABEL];
  if (!owner || !hash) return undefined;
  return {
    ownerUid: owner.uid,
    name: revision.metadata?.name ?? '',
    hash,
    number: revision.revision,
    templateDigest: templateDigest(recordedTemplate(revision)),
  };
};

/** The revision with its template; empty for one that no DaemonSet of this kind owns. */
export const toRecorded = (
  revision: ControllerRevision,
  resource: Pick<Resource, 'group' | 'kind'>,
): RecordedRevision[] => {
  const view = toRevisionView(revision, resource);
  const changeCause = revision.metadata?.annotations?.[CHANGE_CAUSE];
  return view ? [{ ...view, template: recordedTemplate(revision), ...(changeCause && { changeCause }) }] : [];
};

/**
 * The revision with the highest number; undefined for none. The native controller uses a number twice if its cache lacks
 * its own last revision, and corrects that with its next sync: of two such revisions, the one of this template.
 */
export const newestRevision = (revisions: Iterable<RevisionView>, digest?: string): RevisionView | undefined => {
  let newest: RevisionView | undefined;
  for (const revision of revisions) {
    const ahead = newest ? revision.number - newest.number : 1;
    if (ahead > 0 || (ahead === 0 && revision.templateDigest === digest)) newest = revision;
  }
  return newest;
};

/** A consistent read of the revisions that a DaemonSet owns. */
export const readRevisions = async (
  client: Pick<KubeClient, 'list'>,
  resource: Pick<Resource, 'group' | 'kind'>,
  { namespace, uid, podSelector }: Pick<DaemonSetView, 'namespace' | 'uid' | 'podSelector'>,
  signal: AbortSignal,
): Promise<RevisionView[]> => {
  const views: RevisionView[] = [];
  // Each keeps a few bytes of an object that may have a megabyte.
  for await (const { items } of pagesOf(client, controllerRevisions, { namespace, labelSelector: podSelector, signal }))
    for (const item of items) {
      const view = toRevisionView(item, resource);
      if (view?.ownerUid === uid) views.push(view);
    }
  return views;
};
