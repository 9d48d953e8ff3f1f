import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import type { ReconcilerContext } from '../../../controller/index.ts';
import { controllerRevisions, isKubeError, type KubeClient, pagesOf } from '../../../kube/index.ts';
import { controllerOf, type Owner, recordedTemplate, type TargetRevision } from '../../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';
import { type InPlacePlan, planInPlace } from '../inplace/plan.ts';
import { otherDaemonSetOf } from '../other-owner.ts';
import { mayAdopt } from '../podcontrol/may-adopt.ts';
import type { PreviousOwners } from '../previous-owners.ts';
import { goJson } from './go-json.ts';
import { type HistoryPlan, hashOf, onNameTaken, planHistory, type RevisionSummary, summaryOf } from './history.ts';

/** The current revision of a DaemonSet, validated and recorded. */
export interface CurrentRevision {
  target: TargetRevision;
  /** With all defaults. */
  template: PodTemplateSpec;
  /** By hash of the other kept revisions: how their pods are updated in place. */
  plans: ReadonlyMap<string, InPlacePlan>;
  /** By hash: templates of kept revisions, unless they take too much memory. An in-place update to an earlier revision may have to be completed. */
  templates: ReadonlyMap<string, PodTemplateSpec>;
  /** Hashes of revisions over the history limit, which are deleted once no pod carries them. */
  overLimit: ReadonlySet<string>;
}

export type HistoryResult =
  | { kind: 'synced'; revision: CurrentRevision }
  /** The history changed since it was read; try again. */
  | { kind: 'conflict' }
  /** Revisions have yet to be released by their previous owner. One of them may have the template, so none is recorded. */
  | { kind: 'previous-owner'; owner: Owner };

/** Owned by the DaemonSet, or an orphan. */
const isOwnedOrOrphan = (uid: string, revision: ControllerRevision): boolean => {
  const owner = controllerOf(revision);
  return owner === undefined || owner.uid === uid;
};

/**
 * The API server stores the data byte by byte. The native controller recognizes a template by these bytes, and the API
 * server refuses any patch of a revision, adoption included, whose bytes are not as Go writes them.
 */
const createRevision = (
  client: KubeClient,
  revision: ControllerRevision,
  options: { signal: AbortSignal },
): Promise<ControllerRevision> => {
  const typed: ControllerRevision = { ...revision, apiVersion: 'apps/v1', kind: 'ControllerRevision' };
  return client.create(controllerRevisions, typed, { ...options, json: goJson(typed) });
};

/** A patch without the data: the API server would refuse data that differs in a single byte. */
const patchRevision = (
  client: KubeClient,
  { metadata = {}, revision }: RevisionSummary,
  options: { signal: AbortSignal },
): Promise<ControllerRevision> => {
  const { namespace = '', name = '', uid, resourceVersion, labels, ownerReferences } = metadata;
  const body = { metadata: { uid, resourceVersion, labels, ownerReferences }, revision };
  return client.patch(controllerRevisions, { namespace, name }, body, { type: 'merge', ...options });
};

/**
 * What the templates of one DaemonSet's earlier revisions may take in memory, in characters of JSON: of those that pods carry,
 * and of the others. Pods of a revision without a template here are recreated, not updated in place.
 */
const MAX_LIVE_TEXT = 4 * 1024 * 1024;
const MAX_OTHER_TEXT = 1024 * 1024;

/**
 * The templates that are kept of the revisions read. Users of the namespace decide how many there are, and how large. The one that
 * nodes keep which are kept from the target is kept whatever the others take, and no other revision with its hash takes its place.
 */
const createKeptTemplates = (live: ReadonlySet<string>, held: { name: string; hash: string } | undefined) => {
  const all: { name: string; hash: string; recorded: PodTemplateSpec }[] = [];
  let liveText = 0;
  let otherText = 0;
  return {
    all,
    add(revision: ControllerRevision): void {
      const recorded: PodTemplateSpec | undefined = recordedTemplate(revision);
      if (!recorded) return;
      const hash = hashOf(revision);
      if (hash === held?.hash) {
        if (revision.metadata?.name === held.name) all.push({ name: held.name, hash, recorded });
        return;
      }
      const { length } = JSON.stringify(recorded);
      const fits = live.has(hash) ? liveText + length <= MAX_LIVE_TEXT : otherText + length <= MAX_OTHER_TEXT;
      if (!fits) return;
      if (live.has(hash)) liveText += length;
      else otherText += length;
      all.push({ name: revision.metadata?.name ?? '', hash, recorded });
    },
  };
};

