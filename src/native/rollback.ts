import { isKubeError, type KubeClient } from '../kube/index.ts';
import { annotation } from '../rollout/index.ts';
import type { DaemonSetView } from './daemonset-view.ts';
import { controllerRevisions, daemonSets } from './resources.ts';

export type RollbackOutcome =
  /** resourceVersion of the DaemonSet as patched: nothing is decided before the watch has delivered it. */
  | { kind: 'done'; resourceVersion: string }
  /** The DaemonSet has changed since the decision. */
  | { kind: 'changed' }
  /** The revision to go back to is no longer kept. */
  | { kind: 'impossible' };

/**
 * Puts the template of an earlier revision back, as `kubectl rollout undo` does: one patch, refused when the DaemonSet
 * has changed since it was looked at.
 */
export const rollBack = async (
  client: KubeClient,
  view: DaemonSetView,
  badHash: string,
  to: { name: string },
  signal: AbortSignal,
): Promise<RollbackOutcome> => {
  const { namespace, name, resourceVersion } = view;
  let template: unknown;
  try {
    const revision = await client.get(controllerRevisions, { namespace, name: to.name }, { signal });
    template = (revision.data as { spec?: { template?: unknown } } | undefined)?.spec?.template;
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) throw error;
  }
  if (typeof template !== 'object' || template === null) return { kind: 'impossible' };
  try {
    const patched = await client.patch(
      daemonSets,
      { namespace, name },
      {
        metadata: { resourceVersion, annotations: { [annotation.rolledBackFrom]: badHash } },
        spec: { template: { ...template, $patch: 'replace' } },
      },
      { type: 'strategic', fieldManager: 'edgeset-manager', signal },
    );
    return { kind: 'done', resourceVersion: patched.metadata?.resourceVersion ?? '' };
  } catch (error) {
    if (isKubeError(error, 'Conflict')) return { kind: 'changed' };
    throw error;
  }
};
