import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { controllerOf, recordedTemplate, type TargetRevision } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';
import { type InPlacePlan, planInPlace } from '../inplace/plan.ts';
import { goJson } from './go-json.ts';
import { HASH_LABEL, type HistoryPlan, onNameTaken, planHistory } from './history.ts';

/** The current revision of a DaemonSet, validated and recorded. */
export interface CurrentRevision {
  target: TargetRevision;
  /** With all defaults. */
  template: PodTemplateSpec;
  /** By hash of the other kept revisions: how their pods are updated in place. */
  plans: ReadonlyMap<string, InPlacePlan>;
  /** By hash: templates of all kept revisions. An in-place update to an earlier revision may have to be completed. */
  templates: ReadonlyMap<string, PodTemplateSpec>;
  /** Hashes of revisions over the history limit, which are deleted once no pod carries them. */
  overLimit: ReadonlySet<string>;
}

/** `conflict`: the history changed since it was read; try again. */
export type HistoryResult = { kind: 'synced'; revision: CurrentRevision } | { kind: 'conflict' };

const hashOf = ({ metadata }: ControllerRevision): string => metadata?.labels?.[HASH_LABEL] ?? metadata?.name ?? '';

/** Owned by the DaemonSet, or an orphan. */
const isOwnedOrOrphan =
  (uid: string) =>
  (revision: ControllerRevision): boolean => {
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
  { metadata = {}, revision }: ControllerRevision,
  options: { signal: AbortSignal },
): Promise<ControllerRevision> => {
  const { namespace = '', name = '', uid, resourceVersion, labels, ownerReferences } = metadata;
  const body = { metadata: { uid, resourceVersion, labels, ownerReferences }, revision };
  return client.patch(controllerRevisions, { namespace, name }, body, { type: 'merge', ...options });
};

/** Creates, adopts and cleans up the revisions of one DaemonSet, once for each template. */
export const createHistorySync = (client: KubeClient) => {
  /** The cache may not show our last write of the collision count. */
  let collisionCount = 0;

  const countCollision = async (view: AdvancedView, signal: AbortSignal): Promise<void> => {
    collisionCount += 1;
    const { namespace, name, uid } = view;
    const body = { metadata: { uid }, status: { collisionCount } };
    await client.patch(advancedDaemonSets, { namespace, name }, body, { type: 'merge', subresource: 'status', signal });
  };

  /** Returns false if the history has to be read and planned again. */
  const write = async (view: AdvancedView, plan: HistoryPlan, signal: AbortSignal): Promise<boolean> => {
    if (plan.write.kind === 'none') return true;
    try {
      const writeRevision = plan.write.kind === 'create' ? createRevision : patchRevision;
      await writeRevision(client, plan.write.revision, { signal });
      return true;
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return false;
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      const { namespace } = view;
      const existing = await client.get(controllerRevisions, { namespace, name: plan.target.name }, { signal });
      if (onNameTaken(existing, plan.write.revision) === 'collision') await countCollision(view, signal);
      return false;
    }
  };

  const adopt = async (revisions: readonly ControllerRevision[], signal: AbortSignal) => {
    for (const revision of revisions)
      try {
        await patchRevision(client, revision, { signal });
      } catch (error) {
        // Deleted, changed, or stored in a form that the API server no longer accepts: it stays an orphan.
        if (!isKubeError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
      }
  };

  const remove = async ({ namespace }: AdvancedView, old: readonly ControllerRevision[], signal: AbortSignal) => {
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
    async sync(
      view: AdvancedView,
      template: PodTemplateSpec,
      live: ReadonlySet<string>,
      signal: AbortSignal,
    ): Promise<HistoryResult> {
      const { namespace, podSelector, uid, apiVersion, name, keep, changeCause } = view;
      collisionCount = Math.max(collisionCount, view.status.collisionCount ?? 0);
      const { items } = await client.list(controllerRevisions, { namespace, labelSelector: podSelector, signal });
      const revisions = items.filter(isOwnedOrOrphan(uid));
      const owner = { apiVersion, name, namespace, uid, collisionCount, changeCause };
      const plan = planHistory({ owner, template, revisions, live, keep });
      if (!(await write(view, plan, signal))) return { kind: 'conflict' };
      await adopt(plan.adopt, signal);
      await remove(view, plan.remove, signal);
      const removed = new Set(plan.remove.map((revision) => revision.metadata?.name));
      const plans = new Map<string, InPlacePlan>();
      const templates = new Map([[plan.target.hash, template]]);
      for (const revision of revisions) {
        const hash = hashOf(revision);
        const recorded: PodTemplateSpec | undefined = recordedTemplate(revision);
        if (!recorded || hash === plan.target.hash || removed.has(revision.metadata?.name)) continue;
        templates.set(hash, recorded);
        const change = planInPlace(recorded, template);
        if (change.kind === 'in-place') plans.set(hash, change);
      }
      return {
        kind: 'synced',
        revision: { target: plan.target, template, plans, templates, overLimit: plan.overLimit },
      };
    },
  };
};
export type HistorySync = ReturnType<typeof createHistorySync>;
