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
  /** By time, the labels of each alert that fires then. */
  fires: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

type Series = AlertCase['series'];

/** A case with one manager, which leads. */
const row = (what: string, series: Series, fires: AlertCase['fires']): AlertCase => ({
  what,
  series: { [lease('m-1')]: '1x200', ...series },
  fires,
});

/** Nodes that are updated, and others that wait. */
const waiting = { [nodes('outdated')]: '5x200', [nodes('updated')]: '3x200' };
const ofClosedStages = { ...waiting, [nodes('held')]: '2x200', [budget('nodes')]: '2x200' };

export const alertCases: readonly AlertCase[] = [
  row(
    'nothing fires while a rollout advances',
    {
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
      [requests('200')]: '0+9x200',
      'rest_client_requests_total{namespace="shop",job="other",method="GET",code="403"}': '0+9x200',
    },
    { '150m': {} },
  ),
  row(
    'a halted rollout',
    { 'edgeset_rollouts_halted{controller="native"}': '0 0 1x10' },
    { '2m': { EdgesetRolloutHalted: 'controller="native"' } },
  ),
  row('failed nodes', { [nodes('failed')]: '2x20' }, { '5m': { EdgesetNodesFailed: daemonSet } }),
  row(
    'updates that do not complete, after more than an hour',
    { [nodes('updating')]: '2x200', [nodes('updated')]: '0+1x20 20x200' },
    { '80m': {}, '90m': { EdgesetUpdateStuck: daemonSet } },
  ),
  row(
    'broken nodes and a rollout that does not advance',
    { ...waiting, [nodes('missing')]: '1x200' },
    { '61m': { EdgesetBudgetUsedByBrokenNodes: daemonSet } },
  ),
  row(
    'broken nodes of a complete rollout',
    { ...waiting, [nodes('broken')]: '1x200', [nodes('outdated')]: '0x200' },
    { '61m': {} },
  ),
  row(
    'a budget that is used by nodes of closed stages',
    { ...ofClosedStages, [budget('used_nodes')]: '2x200' },
    { '61m': { EdgesetBudgetUsedByBrokenNodes: daemonSet } },
  ),
  row('a budget that has room while nodes wait', { ...ofClosedStages, [budget('used_nodes')]: '1x200' }, { '61m': {} }),
  { what: 'no manager', series: {}, fires: { '2m': { EdgesetNoLeader: '' } } },
  row(
    'managers that do not lead',
    { [lease('m-1')]: '1 1 0x10', [lease('m-2')]: '0x10' },
    { '4m': { EdgesetNoLeader: '' } },
  ),
  row('a failover within two minutes', { [lease('m-1')]: '1 0x10', [lease('m-2')]: '0 0 1x10' }, { '3m': {} }),
  row('two leaders', { [lease('m-2')]: '1x10' }, { '3m': { EdgesetSeveralLeaders: '' } }),
  row(
    'a clock that is behind',
    { [`edgeset_clock_ahead_seconds{${scraped}}`]: '-3600x10' },
    { '5m': { EdgesetClockWrong: 'namespace="edgeset-system",pod="m-1"' } },
  ),
  row(
    'reconciles that fail',
    { [`controller_runtime_reconcile_total{${scraped},controller="advanced",result="error"}`]: '0+1x30' },
    { '20m': { EdgesetReconcileErrors: 'controller="advanced"' } },
  ),
  row(
    'requests that are forbidden',
    { [`rest_client_requests_total{${scraped},method="PATCH",code="403"}`]: '0+1x30' },
    { '20m': { EdgesetRequestsForbidden: 'method="PATCH"' } },
  ),
  ...['waiting', 'unobserved', 'unsynced', 'refused', 'error'].map((kind) =>
    row(
      `a rollout that is ${kind}`,
      { [hold(kind)]: '1x60' },
      { '31m': { EdgesetWaitingTooLong: `${daemonSet},hold="${kind}"` } },
    ),
  ),
  row('a rollout that waited for suspects, and continues', { [hold('waiting')]: '1x20 _x20 1x20' }, { '50m': {} }),
  row(
    'rollouts that people stopped, or owners decide on',
    { [hold('paused')]: '1x200', [hold('owner')]: '1x200', [hold('frozen')]: '1x200' },
    { '150m': {} },
  ),
  row('an invalid policy', { [hold('invalid')]: '1x20' }, { '11m': { EdgesetPolicyInvalid: daemonSet } }),
  row('an invalid policy that is corrected', { [hold('invalid')]: '1x3 _x20' }, { '11m': {} }),
  row(
    'offline nodes with an old version, from a day after the rollout finished',
    { [finished]: '0x1500', [cause('offline-outdated')]: '3x1500', [lease('m-1')]: '1x1500' },
    { '1435m': {}, '1450m': { EdgesetStragglers: daemonSet } },
  ),
  row(
    'requests that fail',
    { [requests('200')]: '0+9x40', [requests('<error>')]: '0+1x40', [requests('503')]: '0+1x40' },
    { '25m': { EdgesetApiErrors: '' } },
  ),
  row(
    'requests of which few fail, or the server is busy',
    { [requests('200')]: '0+50x40', [requests('503')]: '0+1x40', [requests('429')]: '0+9x40' },
    { '25m': {} },
  ),
];

