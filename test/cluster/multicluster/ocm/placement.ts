import assert from 'node:assert/strict';
import { parseAllDocuments } from 'yaml';
import type { Json } from '../../api.ts';
import { type Hub, NAMESPACE } from './rig.ts';
import { shipped } from './shipped.ts';

export interface Placement extends Json {
  metadata: { name: string };
  spec: { tolerations?: object[]; predicates: object[] };
}

/** Applies what placement.yaml holds, with a change to its Placement. */
export const applyPlacement = async (
  { api }: Hub,
  change: (placement: Placement) => void = () => undefined,
): Promise<void> => {
  const [binding, placement] = parseAllDocuments(await shipped('placement.yaml')).map(
    (document) => document.toJS() as Placement,
  );
  assert.ok(binding && placement);
  await api.apply(`/api/v1/namespaces/${NAMESPACE}`, {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: NAMESPACE },
  });
  const group = '/apis/cluster.open-cluster-management.io';
  await api.apply(
    `${group}/v1beta2/namespaces/${NAMESPACE}/managedclustersetbindings/${binding.metadata.name}`,
    binding,
  );
  change(placement);
  await api.apply(`${group}/v1beta1/namespaces/${NAMESPACE}/placements/${placement.metadata.name}`, placement);
};
