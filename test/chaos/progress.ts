import type { AdvancedDaemonSet } from '../../src/advanced/index.ts';
import { eligible } from '../conformance/eligible.ts';
import type { AuditRecord } from '../conformance/index.ts';
import { createStepReader, isAct, type StepKind } from '../conformance/steps.ts';
import { availablePod, followTruth, type Truth } from '../conformance/truth.ts';

export interface Progress {
  /** By kind. */
  acts: ReadonlyMap<StepKind, number>;
  /** Templates that were asked for, the first one not counted, and those of them that came to every online node. */
  rollouts: number;
  completed: number;
  /** The longest time in which there was something to do that nothing forbade, and nothing was begun or came to its end. */
  longestMs: number;
  /** When that ended, epoch ms. */
  longestAt: number;
}

/** Whoever asked for it wants nothing to be done, or what is bound to fail. */
const isHeld = ({ daemonSet }: Truth): boolean => {
  const { spec } = daemonSet as AdvancedDaemonSet;
  const { paused, partition = 0 } = spec.updateStrategy?.rollingUpdate ?? {};
  const isBad = spec.template.spec?.containers.some(({ image }) => image?.includes('--')) === true;
  return isBad || paused === true || partition !== 0;
};

/** How the rollouts of one DaemonSet fared, from records in the order in which the server made them. */
export const measureProgress = (
  records: readonly AuditRecord[],
  {
    namespace,
    daemonSet,
    group,
    product,
  }: { namespace: string; daemonSet: string; group: string; product: (user: string) => boolean },
): Progress => {
  const { truth, apply } = followTruth(namespace, daemonSet, group);
  const reader = createStepReader(truth);
  const acts = new Map<StepKind, number>();
  const progress = { acts, rollouts: 0, completed: 0, longestMs: 0, longestAt: 0 };
  let waitsSince: number | undefined;
  let left = 0;
  let completed = 0;

  const countLeft = (at: number): number =>
    eligible(truth).filter(({ name, ready }) => ready && availablePod(truth, name, at)?.hash !== truth.target).length;

  for (const record of records) {
    const at = record.receivedAt;
    const step = product(record.user) ? reader.read(record) : undefined;
    if (step && isAct(step)) acts.set(step.kind, (acts.get(step.kind) ?? 0) + 1);
    apply(record);
    const concerns = record.namespace === namespace || record.resource.startsWith('nodes');
    if (!concerns || !truth.daemonSet) continue;
    const now = truth.target === undefined || isHeld(truth) ? 0 : countLeft(at);
    const advanced = (step !== undefined && isAct(step)) || now < left;
    if (waitsSince !== undefined && at - waitsSince > progress.longestMs) {
      progress.longestMs = at - waitsSince;
      progress.longestAt = at;
    }
    if (now === 0) waitsSince = undefined;
    else if (waitsSince === undefined || advanced) waitsSince = at;
    left = now;
    progress.rollouts = truth.rollout - 1;
    if (now === 0 && truth.target !== undefined && !isHeld(truth) && completed !== truth.rollout) {
      completed = truth.rollout;
      if (truth.rollout > 1) progress.completed += 1;
    }
  }
  return progress;
};
