export { createReachMetrics } from './metrics.ts';
export type { ReachFlags } from './options.ts';
export {
  type ClusterContact,
  type ClusterFacts,
  type ClusterUpdate,
  type Reach,
  type ReachCause,
  type ReachDecision,
  type ReachTerms,
  reachOf,
} from './reach-of.ts';
export { runReachProcess } from './run.ts';
