import type { ImageState } from '../record/images.ts';
import { type Cause, type Phase, phases } from '../record/phase.ts';
import type { NodeStatus } from '../record/record.ts';

/** The phases' sizes and the other sums that the budget, the breaker and the status are made from. */
export interface Tally {
  eligible: number;
  online: number;
  /** Online and settled: what the budget is a share of. */
  settled: number;
  down: number;
  inFlight: number;
  /** Those of `inFlight` that are under way, or failed on it: not with an old broken pod that nobody tends yet. */
  trying: number;
  /** Online nodes that are down or in flight, each counted once. */
  occupied: number;
  committed: number;
  suspects: number;
  onlineFailures: number;
  lostFailures: number;
  /** Nodes whose owners are offered the target revision and have not agreed, offline ones too. */
  ownersAsked: number;
  /** Online nodes whose owners have agreed, and that are not at the target. */
  ownersApproved: number;
  phases: Record<Phase, number>;
  causes: Map<Cause, number>;
  /** Online nodes with an old pod, by how far the images of the target are there. */
  images: Record<ImageState, number>;
}

export const newTally = (): Tally => ({
  eligible: 0,
  online: 0,
  settled: 0,
  down: 0,
  inFlight: 0,
  trying: 0,
  occupied: 0,
  committed: 0,
  suspects: 0,
  onlineFailures: 0,
  lostFailures: 0,
  ownersAsked: 0,
  ownersApproved: 0,
  phases: Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<Phase, number>,
  causes: new Map(),
  images: { none: 0, wanted: 0, asked: 0, pulling: 0, present: 0, failed: 0 },
});

export const addTo = (tally: Tally, view: NodeStatus, by: 1 | -1): void => {
  if (view.phase === undefined || view.cause === undefined) return;
  tally.eligible += by;
  tally.phases[view.phase] += by;
  tally.causes.set(view.cause, (tally.causes.get(view.cause) ?? 0) + by);
  tally.images[view.images] += by;
  if (view.online) tally.online += by;
  if (view.settled) tally.settled += by;
  if (view.down) tally.down += by;
  if (view.inFlight) tally.inFlight += by;
  if (view.trying) tally.trying += by;
  if (view.down || view.inFlight) tally.occupied += by;
  if (view.committed) tally.committed += by;
  if (view.suspect) tally.suspects += by;
  if (view.asked) tally.ownersAsked += by;
  if (view.approved && view.online) tally.ownersApproved += by;
  if (view.failure === 'online') tally.onlineFailures += by;
  if (view.failure === 'lost') tally.lostFailures += by;
};
