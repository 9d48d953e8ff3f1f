import type { ControllerRevision, DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { Node, Pod } from 'kubernetes-types/core/v1.d.ts';
import { defineResource } from '../kube/index.ts';
import type { DaemonRollout } from '../rollout/index.ts';

export const daemonSets = defineResource<DaemonSet>({
  group: 'apps',
  version: 'v1',
  plural: 'daemonsets',
  kind: 'DaemonSet',
  namespaced: true,
});

export const controllerRevisions = defineResource<ControllerRevision>({
  group: 'apps',
  version: 'v1',
  plural: 'controllerrevisions',
  kind: 'ControllerRevision',
  namespaced: true,
});

export const pods = defineResource<Pod>({ group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true });

export const nodes = defineResource<Node>({
  group: '',
  version: 'v1',
  plural: 'nodes',
  kind: 'Node',
  namespaced: false,
});

export const daemonRollouts = defineResource<DaemonRollout>({
  group: 'edgeset.io',
  version: 'v1alpha1',
  plural: 'daemonrollouts',
  kind: 'DaemonRollout',
  namespaced: true,
});