/** With the alert that Alertmanager inhibits another one by. */
export const inhibitorCases: readonly AlertCase[] = [
  row(
    'a DaemonSet of which nodes are offline and wait',
    { [nodes('offline')]: '5x20', [nodes('held')]: '2x20', [nodes('broken')]: '0x20' },
    { '5m': { EdgesetRolloutStuckExpected: 'namespace="shop",daemonset="web"' } },
  ),
  row(
    'a DaemonSet of which an online node is broken',
    { [nodes('offline')]: '5x20', [nodes('broken')]: '1x20', [nodes('missing')]: '0x20' },
    { '5m': {} },
  ),
];

const reachLease = 'leader_election_master_status{namespace="edgeset-system",name="edgeset-reach",pod="r-1"}';
const suspects = (kind: string, why: string): string =>
  `edgeset_reach_clusters{kind="${kind}",reach="suspect",cause="${why}",pod="r-1"}`;
const reachErrors = (kind: string): string =>
  `edgeset_reach_errors_total{namespace="edgeset-system",job="edgeset-reach",kind="${kind}",pod="r-1"}`;

/** With `edgeset reach`. */
export const reachCases: readonly AlertCase[] = [
  row('no process keeps the labels', {}, { '2m': { EdgesetReachNoLeader: '' } }),
  row('one does, and no cluster is a suspect', { [reachLease]: '1x60' }, { '40m': {} }),
  row(
    'suspects',
    {
      [reachLease]: '1x60',
      [suspects('ocm', 'soon-after-update')]: '2x60',
      [suspects('ocm', 'still-suspect')]: '1x60',
    },
    { '0m': {}, '1m': { EdgesetClusterSuspect: 'kind="ocm"' }, '40m': { EdgesetClusterSuspect: 'kind="ocm"' } },
  ),
  row(
    'suspects that are back',
    { [reachLease]: '1x60', [suspects('fleet', 'still-suspect')]: '2x20 _x40' },
    { '20m': { EdgesetClusterSuspect: 'kind="fleet"' }, '40m': {} },
  ),
  row(
    'a suspect that was back within a minute',
    { [reachLease]: '1x60', [suspects('ocm', 'soon-after-update')]: '1 0x60' },
    { '1m': {}, '2m': {} },
  ),
  row(
    'clusters that could not be read or labelled for a quarter of an hour',
    { [reachLease]: '1x60', [reachErrors('ocm')]: '0+1x30', [reachErrors('fleet')]: '7x30' },
    { '14m': {}, '20m': { EdgesetReachErrors: 'kind="ocm"' } },
  ),
  row(
    'a cluster that could not be labelled, and then was',
    { [reachLease]: '1x60', [reachErrors('ocm')]: '0+1x5 5x55' },
    { '12m': {}, '30m': {} },
  ),
];
