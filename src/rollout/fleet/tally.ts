import { type Cause, causesOf, type Phase, phases, planLimits } from '../../words/index.ts';
import type { ImageState, NodeStatus } from '../node/record.ts';
import type { Scopes } from '../plan/scopes.ts';

/** The nodes of one stage. */
export interface StageTally {
  eligible: number;
  online: number;
  /** Online nodes that the stage must cover. */
  inCoverage: number;
  /** Online nodes at the target, available. */
  updated: number;
  /** Nodes with a pod of the target although the stage is closed. */
  exposed: number;
}

/** The number of nodes in each phase, and the other sums that the budget, the breaker and the status are computed from. */
export interface Tally {
  eligible: number;
  online: number;
  /** Online and settled: what the budget is a share of. */
  settled: number;
  down: number;
  inFlight: number;
  /** In flight, without nodes whose old broken pod waits for its repair. */
  active: number;
  /** Down or in flight, with a pod that is replaced once the stage of the node opens. */
  stranded: number;
  /** Online nodes that are down or in flight, each counted once. */
  occupied: number;
  committed: number;
  suspects: number;
  onlineFailures: number;
  lostFailures: number;
  /** What counts towards the first wave. */
  onTrial: number;
  /** Nodes whose owners are offered the target revision and have not approved it, including offline nodes. */
  ownersAsked: number;
  /** Online nodes whose owners have approved the target, and that are not at the target. */
  ownersApproved: number;
  phases: Record<Phase, number>;
  causes: Map<Cause, number>;
  /** Online nodes with an outdated pod, by how far the images of the target are there. */
  images: Record<ImageState, number>;
  /** By the index of the stage; without a plan, all nodes are in the first. */
  stages: StageTally[];
}

const noNodes: StageTally = { eligible: 0, online: 0, inCoverage: 0, updated: 0, exposed: 0 };

export const newTally = (): Tally => ({
  eligible: 0,
  online: 0,
  settled: 0,
  down: 0,
  inFlight: 0,
  active: 0,
  stranded: 0,
  occupied: 0,
  committed: 0,
  suspects: 0,
  onlineFailures: 0,
  lostFailures: 0,
  onTrial: 0,
  ownersAsked: 0,
  ownersApproved: 0,
  phases: Object.fromEntries(phases.map((phase) => [phase, 0])) as Record<Phase, number>,
  causes: new Map(),
  images: { none: 0, wanted: 0, requested: 0, present: 0, failed: 0 },
  stages: Array.from({ length: planLimits.stages + 1 }, () => ({ ...noNodes })),
});

/** Counts a node in its scopes, by the same truth as the budget. */
const countIn = ({ all }: Scopes, { phase, cause, online, inFlight, active, down }: NodeStatus, by: 1 | -1): void => {
  if (phase === undefined) return;
  for (const scope of all) {
    if (online) scope.online += by;
    if (inFlight) scope.inFlight += by;
    if (active) scope.active += by;
    if (!down && !inFlight) continue;
    scope.occupied += by;
    if (cause === 'stage') scope.stranded += by;
  }
};

export const addTo = (tally: Tally, status: NodeStatus, by: 1 | -1): void => {
  const { phase, cause, owner, images, failure } = status;
  const stage = tally.stages[status.stage];
  if (phase === undefined || cause === undefined) return;
  tally.eligible += by;
  tally.phases[phase] += by;
  tally.causes.set(cause, (tally.causes.get(cause) ?? 0) + by);
  tally.images[images.state] += by;
  if (status.online) tally.online += by;
  if (stage) {
    stage.eligible += by;
    if (status.online) stage.online += by;
    if (status.inCoverage) stage.inCoverage += by;
    if (phase === 'updated') stage.updated += by;
    if (status.exposed) stage.exposed += by;
  }
  if (status.settled) tally.settled += by;
  if (status.down) tally.down += by;
  if (status.inFlight) tally.inFlight += by;
  if (status.active) tally.active += by;
  if (status.down || status.inFlight) {
    tally.occupied += by;
    if (cause === 'stage') tally.stranded += by;
  }
  if (status.committed) tally.committed += by;
  if (status.suspect) tally.suspects += by;
  if (owner.asked) tally.ownersAsked += by;
  if (owner.approved && status.online) tally.ownersApproved += by;
  if (failure === 'online') tally.onlineFailures += by;
  if (failure === 'lost') tally.lostFailures += by;
  if (status.onTrial) tally.onTrial += by;
  countIn(status.scopes, status, by);
};

/** How many nodes there are of each cause that any node has, in the order of the phases. */
export const causeCounts = ({ causes }: Readonly<Tally>): { phase: Phase; cause: Cause; count: number }[] =>
  phases
    .flatMap((phase) => causesOf[phase].map((cause) => ({ phase, cause, count: causes.get(cause) ?? 0 })))
    .filter(({ count }) => count > 0);
