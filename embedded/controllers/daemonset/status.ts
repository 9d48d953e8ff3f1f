import type { DaemonSetStatus } from 'kubernetes-types/apps/v1.d.ts';
import { daemonSets, isKubeError } from '../../../src/kube/index.ts';
import type { StoredDaemonSet } from '../../resources.ts';
import type { ApiServer } from '../../types.ts';
import { isUpdated, type Observed, templateGeneration } from './manage.ts';
import { byAge, isAvailable, isReady } from './pods.ts';

type Counts = Required<
  Pick<
    DaemonSetStatus,
    | 'desiredNumberScheduled'
    | 'currentNumberScheduled'
    | 'numberMisscheduled'
    | 'numberReady'
    | 'updatedNumberScheduled'
    | 'numberAvailable'
    | 'numberUnavailable'
  >
>;

export const countNodes = ({ daemonSet, spec, nodes, podsByNode, hash, now }: Observed): Counts => {
  const minReadySeconds = daemonSet.spec?.minReadySeconds ?? 0;
  const generation = templateGeneration(daemonSet);
  let [desired, current, misscheduled, ready, updated, available] = [0, 0, 0, 0, 0, 0];
  for (const node of nodes.values()) {
    const present = podsByNode.get(node.name) ?? [];
    const pod = present.length > 1 ? present.toSorted(byAge)[0] : present[0];
    if (!spec.placementOn(node).shouldRun) {
      if (pod) misscheduled += 1;
      continue;
    }
    desired += 1;
    if (!pod) continue;
    current += 1;
    if (isReady(pod)) ready += 1;
    if (isAvailable(pod, minReadySeconds, now)) available += 1;
    if (isUpdated(pod, hash, generation)) updated += 1;
  }
  return {
    desiredNumberScheduled: desired,
    currentNumberScheduled: current,
    numberMisscheduled: misscheduled,
    numberReady: ready,
    updatedNumberScheduled: updated,
    numberAvailable: available,
    numberUnavailable: desired - available,
  };
};

const keysOf = (counts: Counts): (keyof Counts)[] => Object.keys(counts) as (keyof Counts)[];

/** Updates the status if the counts or the generation changed. */
export const storeStatus = (
  apiServer: ApiServer,
  daemonSet: StoredDaemonSet,
  counts: Counts,
  observed: boolean,
): void => {
  const { status, metadata } = daemonSet;
  const generation = metadata.generation ?? 0;
  const same = keysOf(counts).every((key) => (status?.[key] ?? 0) === counts[key]);
  if (same && (status?.observedGeneration ?? 0) >= generation) return;
  // Go omits these three when they are 0.
  const { updatedNumberScheduled, numberAvailable, numberUnavailable, ...always } = counts;
  const optional = { updatedNumberScheduled, numberAvailable, numberUnavailable };
  const written = Object.fromEntries(Object.entries(optional).filter(([, count]) => count !== 0));
  const write = (base: StoredDaemonSet): void => {
    const { collisionCount, conditions, observedGeneration } = base.status ?? {};
    const seen = observed ? generation : observedGeneration;
    apiServer.update<object>(
      daemonSets,
      {
        ...base,
        status: {
          ...always,
          ...written,
          ...(seen !== undefined && { observedGeneration: seen }),
          ...(collisionCount !== undefined && { collisionCount }),
          ...(conditions && { conditions }),
        },
      },
      { subresource: 'status' },
    );
  };
  try {
    write(daemonSet);
  } catch (error) {
    if (!isKubeError(error, 'Conflict')) throw error;
    write(apiServer.get<StoredDaemonSet>(daemonSets, { namespace: metadata.namespace, name: metadata.name }));
  }
};
