import { FIELD_MANAGER } from '../../controller/index.ts';
import { type KubeClient, KubeError } from '../../kube/index.ts';
import { annotation } from '../../rollout/index.ts';
import type { AdvancedView } from '../advanced-view.ts';
import type { AdvancedDaemonSet } from '../api.ts';
import { advancedDaemonSets } from '../resources.ts';

/** No strategic merge patch is to be had of custom resources: the whole object is replaced, as it was read. */
export const putTemplate = async (
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: AdvancedView,
  template: object,
  from: string,
  signal: AbortSignal,
): Promise<string> => {
  const found = await client.get(advancedDaemonSets, { namespace, name }, { signal });
  const { metadata, spec } = found;
  if (metadata.uid !== uid || metadata.resourceVersion !== resourceVersion)
    throw new KubeError('Conflict', 'the DaemonSet has changed', { status: 409 });
  const { $patch: _, ...bare } = template as { $patch?: string } & AdvancedDaemonSet['spec']['template'];
  const next: AdvancedDaemonSet = {
    ...found,
    metadata: { ...metadata, annotations: { ...metadata.annotations, [annotation.rolledBackFrom]: from } },
    spec: { ...spec, template: bare },
  };
  const written = await client.replace(advancedDaemonSets, next, { fieldManager: FIELD_MANAGER, signal });
  return written.metadata.resourceVersion ?? '';
};
