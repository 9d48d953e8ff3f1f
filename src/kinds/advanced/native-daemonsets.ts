import { hash } from 'node:crypto';
import type { DaemonSet } from 'kubernetes-types/apps/v1.d.ts';
import type { InformerOptions } from '../../controller/index.ts';
import { createReflector, daemonSets, type Reflector, type Store } from '../../kube/index.ts';
import { formatSelector, fromLabelSelector } from '../../rollout/index.ts';

/** What the cache keeps of a native DaemonSet: a few bytes, however large the DaemonSet is. */
export interface NativeDaemonSet {
  uid: string;
  name: string;
  /** It has a deletionTimestamp. */
  deleted: boolean;
}

interface CachedDaemonSet extends NativeDaemonSet {
  /** Of the namespace and the selector; undefined if that is not in the way of others. */
  key: string | undefined;
}

const BY_SELECTOR = 'selector';
const BY_UID = 'uid';

/** Set by the API server on objects deleted with `--cascade=foreground`. */
const FOREGROUND_FINALIZER = 'foregroundDeletion';

const keyOf = (namespace: string, podSelector: string): string =>
  hash('sha256', `${namespace} ${podSelector}`, 'base64url');

/** The selector as the API's query parameter; undefined if it is not valid. */
const podSelectorOf = ({ spec }: DaemonSet): string | undefined => {
  const parsed = fromLabelSelector(spec?.selector ?? {});
  return parsed.ok ? formatSelector(parsed.selector) : undefined;
};

/**
 * The selector for which no other DaemonSet may create pods. A DaemonSet that is being deleted is in the way until it is gone:
 * with `--cascade=orphan`, the garbage collector releases one pod after another. Only its pods are if they are deleted before it,
 * which those on offline nodes may take weeks for.
 */
export const selectorInTheWay = (daemonSet: DaemonSet): string | undefined => {
  const { deletionTimestamp, finalizers = [] } = daemonSet.metadata ?? {};
  return deletionTimestamp && finalizers.includes(FOREGROUND_FINALIZER) ? undefined : podSelectorOf(daemonSet);
};

export const toNative = ({ metadata }: DaemonSet): NativeDaemonSet => {
  const { uid = '', name = '', deletionTimestamp } = metadata ?? {};
  return { uid, name, deleted: deletionTimestamp != null };
};

const project = (daemonSet: DaemonSet): CachedDaemonSet => {
  const podSelector = selectorInTheWay(daemonSet);
  const key = podSelector === undefined ? undefined : keyOf(daemonSet.metadata?.namespace ?? '', podSelector);
  return { ...toNative(daemonSet), key };
};

export interface NativeDaemonSets {
  informer(options: InformerOptions): Reflector<unknown>;
  /** One that is in the way of others with this selector; one that stays comes first. */
  withSelector(namespace: string, podSelector: string): NativeDaemonSet | undefined;
  /** It exists, as far as the watch has shown, and is not being deleted. */
  stays: (uid: string) => boolean;
}

/**
 * A cache of all native DaemonSets, by their selectors, for the Advanced DaemonSets that may have the same ones. Reading them
 * from the API server instead takes as much memory as the users of a namespace want, again and again.
 */
export const createNativeDaemonSets = (): NativeDaemonSets => {
  const stores: Store<CachedDaemonSet>[] = [];
  const byIndex = (index: string, value: string): CachedDaemonSet[] =>
    stores.flatMap((store) => store.byIndex(index, value));
  return {
    informer(options) {
      const reflector = createReflector({
        ...options,
        resource: daemonSets,
        project,
        indexes: {
          [BY_SELECTOR]: ({ key }: CachedDaemonSet) => (key === undefined ? [] : [key]),
          [BY_UID]: ({ uid }: CachedDaemonSet) => [uid],
        },
      });
      stores.push(reflector.store);
      return reflector;
    },
    withSelector(namespace, podSelector) {
      const found = byIndex(BY_SELECTOR, keyOf(namespace, podSelector));
      return found.find(({ deleted }) => !deleted) ?? found[0];
    },
    stays: (uid) => byIndex(BY_UID, uid).some(({ deleted }) => !deleted),
  };
};
