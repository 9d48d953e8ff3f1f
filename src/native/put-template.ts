import { FIELD_MANAGER } from '../controller/index.ts';
import type { KubeClient } from '../kube/index.ts';
import { daemonSets } from '../resources/index.ts';
import { annotation } from '../rollout/index.ts';
import type { NativeView } from './native-view.ts';

/** One patch that puts a template back whole and says what it took away; resolves with the new resourceVersion. */
export const putTemplate = async (
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: NativeView,
  template: object,
  from: string,
  signal: AbortSignal,
): Promise<string> => {
  const patched = await client.patch(
    daemonSets,
    { namespace, name },
    {
      metadata: { uid, resourceVersion, annotations: { [annotation.rolledBackFrom]: from } },
      spec: { template: { ...template, $patch: 'replace' } },
    },
    { type: 'strategic', fieldManager: FIELD_MANAGER, signal },
  );
  return patched.metadata?.resourceVersion ?? '';
};
