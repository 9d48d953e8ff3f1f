import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Namespace, Node, Pod, PodTemplate, Secret } from 'kubernetes-types/core/v1.d.ts';
import { defineResource } from './resource.ts';
import type { KubeObject, Resource } from './types.ts';

// The built-in kinds that edgeset uses, each with the type of its objects.

const core = <T extends KubeObject>(plural: string, kind: string, namespaced = true): Resource<T> =>
  defineResource<T>({ group: '', version: 'v1', plural, kind, namespaced });

export const pods = core<Pod>('pods', 'Pod');
export const podTemplates = core<PodTemplate>('podtemplates', 'PodTemplate');
export const nodes = core<Node>('nodes', 'Node', false);
export const namespaces = core<Namespace>('namespaces', 'Namespace', false);
export const secrets = core<Secret>('secrets', 'Secret');

const apps = <T extends KubeObject>(plural: string, kind: string): Resource<T> =>
  defineResource<T>({ group: 'apps', version: 'v1', plural, kind, namespaced: true });

export const daemonSets = apps<DaemonSet>('daemonsets', 'DaemonSet');
export const controllerRevisions = apps<ControllerRevision>('controllerrevisions', 'ControllerRevision');

export const customResourceDefinitions = defineResource<KubeObject>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
});
