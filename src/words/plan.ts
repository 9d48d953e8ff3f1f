import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1.d.ts';

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

/** An integer, or a percentage such as `10%`. */
export type IntOrString = number | string;

/** What a query may name as `${...}`. */
export const queryPlaceholders = ['namespace', 'daemonSet', 'revision', 'previousRevision', 'stage'] as const;

export const planWeekdays = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'] as const;
export type PlanWeekday = (typeof planWeekdays)[number];

export interface PlanStagePromotion {
  /** Of the stage's online nodes, at the target and available. Default 100%. */
  coverage?: IntOrString;
  /** Default 1. */
  minNodes?: number;
  /** A Go duration. Default 0s. */
  soak?: string;
  /** Names of `spec.checks`. */
  checks?: string[];
  approval?: { required: boolean };
  /** A Go duration since the stage opened. Default: none. */
  timeout?: string;
  /** Default hold. */
  onTimeout?: 'hold' | 'promote';
}

export interface PlanStage {
  name: string;
  nodes?: { selector?: LabelSelector; count?: IntOrString };
  maxUnavailable?: IntOrString;
  failureThreshold?: IntOrString;
  promote?: PlanStagePromotion;
}

export interface PrometheusCheck {
  /** Default: that of the manager's flag --prometheus-address. */
  address?: string;
  /** With `${...}` of the `queryPlaceholders`. */
  query: string;
  /** CEL over `result`, the list of the samples' values. */
  condition: string;
  /** A Go duration. Default 1m. */
  interval?: string;
  /** Default 0: the first evaluation that is false halts the rollout. */
  failureLimit?: number;
  /** A Go duration since the soak began. Default 0s. */
  initialDelay?: string;
  /** A Secret with `token`, or with `username` and `password`. */
  credentials?: { secretName: string };
  tls?: { caSecretName?: string; serverName?: string; insecureSkipVerify?: boolean };
}

/** Argo Rollouts' AnalysisRun, created from one of its templates. */
export interface AnalysisCheck {
  templateName?: string;
  clusterTemplateName?: string;
  args?: { name: string; value: string }[];
}

export interface PlanCheck {
  name: string;
  prometheus?: PrometheusCheck;
  analysis?: AnalysisCheck;
}

export interface PlanWindow {
  /** Default: every day. A window that ends after midnight belongs to the day on which it begins. */
  days?: PlanWeekday[];
  /** `HH:MM`. */
  from: string;
  /** `HH:MM`, exclusive; at or before `from`: on the next day. */
  to: string;
  /** An IANA name, or `node`. Default UTC. */
  timeZone?: string;
}

export interface PlanFreeze {
  /** RFC 3339 date or time. */
  from: string;
  /** RFC 3339 date or time, exclusive. */
  to: string;
  /** For people. */
  reason?: string;
}

export interface PlanOrder {
  /** Default `apps`; or `apps.kruise.io`. */
  apiGroup?: 'apps' | 'apps.kruise.io';
  kind?: 'DaemonSet';
  name: string;
  /** Default Node. */
  scope?: 'Node' | 'Rollout';
}

/** `spec` of a RolloutPlan and a ClusterRolloutPlan. */
export interface RolloutPlanSpec {
  stages?: PlanStage[];
  checks?: PlanCheck[];
  windows?: PlanWindow[];
  /** Default false. */
  windowsOnRollback?: boolean;
  freezes?: PlanFreeze[];
  maxUnavailablePer?: { topologyKey: string; value: IntOrString }[];
  after?: PlanOrder[];
}

export interface RolloutPlanObject {
  apiVersion: typeof planApi.apiVersion;
  kind: 'RolloutPlan' | 'ClusterRolloutPlan';
  metadata: ObjectMeta;
  spec: RolloutPlanSpec;
}

export interface RolloutApprovalSpec {
  daemonSet: { apiGroup: 'apps' | 'apps.kruise.io'; name: string };
  /** Value of the label controller-revision-hash. */
  revision: string;
  stage: string;
  /** Approve: the approval that the stage awaits. Promote: skips coverage, soak and checks. Default Approve. */
  decision?: 'Approve' | 'Promote';
  /** The user who creates the object. */
  approvedBy: string;
  comment?: string;
}

export interface RolloutApproval {
  apiVersion: typeof planApi.apiVersion;
  kind: 'RolloutApproval';
  metadata: ObjectMeta;
  spec: RolloutApprovalSpec;
}
