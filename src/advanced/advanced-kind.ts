import { FIELD_MANAGER, type ManagedKind } from '../controller/index.ts';
import { annotation } from '../rollout/index.ts';
import { type AdvancedView, toAdvancedView } from './advanced-view.ts';
import { type AdvancedDaemonSet, advancedDaemonSetApi, advancedDaemonSets } from './api/types.ts';
import { createLeaseWatch } from './conflicting-controllers.ts';
import { createPodManagement } from './manage.ts';
import { withinBurst } from './placement/burst.ts';
import { createPodCreator } from './placement/create-pods.ts';
import { type CachedPod, cachedPods } from './podcontrol/cached-pod.ts';
import { createMaintenanceWriter } from './podcontrol/maintenance-writer.ts';
import { createPodOperations } from './podcontrol/pod-operations.ts';
import { createPodSync } from './podcontrol/sync-pod.ts';
import { restoreTemplate } from './revisions/restore-template.ts';
import { createTargetFinder, readTarget } from './revisions/target.ts';

/** The kind of DaemonSets of apps.kruise.io, which also creates their pods and revisions. One for each process. */
export const createAdvancedKind = (): ManagedKind<AdvancedDaemonSet, AdvancedView, CachedPod> => {
  const lease = createLeaseWatch();
  return {
    controller: 'advanced',
    resource: advancedDaemonSets,
    toView: toAdvancedView,
    rolloutName: (daemonSet) => `${daemonSet}.${advancedDaemonSetApi.group}`,
    notManagedMessage:
      'The DaemonSet is not managed: it is being deleted, or its selector or template is not valid. Nothing is updated; reserved slots stay recorded.',
    pods: cachedPods,
    targetOf: readTarget,
    createAdapter(context) {
      const { client } = context;
      const finder = createTargetFinder({ ...context, lease });
      const creator = createPodCreator(context);
      const operations = createPodOperations({ ...context, finder, creator });
      const writer = createMaintenanceWriter(context);
      const podSync = createPodSync({ ...context, operations, writer });
      const management = createPodManagement({ ...context, finder, operations, writer, creator, podSync });
      return {
        findTarget: (view, signal) => finder.find(view, signal),
        podWrites: withinBurst(context, operations.podWrites),
        restoreTemplate: async (view, template, from, signal) => {
          const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
          const { metadata } = await restoreTemplate(client, view, change, { fieldManager: FIELD_MANAGER, signal });
          return metadata.resourceVersion ?? '';
        },
        manage: (input) => management.manage(input),
        finalize: (view, signal) => management.finalize(view, signal),
        eventHandlers: management.eventHandlers,
        drain: (graceMs) => management.drain(graceMs),
      };
    },
  };
};
