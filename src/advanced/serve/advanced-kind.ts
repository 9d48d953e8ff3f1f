import { FIELD_MANAGER, type ManagedKind } from '../../controller/index.ts';
import { annotation } from '../../rollout/index.ts';
import { type AdvancedView, toAdvancedView } from '../advanced-view.ts';
import { type AdvancedDaemonSet, advancedDaemonSetApi } from '../api.ts';
import { advancedDaemonSets } from '../resources.ts';
import { withinBurst } from './burst.ts';
import { createChores } from './chores.ts';
import { createCreator } from './creator.ts';
import { createDeeds } from './deeds.ts';
import { type KeptPod, keptPods } from './kept-pod.ts';
import { createLeaseWatch } from './obstacles.ts';
import { createPodCare } from './pod-care.ts';
import { putTemplate } from './put-template.ts';
import { readTarget } from './read-target.ts';
import { createTargetFinder } from './target.ts';
import { createUpkeep } from './upkeep.ts';

/** DaemonSets of apps.kruise.io: pods and revisions are made here, too. One for each process. */
export const createAdvancedKind = (): ManagedKind<AdvancedDaemonSet, AdvancedView, KeptPod> => {
  const lease = createLeaseWatch();
  return {
    controller: 'advanced',
    resource: advancedDaemonSets,
    toView: toAdvancedView,
    rolloutName: (daemonSet) => `${daemonSet}.${advancedDaemonSetApi.group}`,
    notManagedMessage:
      'The DaemonSet is not managed: it is being deleted, or its selector or template cannot be read. Nothing is acted on; slots that were reserved stay on record.',
    pods: keptPods,
    targetOf: readTarget,
    createAdapter(surroundings) {
      const { client } = surroundings;
      const finder = createTargetFinder({ ...surroundings, lease });
      const creator = createCreator(surroundings);
      const deeds = createDeeds({ ...surroundings, finder, creator });
      const chores = createChores(surroundings);
      const care = createPodCare({ ...surroundings, deeds, chores });
      const upkeep = createUpkeep({ ...surroundings, finder, deeds, chores, creator, care });
      return {
        findTarget: (seen, signal) => finder.find(seen, signal),
        podWrites: withinBurst(surroundings, deeds.acts),
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
