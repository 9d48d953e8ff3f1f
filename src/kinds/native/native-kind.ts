import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import {
  type ManagedKind,
  newestRevision,
  ownedPodFacts,
  type ReconcilerContext,
  readRevisions,
} from '../../controller/index.ts';
import { daemonSets, ifFound, type KubeClient, type WriteOptions } from '../../kube/index.ts';
import { hasUnusableName, type PodFacts } from '../../rollout/index.ts';
import { ADVANCED_ROLLOUT_SUFFIX, annotation, FIELD_MANAGER } from '../../words/index.ts';
import { createConditionWriter, removeConditions } from './conditions.ts';
import { type NativeView, toNativeView } from './native-view.ts';
import { createTargetFinder, type TargetOptions } from './target.ts';

const readTarget =
  ({ client, accept }: Pick<ReconcilerContext<NativeView, PodFacts>, 'client' | 'accept'>): TargetOptions['read'] =>
  async (view, signal) => {
    const revisions = await readRevisions(client, daemonSets, view, signal);
    const daemonSet = await ifFound(client.get(daemonSets, view, { signal }));
    accept(daemonSet);
    const { uid, generation = 0 } = daemonSet?.metadata ?? {};
    return uid === view.uid ? { revisions, generation } : undefined;
  };

/**
 * Restores a whole template, and sets annotations (null: removes one), in one patch. It is refused with Conflict unless
 * the DaemonSet has this UID and this resourceVersion.
 */
export const restoreTemplate = (
  client: KubeClient,
  { namespace, name, uid, resourceVersion }: Pick<NativeView, 'namespace' | 'name' | 'uid' | 'resourceVersion'>,
  { template, annotations }: { template: object; annotations: Readonly<Record<string, string | null>> },
  write: WriteOptions & { fieldManager: string },
): Promise<DaemonSet> =>
  client.patch(
    daemonSets,
    { namespace, name },
    { metadata: { uid, resourceVersion, annotations }, spec: { template: { ...template, $patch: 'replace' } } },
    { type: 'strategic', ...write },
  );

/**
 * DaemonSets of apps/v1. Kubernetes' own controller creates their pods and revisions: all that this kind does is delete
 * pods, which that controller then replaces, and set conditions.
 */
export const nativeKind: ManagedKind<DaemonSet, NativeView, PodFacts> = {
  controller: 'native',
  resource: daemonSets,
  short: 'ds',
  toView: toNativeView,
  rolloutName: (daemonSet) => daemonSet,
  daemonSetOf: (rollout) => (rollout.endsWith(ADVANCED_ROLLOUT_SUFFIX) ? undefined : rollout),
  notManagedMessage:
    'The DaemonSet is not managed: it lacks the annotation apps.openyurt.io/update-strategy. No updates are started; reserved slots stay on record, in case the annotation is set again.',
  pods: ownedPodFacts,
  targetOf: (view, owned) =>
    view.observedGeneration >= view.generation ? newestRevision(owned, view.templateDigest) : undefined,
  clearStatus: removeConditions,
  createAdapter: (context) => {
    const { client, env, revisions, podControl } = context;
    const conditions = createConditionWriter(context);
    return {
      findTarget: createTargetFinder({ clock: env.clock, cached: revisions, read: readTarget(context) }),
      podWrites: {
        delete: (_node, pod, signal) => podControl.delete(pod, signal),
        fence: (_node, update, signal) => podControl.fence(update, signal),
      },
      restoreTemplate: (view, template, from, signal) => {
        const change = { template, annotations: { [annotation.rolledBackFrom]: from } };
        return restoreTemplate(client, view, change, { fieldManager: FIELD_MANAGER, signal });
      },
      manage: async (input) => conditions.update(input),
      finalize: async (view) =>
        hasUnusableName(view.policy) ? conditions.reportInvalid(view, view.policy.errors) : undefined,
      reportError: (view, what) => void conditions.reportError(view, what),
      drain: (graceMs) => conditions.drain(graceMs),
    };
  },
};

/** The DaemonSet does not opt in to rollouts by edgeset. */
export class NotOptedInError extends Error {
  readonly code = 'NotOptedIn';
  constructor(namespace: string, name: string) {
    super(
      `DaemonSet ${namespace}/${name} did not opt in: set spec.updateStrategy.type to OnDelete and annotate it with apps.openyurt.io/update-strategy=auto`,
    );
    this.name = 'NotOptedInError';
  }
}
