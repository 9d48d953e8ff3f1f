import type { ManagedKind } from '../../controller/index.ts';
import { ADVANCED_ROLLOUT_SUFFIX, annotation, FIELD_MANAGER } from '../../words/index.ts';
import { type AdvancedView, toAdvancedView } from './advanced-view.ts';
import { type AdvancedDaemonSet, advancedDaemonSets } from './api/types.ts';
import { createLeaseWatch, type LeaseWatch } from './conflicting-controllers.ts';
import { createPodManagement } from './manage.ts';
import { createNativeDaemonSets } from './native-daemonsets.ts';
import { withinBurst } from './placement/burst.ts';
import { createPodCreator } from './placement/create-pods.ts';
import { type CachedPod, cachedPods } from './podcontrol/cached-pod.ts';
import { createMaintenanceWriter } from './podcontrol/maintenance-writer.ts';
import { createPodOperations } from './podcontrol/pod-operations.ts';
import { createResizeReview } from './podcontrol/resize-review.ts';
import { createPodSync } from './podcontrol/sync-pod.ts';
import { createPreviousOwners } from './previous-owners.ts';
import { restoreTemplate } from './revisions/restore-template.ts';
import { createTargetFinder, readTarget } from './revisions/target.ts';

/**
 * The kind of DaemonSets of apps.kruise.io, which also creates their pods and revisions. One for each process.
 * `checksLease`: hold them while OpenKruise's manager has its Lease.
 */
export const createAdvancedKind = ({
  checksLease = true,
} = {}): ManagedKind<AdvancedDaemonSet, AdvancedView, CachedPod> => {
  const lease: LeaseWatch = checksLease ? createLeaseWatch() : () => Promise.resolve(undefined);
  const natives = createNativeDaemonSets();
  return {
    controller: 'advanced',
    resource: advancedDaemonSets,
    short: 'ads',
    toView: toAdvancedView,
    rolloutName: (daemonSet) => `${daemonSet}${ADVANCED_ROLLOUT_SUFFIX}`,
    daemonSetOf: (rollout) =>
      rollout.endsWith(ADVANCED_ROLLOUT_SUFFIX) ? rollout.slice(0, -ADVANCED_ROLLOUT_SUFFIX.length) : undefined,
    notManagedMessage:
      'The DaemonSet is not managed: it is being deleted, or its selector or template is not valid. Nothing is updated; reserved slots stay recorded.',
    pods: cachedPods,
    targetOf: readTarget,
    informer: (options) => natives.informer(options),
    createAdapter(context) {
      const { client, env } = context;
      const previousOwners = createPreviousOwners(client, env.clock, natives);
      const creator = createPodCreator(context);
      const review = createResizeReview({ ...context, creator });
      const finder = createTargetFinder({ ...context, lease, natives, previousOwners, review });
      const operations = createPodOperations({ ...context, finder, creator, review });
      const writer = createMaintenanceWriter(context);
      const podSync = createPodSync({ ...context, operations, writer });
      const parts = { finder, operations, writer, creator, podSync, previousOwners };
      const management = createPodManagement({ ...context, ...parts });
      return {
        findTarget: (view, signal) => finder.find(view, signal),
        podWrites: withinBurst(context, operations.podWrites),
        restoreTemplate: (view, template, from, signal) => {
          const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
          return restoreTemplate(client, view, change, { fieldManager: FIELD_MANAGER, signal });
        },
        manage: (input) => management.manage(input),
        reportError: (view, what) => management.reportError(view, what),
        finalize: (view, signal) => management.finalize(view, signal),
        refusal: () => creator.refusal() ?? review.refusal(),
        eventHandlers: management.eventHandlers,
        drain: (graceMs) => management.drain(graceMs),
      };
    },
  };
};
