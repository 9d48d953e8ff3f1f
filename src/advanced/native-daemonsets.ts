import { hash } from 'node:crypto';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { InformerOptions } from '../controller/index.ts';
import { createReflector, daemonSets, type Reflector, type Store } from '../kube/index.ts';
import { formatSelector, fromLabelSelector } from '../rollout/index.ts';

/** What the cache keeps of a native DaemonSet: a few bytes, however large the DaemonSet is. */
interface NativeDaemonSet {
  name: string;
  key: string;
}

const BY_SELECTOR = 'selector';

const keyOf = (namespace: string, podSelector: string): string =>
  hash('sha256', `${namespace} ${podSelector}`, 'base64url');

/** The selector as the API's query parameter; undefined if it is not valid. */
export const podSelectorOf = ({ spec }: DaemonSet): string | undefined => {
  const parsed = fromLabelSelector(spec?.selector ?? {});
  return parsed.ok ? formatSelector(parsed.selector) : undefined;
};

const project = (daemonSet: DaemonSet): NativeDaemonSet | undefined => {
  const { namespace = '', name = '', deletionTimestamp } = daemonSet.metadata ?? {};
  const podSelector = podSelectorOf(daemonSet);
  if (deletionTimestamp || podSelector === undefined) return undefined;
  return { name, key: keyOf(namespace, podSelector) };
};

/**
 * A cache of all native DaemonSets, by their selectors, for the Advanced DaemonSets that may have the same ones. Reading them
 * from the API server instead takes as much memory as the users of a namespace want, again and again.
 */
export const createNativeDaemonSets = () => {
  const stores: Store<NativeDaemonSet>[] = [];
  return {
    informer(options: InformerOptions): Reflector<unknown> {
      const reflector = createReflector({
        ...options,
        resource: daemonSets,
        project,
        indexes: { [BY_SELECTOR]: ({ key }: NativeDaemonSet) => [key] },
      });
      stores.push(reflector.store);
      return reflector;
    },
    /** The name of one with this selector. */
    withSelector(namespace: string, podSelector: string): string | undefined {
      const key = keyOf(namespace, podSelector);
      return stores.flatMap((store) => store.byIndex(BY_SELECTOR, key))[0]?.name;
    },
  };
};
export type NativeDaemonSets = ReturnType<typeof createNativeDaemonSets>;
