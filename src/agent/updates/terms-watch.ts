import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createReflector, defineResource, type KubeClient, type Resource } from '../../kube/index.ts';
import { readOtaTerms } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { groupOf, isAdvanced, type Owner } from './announcement.ts';
import { refKey, type Terms } from './record.ts';

/** Where the DaemonSets of this version are served: of both kinds, the annotations and the strategy stand in one place. */
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

/** What a DaemonSet says of its updates; one that is another by now, or on its way out, says nothing. */
export const termsOf = (daemonSet: DaemonSet, owner: Owner): Terms => {
  const { metadata, spec } = daemonSet;
  const { ota, deadline, spreadMs } = readOtaTerms(metadata?.annotations);
  const isMeant = metadata?.uid === owner.uid && !metadata.deletionTimestamp;
  // A native DaemonSet of another type is updated by its own controller; an Advanced one never without its owners.
  const isTheirs = isAdvanced(owner) || spec?.updateStrategy?.type === 'OnDelete';
  if (!isMeant || !isTheirs || !ota) return { ota: false, deadline: undefined };
  return { ota, deadline: deadline === undefined ? undefined : { at: deadline, spreadMs } };
};

export interface TermsWatch {
  /** Watches exactly these from now on: each one for itself, so that nothing is watched while nothing waits. */
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
        end.abort(new Error('nothing waits there any more'));
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
