import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets } from '../../kube/index.ts';
import {
  formatSelector,
  fromLabelSelector,
  type PodFacts,
  parsePolicy,
  schedulingConstraints,
} from '../../rollout/index.ts';
import { type DaemonSetRef, type DaemonSetView, type Kind, ownedPodFacts } from '../kind.ts';
import { newestRevision } from '../revisions.ts';

/** A kind that serves every DaemonSet that has a policy, and whose DaemonRollouts have names of their own. */
export const testKind: Kind<DaemonSet, DaemonSetView, PodFacts> = {
  resource: daemonSets,
  toView({ metadata = {}, spec }) {
    const { uid = '', namespace = '', name = '', resourceVersion = '', generation = 0, annotations = {} } = metadata;
    const policy = parsePolicy({ annotations, updateStrategyType: 'OnDelete', minReadySeconds: 0 });
    const selector = fromLabelSelector(spec?.selector ?? {});
    if (policy.kind === 'off' || !selector.ok) return undefined;
    const podSelector = formatSelector(selector.selector);
    const needs = schedulingConstraints(spec?.template.spec ?? { containers: [] });
    return { uid, namespace, name, resourceVersion, generation, needs, podSelector, policy };
  },
  rolloutName: (daemonSet) => `${daemonSet}.test`,
  notManagedMessage: 'It has no policy: give it one.',
  pods: ownedPodFacts,
  targetOf: (_view, owned) => newestRevision(owned),
};

export const testRef: DaemonSetRef = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  namespace: 'edge',
  name: 'app',
  uid: 'u',
  rolloutName: 'app.test',
};
