import { isKubeError, type KubeClient } from '../kube/index.ts';
import { annotation, recordedTemplate } from '../rollout/index.ts';
import type { DaemonSetView } from './daemonset-view.ts';
import { controllerRevisions, daemonSets } from './resources.ts';

export type RollbackOutcome =
  /** resourceVersion of the DaemonSet as patched: nothing is decided before the watch has delivered it. */
  | { kind: 'done'; resourceVersion: string }
  /** The DaemonSet has changed since the decision. */
  | { kind: 'changed' }
  /** The revision to go back to is no longer kept. */
  | { kind: 'impossible' }
  /** `reason`: the API server's own word; undefined when no answer came. */
  | { kind: 'failed'; reason: string | undefined; message: string };

const failed = (error: unknown): RollbackOutcome => {
  if (!isKubeError(error)) throw error;
  return { kind: 'failed', reason: error.status > 0 ? error.code : undefined, message: error.message };
};

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
  let template: object | undefined;
  try {
    template = recordedTemplate(await client.get(controllerRevisions, { namespace, name: to.name }, { signal }));
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) return failed(error);
  }
  if (!template) return { kind: 'impossible' };
  try {
    const patched = await client.patch(
      daemonSets,
      { namespace, name },
      {
        metadata: { uid: view.uid, resourceVersion, annotations: { [annotation.rolledBackFrom]: badHash } },
        spec: { template: { ...template, $patch: 'replace' } },
      },
      { type: 'strategic', fieldManager: 'edgeset-manager', signal },
    );
    return { kind: 'done', resourceVersion: patched.metadata?.resourceVersion ?? '' };
  } catch (error) {
    return isKubeError(error, 'Conflict') ? { kind: 'changed' } : failed(error);
  }
};
