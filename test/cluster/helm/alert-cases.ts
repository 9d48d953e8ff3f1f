// When each alert of the chart fires, and when it doesn't.

const scraped = 'namespace="edgeset-system",job="edgeset-manager",pod="m-1"';
const daemonSet = 'controller="native",namespace="shop",daemonset="web"';
const nodes = (phase: string): string => `edgeset_nodes{${daemonSet},phase="${phase}",pod="m-1"}`;
const hold = (kind: string): string => `edgeset_rollout_hold{${daemonSet},hold="${kind}",pod="m-1"}`;
const budget = (what: string): string => `edgeset_budget_${what}{${daemonSet},pod="m-1"}`;
const cause = (name: string): string => `edgeset_node_causes{${daemonSet},phase="offline",cause="${name}",pod="m-1"}`;
const finished = `edgeset_rollout_finished_timestamp_seconds{${daemonSet},pod="m-1"}`;
const requests = (code: string): string => `rest_client_requests_total{${scraped},method="GET",code="${code}"}`;
const lease = (pod: string): string =>
  `leader_election_master_status{namespace="edgeset-system",name="edgeset-manager",pod="${pod}"}`;

export interface AlertCase {
  what: string;
  /** Values by series, one a minute. */
  series: Readonly<Record<string, string>>;
  at: string;
  /** Labels of each alert that fires. */
  fires: Readonly<Record<string, string>>;
}

const calm = { [lease('m-1')]: '1x200' } as const;

/** A case with one manager, which leads. */
const row = (what: string, at: string, series: AlertCase['series'], fires: AlertCase['fires'] = {}): AlertCase => ({
  what,
  at,
  series: { ...calm, ...series },
  fires,
});

