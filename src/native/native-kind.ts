import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { FIELD_MANAGER, factsAlone, newestRevision, readRevisions, type ServedKind } from '../controller/index.ts';
import { ifFound, type KubeClient } from '../kube/index.ts';
import { daemonSets } from '../resources/index.ts';
import { annotation, type PodFacts } from '../rollout/index.ts';
import { type NativeView, toNativeView } from './native-view.ts';
import { putTemplate } from './put-template.ts';
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
export const nativeKind: ServedKind<DaemonSet, NativeView, PodFacts> = {
  controller: 'native',
  resource: daemonSets,
  toView: toNativeView,
  rolloutName: (daemonSet) => daemonSet,
  notServed:
    'The DaemonSet is not managed: it lacks the annotation apps.openyurt.io/update-strategy. Nothing is acted on; slots that were reserved stay on record, in case it is set again.',
  pods: factsAlone,
  targetOf: (view, owned) =>
    view.observedGeneration >= view.generation ? newestRevision(owned, view.templateDigest) : undefined,
  open: ({ client, env, revisions, podActs }) => ({
    findTarget: createTargetFinder({
      clock: env.clock,
      cached: revisions,
      read: readTarget(client),
    }),
    acts: {
      delete: (_node, act, signal) => podActs.delete(act, signal),
      fence: (_node, act, signal) => podActs.fence(act, signal),
    },
    putTemplate: async (view, template, from, signal) => {
      const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
      const { metadata } = await putTemplate(client, view, change, { fieldManager: FIELD_MANAGER, signal });
      return metadata?.resourceVersion ?? '';
    },
  }),
};
