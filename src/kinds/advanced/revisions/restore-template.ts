import { type KubeClient, KubeError, type WriteOptions } from '../../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import { type AdvancedDaemonSet, type AdvancedDaemonSetSpec, advancedDaemonSets } from '../api/types.ts';

/**
 * Restores an earlier template and sets annotations (null removes one) in one write. Fails with Conflict unless the
 * DaemonSet has this UID and resourceVersion. Custom resources don't support strategic merge patches, so the object is
 * replaced as it was read.
 */
export const restoreTemplate = async (
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: Pick<AdvancedView, 'namespace' | 'name' | 'uid' | 'resourceVersion'>,
  { template, annotations }: { template: object; annotations: Readonly<Record<string, string | null>> },
  write: WriteOptions & { fieldManager: string },
): Promise<AdvancedDaemonSet> => {
  const { signal } = write;
  const found = await client.get(advancedDaemonSets, { namespace, name }, signal ? { signal } : {});
  const { metadata, spec } = found;
  if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion)
    throw new KubeError('Conflict', 'the DaemonSet has changed', { status: 409 });
  const { $patch: _, ...restored } = template as { $patch?: string } & AdvancedDaemonSetSpec['template'];
  const merged = Object.entries({ ...metadata.annotations, ...annotations });
  const next: AdvancedDaemonSet = {
    ...found,
    metadata: {
      ...metadata,
      annotations: Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null)),
    },
    spec: { ...spec, template: restored },
  };
  return client.replace(advancedDaemonSets, next, write);
};