export const alertCases: readonly AlertCase[] = [
  row('nothing fires while a rollout advances', '150m', {
    [lease('m-2')]: '0x200',
    [nodes('updating')]: '2x200',
    [nodes('updated')]: '0+1x200',
    [nodes('outdated')]: '200-1x200',
    [nodes('broken')]: '1x200',
    [nodes('failed')]: '0x200',
    [budget('nodes')]: '3x200',
    [budget('used_nodes')]: '3x200',
    'edgeset_rollouts_halted{controller="native"}': '0x200',
    [`edgeset_clock_ahead_seconds{${scraped}}`]: '0x200',
    [`controller_runtime_reconcile_total{${scraped},controller="native",result="success"}`]: '0+9x200',
    [`controller_runtime_reconcile_total{${scraped},controller="native",result="error"}`]: '3x200',
    [`rest_client_requests_total{${scraped},method="GET",code="200"}`]: '0+9x200',
    'rest_client_requests_total{namespace="shop",job="other",method="GET",code="403"}': '0+9x200',
  }),
  row(
    'a halted rollout',
    '2m',
    { 'edgeset_rollouts_halted{controller="native"}': '0 0 1x10' },
    { EdgesetRolloutHalted: 'controller="native"' },
  ),
  row('failed nodes', '5m', { [nodes('failed')]: '2x20' }, { EdgesetNodesFailed: daemonSet }),
  row(
    'updates that do not complete',
    '90m',
    { [nodes('updating')]: '2x200', [nodes('updated')]: '0+1x20 20x200' },
    { EdgesetUpdateStuck: daemonSet },
  ),
  row('updates that have not completed for an hour yet', '80m', {
    [nodes('updating')]: '2x200',
    [nodes('updated')]: '0+1x20 20x200',
  }),
  row(
    'broken nodes and a rollout that does not advance',
    '61m',
    { [nodes('missing')]: '1x200', [nodes('outdated')]: '5x200', [nodes('updated')]: '3x200' },
    { EdgesetBudgetUsedByBrokenNodes: daemonSet },
  ),
  row('broken nodes of a complete rollout', '61m', {
    [nodes('broken')]: '1x200',
    [nodes('outdated')]: '0x200',
    [nodes('updated')]: '3x200',
  }),
  row(
    'a budget that is used by nodes of closed stages',
    '61m',
    {
      [nodes('held')]: '2x200',
      [nodes('outdated')]: '5x200',
      [nodes('updated')]: '3x200',
      [budget('nodes')]: '2x200',
      [budget('used_nodes')]: '2x200',
    },
    { EdgesetBudgetUsedByBrokenNodes: daemonSet },
  ),
  row('a budget that has room while nodes wait', '61m', {
    [nodes('held')]: '2x200',
    [nodes('outdated')]: '5x200',
    [nodes('updated')]: '3x200',
    [budget('nodes')]: '2x200',
    [budget('used_nodes')]: '1x200',
  }),
  { what: 'no manager', series: {}, at: '2m', fires: { EdgesetNoLeader: '' } },
  {
    what: 'managers that do not lead',
    series: { [lease('m-1')]: '1 1 0x10', [lease('m-2')]: '0x10' },
    at: '4m',
    fires: { EdgesetNoLeader: '' },
  },
  {
    what: 'a failover within two minutes',
    series: { [lease('m-1')]: '1 0x10', [lease('m-2')]: '0 0 1x10' },
    at: '3m',
    fires: {},
  },
  row('two leaders', '3m', { [lease('m-2')]: '1x10' }, { EdgesetSeveralLeaders: '' }),
  row(
    'a clock that is behind',
    '5m',
    { [`edgeset_clock_ahead_seconds{${scraped}}`]: '-3600x10' },
    { EdgesetClockWrong: 'namespace="edgeset-system",pod="m-1"' },
  ),
  row(
    'reconciles that fail',
    '20m',
    { [`controller_runtime_reconcile_total{${scraped},controller="advanced",result="error"}`]: '0+1x30' },
    { EdgesetReconcileErrors: 'controller="advanced"' },
  ),
  row(
    'requests that are forbidden',
    '20m',
    { [`rest_client_requests_total{${scraped},method="PATCH",code="403"}`]: '0+1x30' },
    { EdgesetRequestsForbidden: 'method="PATCH"' },
  ),
  ...['waiting', 'unobserved', 'unsynced', 'refused', 'error'].map((kind) =>
    row(
      `a rollout that is ${kind}`,
      '31m',
      { [hold(kind)]: '1x60' },
      {
        EdgesetWaitingTooLong: `${daemonSet},hold="${kind}"`,
      },
    ),
  ),
  row('a rollout that waited for suspects, and continues', '50m', { [hold('waiting')]: '1x20 _x20 1x20' }),
  row('rollouts that people stopped, or owners decide on', '150m', {
    [hold('paused')]: '1x200',
    [hold('owner')]: '1x200',
    [hold('frozen')]: '1x200',
  }),
  row('an invalid policy', '11m', { [hold('invalid')]: '1x20' }, { EdgesetPolicyInvalid: daemonSet }),
  row('an invalid policy that is corrected', '11m', { [hold('invalid')]: '1x3 _x20' }),
  row(
    'offline nodes with an old version, a day after the rollout finished',
    '1450m',
    { [finished]: '0x1500', [cause('offline-outdated')]: '3x1500', [lease('m-1')]: '1x1500' },
    { EdgesetStragglers: daemonSet },
  ),
  row('offline nodes with an old version, within a day after the rollout finished', '1435m', {
    [finished]: '0x1500',
    [cause('offline-outdated')]: '3x1500',
    [lease('m-1')]: '1x1500',
  }),
  row(
    'requests that fail',
    '25m',
    { [requests('200')]: '0+9x40', [requests('<error>')]: '0+1x40', [requests('503')]: '0+1x40' },
    { EdgesetApiErrors: '' },
  ),
  row('requests of which few fail, or the server is busy', '25m', {
    [requests('200')]: '0+50x40',
    [requests('503')]: '0+1x40',
    [requests('429')]: '0+9x40',
  }),
];

/** With the alert that Alertmanager inhibits another one by. */
export const inhibitorCases: readonly AlertCase[] = [
  row(
    'a DaemonSet of which nodes are offline and wait',
    '5m',
    { [nodes('offline')]: '5x20', [nodes('held')]: '2x20', [nodes('broken')]: '0x20' },
    { EdgesetRolloutStuckExpected: 'namespace="shop",daemonset="web"' },
  ),
  row('a DaemonSet of which an online node is broken', '5m', {
    [nodes('offline')]: '5x20',
    [nodes('broken')]: '1x20',
    [nodes('missing')]: '0x20',
  }),
];
