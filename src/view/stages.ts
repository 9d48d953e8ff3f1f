import type { DaemonRolloutStage, DaemonRolloutStatus, StagePromotion } from '../words/index.ts';

/** How a stage was passed, unless all of its gates held. */
const ways: Readonly<Record<StagePromotion, (by: string | undefined) => string>> = {
  Gates: (by) => (by === undefined ? '' : `approved by ${by}`),
  Empty: () => 'it has no nodes',
  Timeout: (by) => (by === undefined ? 'timed out' : `timed out, approved by ${by}`),
  ByHand: (by = 'somebody') => `by hand, by ${by}`,
};

/** `approved by alice`; empty for a stage that is not passed, or whose gates all held without a person. */
export const promotionWay = ({ promotion, promotedBy }: DaemonRolloutStage): string =>
  promotion ? ways[promotion](promotedBy) : '';

/** The stages as the manager recorded them; none while that is about an older template. */
export const presentStages = (
  status: DaemonRolloutStatus | undefined,
  { generation }: { generation: number },
): readonly DaemonRolloutStage[] => ((status?.daemonSetGeneration ?? 0) >= generation ? (status?.stages ?? []) : []);

/** The stage whose nodes are updated now; undefined without one. */
export const openStageOf = (stages: readonly DaemonRolloutStage[] = []): DaemonRolloutStage | undefined =>
  stages.find(({ state }) => state === 'Open');
