import { ifFound, type KubeClient } from '../../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { advancedDaemonSets } from '../api/types.ts';

const TIMEOUT_MS = 10_000;

/**
 * Reads the DaemonSet uncached, as client-go does before it adopts. One that is being deleted with `--cascade=orphan` releases its
 * objects, and the watch of those may be ahead: what it adopted again would be deleted with it.
 */
export const mayAdopt = async (
  client: Pick<KubeClient, 'get'>,
  { namespace, name, uid }: Pick<AdvancedView, 'namespace' | 'name' | 'uid'>,
  signal: AbortSignal,
): Promise<boolean> => {
  const call = { timeoutMs: TIMEOUT_MS, signal };
  const found = await ifFound(client.get(advancedDaemonSets, { namespace, name }, call));
  return found?.metadata.uid === uid && !found.metadata.deletionTimestamp;
};
