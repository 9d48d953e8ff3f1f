import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets, type KubeClient, type WriteOptions } from '../kube/index.ts';
import type { NativeView } from './native-view.ts';

/**
 * Puts a template back whole, and sets annotations (null: removes one), in one patch. It is refused with Conflict unless
 * the DaemonSet has this UID and this resourceVersion.
 */
export const restoreTemplate = (
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: Pick<NativeView, 'namespace' | 'name' | 'uid' | 'resourceVersion'>,
  { template, annotations }: { template: object; annotations: Readonly<Record<string, string | null>> },
  write: WriteOptions & { fieldManager: string },
): Promise<DaemonSet> =>
  client.patch(
    daemonSets,
    { namespace, name },
    { metadata: { uid, resourceVersion, annotations }, spec: { template: { ...template, $patch: 'replace' } } },
    { type: 'strategic', ...write },
  );
