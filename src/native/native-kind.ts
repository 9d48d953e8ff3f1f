import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { FIELD_MANAGER, type ManagedKind, newestRevision, ownedPodFacts, readRevisions } from '../controller/index.ts';
import { daemonSets, ifFound, type KubeClient } from '../kube/index.ts';
import { annotation, type PodFacts } from '../rollout/index.ts';
import { type NativeView, toNativeView } from './native-view.ts';
import { restoreTemplate } from './restore-template.ts';
import { createTargetFinder, type TargetOptions } from './target.ts';

const readTarget =
  (client: KubeClient): TargetOptions['read'] =>
  async (view, signal) => {
    const revisions = await readRevisions(client, daemonSets, view, signal);
    const daemonSet = await ifFound(client.get(daemonSets, view, { signal }));
    const { uid, generation = 0 } = daemonSet?.metadata ?? {};
    return uid === view.uid ? { revisions, generation } : undefined;
  };

/**
 * DaemonSets of apps/v1. Pods and revisions are made by Kubernetes' own controller: all that is done here is to delete
 * pods, which it then replaces.
 */
export const nativeKind: ManagedKind<DaemonSet, NativeView, PodFacts> = {
  controller: 'native',
  resource: daemonSets,
  toView: toNativeView,
  rolloutName: (daemonSet) => daemonSet,
  notManagedMessage:
    'The DaemonSet is not managed: it lacks the annotation apps.openyurt.io/update-strategy. Nothing is acted on; slots that were reserved stay on record, in case it is set again.',
  pods: ownedPodFacts,
  targetOf: (view, owned) =>
    view.observedGeneration >= view.generation ? newestRevision(owned, view.templateDigest) : undefined,
  createAdapter: ({ client, env, revisions, podControl }) => ({
    findTarget: createTargetFinder({
      clock: env.clock,
      cached: revisions,
      read: readTarget(client),
    }),
    podWrites: {
      delete: (_node, update, signal) => podControl.delete(update, signal),
      fence: (_node, update, signal) => podControl.fence(update, signal),
    },
    restoreTemplate: async (view, template, from, signal) => {
      const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
      const { metadata } = await restoreTemplate(client, view, change, { fieldManager: FIELD_MANAGER, signal });
      return metadata?.resourceVersion ?? '';
    },
  }),
};
