import { FIELD_MANAGER, type ManagedKind } from '../controller/index.ts';
import { annotation } from '../rollout/index.ts';
import { type AdvancedView, toAdvancedView } from './advanced-view.ts';
import { type AdvancedDaemonSet, advancedDaemonSetApi, advancedDaemonSets } from './api/types.ts';
import { createLeaseWatch } from './conflicting-controllers.ts';
import { createPodManagement } from './manage.ts';
import { withinBurst } from './placement/burst.ts';
import { createPodCreator } from './placement/create-pods.ts';
import { type CachedPod, cachedPods } from './podcontrol/cached-pod.ts';
import { createPodUpdates } from './podcontrol/pod-updates.ts';
import { createPodWriter } from './podcontrol/pod-writer.ts';
import { createPodSync } from './podcontrol/sync-pod.ts';
import { putTemplate } from './revisions/put-template.ts';
import { createTargetFinder, readTarget } from './revisions/target.ts';

/** DaemonSets of apps.kruise.io: pods and revisions are made here, too. One for each process. */
export const createAdvancedKind = (): ManagedKind<AdvancedDaemonSet, AdvancedView, CachedPod> => {
  const lease = createLeaseWatch();
  return {
    controller: 'advanced',
    resource: advancedDaemonSets,
    toView: toAdvancedView,
    rolloutName: (daemonSet) => `${daemonSet}.${advancedDaemonSetApi.group}`,
    notManagedMessage:
      'The DaemonSet is not managed: it is being deleted, or its selector or template cannot be read. Nothing is acted on; slots that were reserved stay on record.',
    pods: cachedPods,
    targetOf: readTarget,
    createAdapter(surroundings) {
      const { client } = surroundings;
      const finder = createTargetFinder({ ...surroundings, lease });
      const creator = createPodCreator(surroundings);
      const updates = createPodUpdates({ ...surroundings, finder, creator });
      const writer = createPodWriter(surroundings);
      const podSync = createPodSync({ ...surroundings, updates, writer });
      const upkeep = createPodManagement({ ...surroundings, finder, updates, writer, creator, podSync });
      return {
        findTarget: (seen, signal) => finder.find(seen, signal),
        podWrites: withinBurst(surroundings, updates.acts),
        restoreTemplate: async (seen, template, from, signal) => {
          const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
          const { metadata } = await putTemplate(client, seen, change, { fieldManager: FIELD_MANAGER, signal });
          return metadata.resourceVersion ?? '';
        },
        manage: (pass) => upkeep.maintain(pass),
        finalize: (seen, signal) => upkeep.depart(seen, signal),
        eventHandlers: upkeep.touched,
        drain: (graceMs) => upkeep.stop(graceMs),
      };
    },
  };
};
