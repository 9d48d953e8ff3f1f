import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import { createReflector, defineResource, type KubeClient, keyOf, type Resource } from '../../kube/index.ts';
import { readOtaTerms } from '../../rollout/index.ts';
import type { Env } from '../../runtime/index.ts';
import { createProjector, type Kept } from '../projector.ts';
import type { Troubles } from '../troubles.ts';
import type { Owner } from '../types.ts';
import { groupOf, isAdvanced } from './announcement.ts';
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

export interface TermsWatchOptions {
  client: Pick<KubeClient, 'list' | 'watch'>;
  env: Env;
  /** Where terms that cannot be read are reported. */
  troubles: Pick<Troubles, 'report' | 'clear'>;
  /** Called with `undefined` while the terms cannot be read. */
  onTerms: (owner: Owner, terms: Terms | undefined) => void;
}

export const createTermsWatch = ({ client, env, troubles, onTerms }: TermsWatchOptions): TermsWatch => {
  const watched = new Map<string, { end: AbortController; running: Promise<void> }>();

  const start = (owner: Owner): { end: AbortController; running: Promise<void> } => {
    const end = new AbortController();
    const projector = createProjector<DaemonSet, Terms | undefined>({
      env,
      project: (daemonSet) => termsOf(daemonSet, owner),
      onFailure(key, _daemonSet, error) {
        troubles.report('terms', key, error, owner);
        return undefined;
      },
      onSuccess(key, healed) {
        troubles.clear('terms', key);
        const kept = reflector.store.get(key);
        if (healed && kept) onTerms(owner, kept.value);
      },
    });
    const reflector = createReflector<DaemonSet, Kept<Terms | undefined>>({
      client,
      env,
      resource: daemonSetsAt(owner.apiVersion),
      namespace: owner.namespace,
      fieldSelector: `metadata.name=${owner.daemonSet}`,
      project: (daemonSet, known) => projector.project(keyOf(daemonSet), daemonSet, known),
      handlers: [
        {
          upsert: (_key, kept) => onTerms(owner, kept.value),
          remove(key) {
            projector.forget(key);
            onTerms(owner, { ota: false, deadline: undefined });
          },
        },
      ],
    });
    return { end, running: reflector.run(end.signal).finally(() => projector.stop()) };
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