export interface HistorySync {
  sync(
    view: AdvancedView,
    template: PodTemplateSpec,
    /** Hash labels of revisions in use, and the revision that was last complete. */
    inUse: { live: ReadonlySet<string>; held: { name: string; hash: string } | undefined },
    signal: AbortSignal,
  ): Promise<HistoryResult>;
}

/** Creates, adopts and cleans up the revisions of one DaemonSet, once for each template. */
export const createHistorySync = (
  { client, accept }: Pick<ReconcilerContext<AdvancedView, unknown>, 'client' | 'accept'>,
  previousOwners: Pick<PreviousOwners, 'has'>,
): HistorySync => {
  const countCollision = async (view: AdvancedView, signal: AbortSignal): Promise<void> => {
    const { namespace, name, uid, status } = view;
    const body = { metadata: { uid }, status: { collisionCount: (status.collisionCount ?? 0) + 1 } };
    const options = { type: 'merge', subresource: 'status', signal } as const;
    accept(await client.patch(advancedDaemonSets, { namespace, name }, body, options));
  };

  /** Returns false if the history has to be read and planned again. */
  const write = async (view: AdvancedView, plan: HistoryPlan, signal: AbortSignal): Promise<boolean> => {
    const wanted = plan.write;
    if (wanted.kind === 'none') return true;
    try {
      if (wanted.kind === 'create') await createRevision(client, wanted.revision, { signal });
      else await patchRevision(client, wanted.revision, { signal });
      return true;
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return false;
      if (!isKubeError(error, 'AlreadyExists') || wanted.kind !== 'create') throw error;
      const { namespace } = view;
      const existing = await client.get(controllerRevisions, { namespace, name: plan.target.name }, { signal });
      if (onNameTaken(existing, wanted.revision) === 'collision') await countCollision(view, signal);
      return false;
    }
  };

  const adopt = async (revisions: readonly RevisionSummary[], signal: AbortSignal) => {
    for (const revision of revisions)
      try {
        await patchRevision(client, revision, { signal });
      } catch (error) {
        // Deleted, changed, or stored in a form that the API server no longer accepts: it stays an orphan.
        if (!isKubeError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
      }
  };

  const remove = async ({ namespace }: AdvancedView, old: readonly RevisionSummary[], signal: AbortSignal) => {
    for (const { metadata: { name = '', uid, resourceVersion } = {} } of old)
      try {
        const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
        await client.delete(controllerRevisions, { namespace, name }, { preconditions, signal });
      } catch (error) {
        // Deleted already, or in use again.
        if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
      }
  };

  return {
    async sync(view, template, { live, held }, signal) {
      const { namespace, podSelector, uid, apiVersion, name, keep, description } = view;
      const { collisionCount = 0 } = view.status;
      const kept = createKeptTemplates(live, held);
      const revisions: RevisionSummary[] = [];
      const query = { namespace, labelSelector: podSelector, signal };
      const others = new Map<string, Owner>();
      for await (const { items } of pagesOf(client, controllerRevisions, query))
        for (const item of items) {
          const other = otherDaemonSetOf(item, uid);
          if (other) others.set(other.uid, other);
          if (!isOwnedOrOrphan(uid, item)) continue;
          revisions.push(summaryOf(item));
          kept.add(item);
        }
      for (const other of others.values())
        if (await previousOwners.has(other, namespace, signal)) return { kind: 'previous-owner', owner: other };
      const owner = { apiVersion, name, namespace, uid, collisionCount, description };
      const plan = planHistory({ owner, template, revisions, live, keep });
      const hasOrphan = revisions.some((revision) => controllerOf(revision) === undefined);
      if (hasOrphan && !(await mayAdopt(client, view, signal))) return { kind: 'conflict' };
      if (!(await write(view, plan, signal))) return { kind: 'conflict' };
      await adopt(plan.adopt, signal);
      await remove(view, plan.remove, signal);
      const removed = new Set(plan.remove.map((revision) => revision.metadata?.name));
      const plans = new Map<string, InPlacePlan>();
      const templates = new Map([[plan.target.hash, template]]);
      for (const { name: revision, hash, recorded } of kept.all) {
        if (hash === plan.target.hash || removed.has(revision)) continue;
        templates.set(hash, recorded);
        const change = planInPlace(recorded, template, view.template);
        if (change.kind === 'in-place') plans.set(hash, change);
      }
      return {
        kind: 'synced',
        revision: { target: plan.target, template, plans, templates, overLimit: plan.overLimit },
      };
    },
  };
};
