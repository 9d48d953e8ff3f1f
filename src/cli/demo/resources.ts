import type { ControllerRevision } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { defineResource, type KubeObject } from '../../kube/index.ts';

export const nodes = defineResource<Node>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
});
export const pods = defineResource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });
export const controllerRevisions = defineResource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
});
export const customResourceDefinitions = defineResource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});

type Conditioned = { status?: { conditions?: { type: string; status: string }[] } };

export const isReady = (object: Conditioned | undefined): boolean =>
  object?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
