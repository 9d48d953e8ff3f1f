import type { Proofs } from '../cases.ts';

const COUNTS = 'conformance/native/metrics.ts: count what the manager does';
const PROMETHEUS = 'cluster/prometheus.test.ts: sees where each rollout stands';

const all = (of: string, ...names: readonly string[]): Proofs => Object.fromEntries(names.map((name) => [name, of]));

export const managerMetrics: Proofs = {
  edgeset_rollout_image_drift: ['conformance/native/image-drift.ts: are reported with their IDs', 'metric(c)'],
  ...all(
    COUNTS,
    'edgeset_nodes',
    'edgeset_rollout_hold',
    'edgeset_stage_nodes',
    'edgeset_stage_state',
    'edgeset_stage_awaits',
    'edgeset_rollout_complete',
    'edgeset_budget_nodes',
    'edgeset_budget_used_nodes',
    'edgeset_updates_in_flight',
    'edgeset_breaker_failures',
    'edgeset_breaker_suspects',
    'edgeset_breaker_threshold',
    'edgeset_last_reconcile_timestamp_seconds',
    'edgeset_rollouts',
    'edgeset_rollouts_halted',
    'edgeset_pod_writes_total',
    'edgeset_reservations_total',
    'edgeset_status_writes_total',
    'edgeset_watches_opened_total',
    'edgeset_lists_total',
    'controller_runtime_reconcile_total',
    'controller_runtime_reconcile_time_seconds',
    'workqueue_depth',
    'workqueue_adds_total',
    'workqueue_retries_total',
    'workqueue_queue_duration_seconds',
    'workqueue_work_duration_seconds',
    'rest_client_requests_total',
    'rest_client_request_duration_seconds',
    'leader_election_master_status',
    'edgeset_clock_ahead_seconds',
    'edgeset_build_info',
  ),
  ...all(
    PROMETHEUS,
    'edgeset_node_causes',
    'edgeset_rollout_started_timestamp_seconds',
    'edgeset_rollout_finished_timestamp_seconds',
    'edgeset_node_update_duration_seconds',
    'edgeset_owners_asked',
  ),
  edgeset_notifications_total: 'cluster/notifications.test.ts: each notification of a rollout arrives once',
};

export const agentMetrics: Proofs = {
  edgeset_agent_not_computable: 'conformance/agent/decisions.ts: of a later version of the agent',
  ...all(
    'conformance/agent/serving.ts: every route',
    'edgeset_agent_connected',
    'edgeset_agent_cache_age_seconds',
    'edgeset_agent_updates',
    'edgeset_agent_decisions_unkept',
    'edgeset_agent_decisions_damaged',
    'edgeset_agent_connections',
    'edgeset_agent_event_streams',
    'edgeset_agent_answers_total',
    'edgeset_agent_refusals_total',
    'edgeset_agent_info',
    'rest_client_requests_total',
  ),
  edgeset_agent_unrestricted: 'cluster/agent-rights/agent-rights.test.ts: an agent whose service account was moved out',
};

export const dashboardMetrics: Proofs = {
  ...all(
    'browser/login.test.ts: asks for a token',
    'edgeset_dashboard_requests_total',
    'edgeset_dashboard_viewers',
    'edgeset_dashboard_sessions',
    'edgeset_dashboard_watches',
    'edgeset_dashboard_last_read_timestamp_seconds',
  ),
  ...all(
    'cluster/dashboard.test.ts: is told where and what to serve',
    'edgeset_dashboard_api_requests_total',
    'edgeset_dashboard_info',
  ),
};

export const reachMetrics: Proofs = all(
  'cluster/multicluster/reach.test.ts: counts clusters by their reach',
  'edgeset_reach_clusters',
  'edgeset_reach_changes_total',
  'edgeset_reach_errors_total',
  'edgeset_clock_ahead_seconds',
  'edgeset_build_info',
  'leader_election_master_status',
);
