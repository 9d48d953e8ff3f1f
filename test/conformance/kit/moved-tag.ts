import type { Case } from './case.ts';

/**
 * The kubelet of this node reports another content of the pod's first image, as one does that pulled it after its tag had moved. The
 * fake kubelets keep what a running container's status says, until the container is another one.
 */
export const reportMovedTag = async (c: Case, node: string | undefined, digit = 'f'): Promise<void> => {
  const { name, object } = await c.podOn(node);
  const [first, ...others] = object.status?.containerStatuses ?? [];
  const containerStatuses = [{ ...first, imageID: `sha256:${digit.repeat(64)}` }, ...others];
  await c.api.patch(`/api/v1/namespaces/${c.namespace}/pods/${name}/status`, { status: { containerStatuses } });
};
