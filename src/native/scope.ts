import { createReflector, type KubeClient, type ReflectorHandler, type Store } from '../kube/index.ts';
import type { Env } from '../runtime/index.ts';
import { type DaemonSetView, toDaemonSetView } from './daemonset-view.ts';
import { controllerRevisions, daemonSets } from './resources.ts';
import { type RevisionView, toRevisionView } from './revision-view.ts';

export interface ScopeOptions {
  client: KubeClient;
  env: Env;
  /** Undefined: all namespaces. */
  namespace: string | undefined;
  daemonSets: ReflectorHandler<DaemonSetView>;
  revisions: ReflectorHandler<RevisionView>;
}

const OWNER = 'owner';

/** The caches of DaemonSets and their revisions, of one namespace or of all. */
export const createScope = ({ client, env, namespace, ...handlers }: ScopeOptions) => {
  const where = namespace === undefined ? {} : { namespace };
  const sets = createReflector({
    client,
    env,
    ...where,
    resource: daemonSets,
    project: toDaemonSetView,
    handlers: [handlers.daemonSets],
  });
  const revisions = createReflector({
    client,
    env,
    ...where,
    resource: controllerRevisions,
    project: toRevisionView,
    indexes: { [OWNER]: (revision: RevisionView) => [revision.ownerUid] },
    handlers: [handlers.revisions],
  });
  return {
    daemonSets: sets.store as Store<DaemonSetView>,
    revisionsOf: (ownerUid: string): readonly RevisionView[] => revisions.store.byIndex(OWNER, ownerUid),
    synced: (): boolean => sets.synced && revisions.synced,
    run: async (signal: AbortSignal): Promise<void> => {
      await Promise.all([sets.run(signal), revisions.run(signal)]);
    },
  };
};
export type Scope = ReturnType<typeof createScope>;
