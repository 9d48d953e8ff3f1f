import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { PodTemplateSpec } from 'kubernetes-types/core/v1.d.ts';
import { controllerRevisions, isKubeError, type KubeClient } from '../../kube/index.ts';
import { controllerOf, recordedTemplate, type TargetRevision } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';
import { type InPlacePlan, planInPlace } from '../inplace/plan.ts';
import { HASH_LABEL, type HistoryPlan, onNameTaken, planHistory } from './history.ts';
import { adoptRevision, writeRevision } from './write.ts';

/** What a DaemonSet asks for, proved and on record. */
export interface CurrentRevision {
  target: TargetRevision;
  /** With all defaults. */
  template: PodTemplateSpec;
  /** How pods of other kept revisions become the target while they run, by their hash. */
  plans: ReadonlyMap<string, InPlacePlan>;
  /** Templates of all kept revisions, by hash: a pod may have to be brought to its own one to the end. */
  templates: ReadonlyMap<string, PodTemplateSpec>;
  /** Hashes of revisions that go once no pod carries them. */
  overLimit: ReadonlySet<string>;
}

/** `again`: somebody else changed what was read; to be read anew. */
export type Recorded = { kind: 'known'; revision: CurrentRevision } | { kind: 'again' };

const hashOf = ({ metadata }: ControllerRevision): string => metadata?.labels?.[HASH_LABEL] ?? metadata?.name ?? '';

const isMine =
  (uid: string) =>
  (revision: ControllerRevision): boolean => {
    const owner = controllerOf(revision);
    return owner === undefined || owner.uid === uid;
  };

/** The revisions of one DaemonSet: read, written and cleaned up once for each template. */
export const createHistorySync = (client: KubeClient) => {
  /** The watch of the DaemonSet may be behind our own write of its status. */
  let collisions = 0;

  const raiseCollisions = async (view: AdvancedView, signal: AbortSignal): Promise<void> => {
    collisions += 1;
    const { namespace, name, uid } = view;
    const body = { metadata: { uid }, status: { collisionCount: collisions } };
    await client.patch(advancedDaemonSets, { namespace, name }, body, { type: 'merge', subresource: 'status', signal });
  };

  /** What was planned stands: `undefined` when all is to be read and planned anew. */
  const write = async (
    view: AdvancedView,
    plan: HistoryPlan,
    signal: AbortSignal,
  ): Promise<ControllerRevision | 'nothing' | undefined> => {
    if (plan.write.kind === 'none') return 'nothing';
    try {
      return await writeRevision(client, plan.write, { signal });
    } catch (error) {
      if (isKubeError(error, 'Conflict', 'NotFound')) return undefined;
      if (!isKubeError(error, 'AlreadyExists')) throw error;
      const { namespace } = view;
      const existing = await client.get(controllerRevisions, { namespace, name: plan.target.name }, { signal });
      if (onNameTaken(existing, plan.write.revision) === 'collision') await raiseCollisions(view, signal);
      return undefined;
    }
  };

  const adopt = async (revisions: readonly ControllerRevision[], signal: AbortSignal) => {
    for (const revision of revisions)
      try {
        await adoptRevision(client, revision, { signal });
      } catch (error) {
        // Gone, changed since, or written in a form that may not be written again: it stays what it is.
        if (!isKubeError(error, 'NotFound', 'Conflict', 'Invalid')) throw error;
      }
  };

  const remove = async ({ namespace }: AdvancedView, old: readonly ControllerRevision[], signal: AbortSignal) => {
    for (const { metadata: { name = '', uid, resourceVersion } = {} } of old)
      try {
        const preconditions = { ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) };
        await client.delete(controllerRevisions, { namespace, name }, { preconditions, signal });
      } catch (error) {
        // Gone already, or wanted by somebody again.
        if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
      }
  };

  return {
    async sync(
      view: AdvancedView,
      template: PodTemplateSpec,
      live: ReadonlySet<string>,
      signal: AbortSignal,
    ): Promise<Recorded> {
      const { namespace, podSelector, uid, apiVersion, name, keep, changeCause } = view;
      collisions = Math.max(collisions, view.status.collisionCount ?? 0);
      const { items } = await client.list(controllerRevisions, { namespace, labelSelector: podSelector, signal });
      const revisions = items.filter(isMine(uid));
      const owner = { apiVersion, name, namespace, uid, collisionCount: collisions, changeCause };
      const plan = planHistory({ owner, template, revisions, live, keep });
      if ((await write(view, plan, signal)) === undefined) return { kind: 'again' };
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
        kind: 'known',
        revision: { target: plan.target, template, plans, templates, overLimit: plan.overLimit },
      };
    },
  };
};
export type HistorySync = ReturnType<typeof createHistorySync>;
