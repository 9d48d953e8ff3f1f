import { newestRevision, type ServedKind } from '../../controller/index.ts';
import { type AdvancedView, toAdvancedView } from '../advanced-view.ts';
import { type AdvancedDaemonSet, advancedDaemonSetApi } from '../api.ts';
import { advancedDaemonSets } from '../resources.ts';
import { createChores } from './chores.ts';
import { createCreator } from './creator.ts';
import { createDeeds } from './deeds.ts';
import { type KeptPod, keptPods } from './kept-pod.ts';
import { createLeaseWatch } from './obstacles.ts';
import { createPodCare } from './pod-care.ts';
import { putTemplate } from './put-template.ts';
import { createTargetFinder } from './target.ts';
import { createUpkeep } from './upkeep.ts';

/** DaemonSets of apps.kruise.io: pods and revisions are made here, too. One for each process. */
export const createAdvancedKind = (): ServedKind<AdvancedDaemonSet, AdvancedView, KeptPod> => {
  const lease = createLeaseWatch();
  return {
    controller: 'advanced',
    resource: advancedDaemonSets,
    toView: toAdvancedView,
    rolloutName: (daemonSet) => `${daemonSet}.${advancedDaemonSetApi.group}`,
    notServed:
      'The DaemonSet is not managed: it is being deleted, or its selector or template cannot be read. Nothing is acted on; slots that were reserved stay on record.',
    pods: keptPods,
    targetOf: ({ status, generation }, owned) =>
      (status.observedGeneration ?? 0) >= generation ? newestRevision(owned) : undefined,
    open(surroundings) {
      const { client, env, wake } = surroundings;
      const finder = createTargetFinder({ ...surroundings, lease });
      const creator = createCreator(surroundings);
      const deeds = createDeeds({ ...surroundings, finder, creator });
      const chores = createChores({ env, wake });
      const care = createPodCare({ ...surroundings, deeds, chores });
      const upkeep = createUpkeep({ ...surroundings, finder, deeds, chores, creator, care });
      return {
        findTarget: (seen, signal) => finder.find(seen, signal),
        acts: deeds.acts,
        putTemplate: (seen, template, from, signal) => putTemplate(client, seen, template, from, signal),
        maintain: (pass) => upkeep.maintain(pass),
        touched: upkeep.touched,
        stop: (graceMs) => upkeep.stop(graceMs),
      };
    },
  };
};
