import type { AdvancedDaemonSet } from '../../src/kinds/advanced/index.ts';
import type { AuditRecord } from '../conformance/index.ts';
import { availablePod, followRecords } from '../judge/audit/records.ts';
import { type ClusterState, nodesToServe } from '../judge/state/cluster-state.ts';
import { createPodWriteReader, isUpdate, type PodWriteKind } from '../judge/state/pod-writes.ts';

export interface Progress {
  /** By kind. */
  acts: ReadonlyMap<PodWriteKind, number>;
  /** Templates after the first one, and those of them that reached every online node. */
  rollouts: number;
  completed: number;
  /** The longest time in which something could have been done, and nothing began or completed. */
  longestMs: number;
  /** When that ended, epoch ms. */
  longestAt: number;
}

/** The user has paused the rollout, or the version is bound to fail. */
const isHeld = ({ daemonSet }: ClusterState): boolean => {
  const { spec } = daemonSet as AdvancedDaemonSet;
  const { paused, partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const isBad = spec.template.spec?.containers.some(({ image }) => image?.includes('--')) === true;
  return isBad || paused === true || partition !== 0;
};

/** Measures the rollouts of one DaemonSet, from records in the order in which the server made them. */
export const measureProgress = (
  records: readonly AuditRecord[],
  {
    namespace,
    daemonSet,
    group,
    product,
  }: { namespace: string; daemonSet: string; group: string; product: (user: string) => boolean },
): Progress => {
  const { state, apply } = followRecords(namespace, daemonSet, group);
  const reader = createPodWriteReader(state);
  const acts = new Map<PodWriteKind, number>();
  const progress = { acts, rollouts: 0, completed: 0, longestMs: 0, longestAt: 0 };
  let waitsSince: number | undefined;
  let left = 0;
  let completed = 0;

  const countLeft = (at: number): number =>
    nodesToServe(state).filter(({ name, ready }) => ready && availablePod(state, name, at)?.hash !== state.target)
      .length;

  for (const record of records) {
    const at = record.receivedAt;
    const step = product(record.user) ? reader.read(record) : undefined;
    if (step && isUpdate(step)) acts.set(step.kind, (acts.get(step.kind) ?? 0) + 1);
    apply(record);
    const concerns = record.namespace === namespace || record.resource.startsWith('nodes');
    if (!concerns || !state.daemonSet) continue;
    const now = state.target === undefined || isHeld(state) ? 0 : countLeft(at);
    const advanced = (step !== undefined && isUpdate(step)) || now < left;
    if (waitsSince !== undefined && at - waitsSince > progress.longestMs) {
      progress.longestMs = at - waitsSince;
      progress.longestAt = at;
    }
    if (now === 0) waitsSince = undefined;
    else if (waitsSince === undefined || advanced) waitsSince = at;
    left = now;
    progress.rollouts = state.rollout - 1;
    if (now === 0 && state.target !== undefined && !isHeld(state) && completed !== state.rollout) {
      completed = state.rollout;
      if (state.rollout > 1) progress.completed += 1;
    }
  }
  return progress;
};
