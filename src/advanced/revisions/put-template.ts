import { type KubeClient, KubeError, type WriteOptions } from '../../kube/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { AdvancedDaemonSet, AdvancedDaemonSetSpec } from '../api/types.ts';
import { advancedDaemonSets } from '../api/types.ts';

/**
 * Puts a template back whole, and sets annotations (null: removes one), in one write. It is refused with Conflict unless
 * the DaemonSet has this UID and this resourceVersion. No strategic merge patch is to be had of custom resources: the
 * whole object is replaced, as it was read.
 */
export const putTemplate = async (
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
  const { $patch: _, ...bare } = template as { $patch?: string } & AdvancedDaemonSetSpec['template'];
  const kept = Object.entries({ ...metadata.annotations, ...annotations });
  const next: AdvancedDaemonSet = {
    ...found,
    metadata: {
      ...metadata,
      annotations: Object.fromEntries(kept.filter((entry): entry is [string, string] => entry[1] !== null)),
    },
    spec: { ...spec, template: bare },
  };
  return client.replace(advancedDaemonSets, next, write);
};
