import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createReflector, defineResource, type KubeClient, type Resource } from '../../kube/index.ts';
import { readOtaTerms } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { groupOf, isAdvanced, type Owner } from './announcement.ts';
import { refKey, type Terms } from './record.ts';

/** The resource of DaemonSets with this apiVersion. Both kinds have annotations and strategy in the same place. */
export const daemonSetsAt = (apiVersion: string): Resource<DaemonSet> => {
  const version = apiVersion.split('/', 2)[1] ?? 'v1';
  return defineResource<DaemonSet>({
    group: groupOf(apiVersion),
    version,
    plural: 'daemonsets',
    kind: 'DaemonSet',
    namespaced: true,
  });
};

/** The update settings of a DaemonSet. One that was recreated or is being deleted has none. */
export const termsOf = (daemonSet: DaemonSet, owner: Owner): Terms => {
  const { metadata, spec } = daemonSet;
  const { ota, deadline, spreadMs } = readOtaTerms(metadata?.annotations);
  const isSame = metadata?.uid === owner.uid && !metadata.deletionTimestamp;
  // With another strategy, Kubernetes' controller updates a native DaemonSet by itself; an Advanced one always needs its owners.
  const isDecidedByOwner = isAdvanced(owner) || spec?.updateStrategy?.type === 'OnDelete';
  if (!isSame || !isDecidedByOwner || !ota) return { ota: false, deadline: undefined };
  return { ota, deadline: deadline === undefined ? undefined : { at: deadline, spreadMs } };
};

export interface TermsWatch {
  /** Watches exactly these from now on. One watch each, so that nothing is watched while no update is pending. */
  follow(owners: readonly Owner[]): void;
  stop(): Promise<void>;
}

export const createTermsWatch = (
  client: Pick<KubeClient, 'list' | 'watch'>,
  env: Env,
  onTerms: (owner: Owner, terms: Terms) => void,
): TermsWatch => {
  const watched = new Map<string, { end: AbortController; running: Promise<void> }>();

  const start = (owner: Owner): { end: AbortController; running: Promise<void> } => {
    const end = new AbortController();
    const reflector = createReflector<DaemonSet, Terms>({
      client,
      env,
      resource: daemonSetsAt(owner.apiVersion),
      namespace: owner.namespace,
      fieldSelector: `metadata.name=${owner.daemonSet}`,
      project: (daemonSet) => termsOf(daemonSet, owner),
      handlers: [
        {
          upsert: (_key, terms) => onTerms(owner, terms),
          remove: () => onTerms(owner, { ota: false, deadline: undefined }),
        },
      ],
    });
    return { end, running: reflector.run(end.signal) };
  };

  return {
    follow(owners) {
      const wanted = new Map(owners.map((owner) => [`${refKey(owner)}/${owner.uid}`, owner]));
      for (const [key, { end }] of watched) {
        if (wanted.has(key)) continue;
        end.abort(new Error('no pending update'));
        watched.delete(key);
      }
      for (const [key, owner] of wanted) if (!watched.has(key)) watched.set(key, start(owner));
    },
    async stop() {
      const running = [...watched.values()].map((one) => {
        one.end.abort(new Error('stopped'));
        return one.running;
      });
      watched.clear();
      await Promise.all(running);
    },
  };
};
