import { isKubeError, type KubeClient } from '../kube/index.ts';
import { recordedTemplate } from '../rollout/index.ts';
import type { DaemonSetView } from './kind.ts';
import type { KindAdapter } from './kind-adapter.ts';
import { controllerRevisions } from './resources.ts';

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
 * Puts the template of an earlier revision back, as `kubectl rollout undo` does: one write, refused when the DaemonSet
 * has changed since it was looked at.
 */
export const rollBack = async <V extends DaemonSetView>(
  client: KubeClient,
  adapter: Pick<KindAdapter<V, unknown>, 'restoreTemplate'>,
  view: V,
  badHash: string,
  to: { name: string },
  signal: AbortSignal,
): Promise<RollbackOutcome> => {
  const { namespace } = view;
  let template: object | undefined;
  try {
    template = recordedTemplate(await client.get(controllerRevisions, { namespace, name: to.name }, { signal }));
  } catch (error) {
    if (!isKubeError(error, 'NotFound')) return failed(error);
  }
  if (!template) return { kind: 'impossible' };
  try {
    return { kind: 'done', resourceVersion: await adapter.restoreTemplate(view, template, badHash, signal) };
  } catch (error) {
    return isKubeError(error, 'Conflict') ? { kind: 'changed' } : failed(error);
  }
};
