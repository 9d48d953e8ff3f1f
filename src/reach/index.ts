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
