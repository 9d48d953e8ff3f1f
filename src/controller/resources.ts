import { defineResource } from '../kube/index.ts';
import { type DaemonRollout, daemonRolloutApi } from '../rollout/index.ts';

export { controllerRevisions, nodes, pods } from '../kube/index.ts';

const { group, version, plural, kind } = daemonRolloutApi;
export const daemonRollouts = defineResource<DaemonRollout>({ group, version, plural, kind, namespaced: true });
