/** Names of the API resources that stages are made of. */
export const planApi = {
  group: 'edgeset.io',
  version: 'v1alpha1',
  apiVersion: 'edgeset.io/v1alpha1',
  plan: { kind: 'RolloutPlan', plural: 'rolloutplans', singular: 'rolloutplan', shortName: 'rpl' },
  clusterPlan: {
    kind: 'ClusterRolloutPlan',
    plural: 'clusterrolloutplans',
    singular: 'clusterrolloutplan',
    shortName: 'crpl',
  },
  approval: { kind: 'RolloutApproval', plural: 'rolloutapprovals', singular: 'rolloutapproval', shortName: 'rap' },
} as const;

/** The schema's limits. */
export const planLimits = {
  stages: 20,
  checks: 20,
  windows: 20,
  freezes: 50,
  groups: 5,
  after: 10,
  /** Taint keys, and types of Node conditions, of nodes that are skipped. */
  skipNodes: 20,
  /** Arguments of one analysis. */
  args: 50,
  /** Characters of a query, of a condition, of the value of an argument, and of an address. */
  query: 4096,
  condition: 1024,
  arg: 4096,
  address: 512,
  /** Characters that people read. */
  comment: 1024,
  /** Nodes that a plan's samples may have, all stages together: their hashes are part of the rollout's status. */
  sampledNodes: 40_000,
} as const;

/**
 * Requirements of a selector that every node is compared with. Of labels and of expressions, the schemas accept half of it each.
 */
export const MOST_REQUIREMENTS = 32;

/** Nodes that no stage takes are in this stage, the last one. No plan may use the name. */
export const REST_STAGE = 'rest';

/** What a query may name as `${...}`. */
export const queryPlaceholders = ['namespace', 'daemonSet', 'revision', 'previousRevision', 'stage'] as const;

export const planWeekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
