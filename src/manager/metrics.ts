import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerMetrics } from '../controller/index.ts';
import type { RequestReport } from '../kube/index.ts';
import type { MetricsPage } from '../process/index.ts';
import { phases } from '../rollout/index.ts';
import type { RolloutCounts } from './types.ts';

/**
 * The metrics of the manager. Labels contain controllers and DaemonSets, never nodes or pods, which would be too many
 * series.
 */
export interface ManagerMetrics extends MetricsPage {
  request(report: RequestReport): void;
  observer(controller: string): ControllerMetrics;
  /**
   * Calls `rollouts` at each scrape until the returned function is called. For the leader only: other replicas do not know
   * the leader's updates, and a sum over replicas would count each node more than once.
   */
  showRollouts(controller: string, rollouts: () => Iterable<RolloutCounts>): () => void;
  leading(lease: string, isLeader: boolean): void;
}

// Queue waits and reconciles take from tens of microseconds (a cached decision) to seconds (a slow API call).
const workBuckets = [1e-5, 1e-4, 1e-3, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
const requestBuckets = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** Disables the sampling of the event loop's delay, which would wake an idle process a hundred times per second. */
const NEVER_MS = 2 ** 31 - 1;
const SAMPLED = ['min', 'max', 'mean', 'stddev', 'p50', 'p90', 'p99'];

export const createManagerMetrics = (version: string): ManagerMetrics => {
  const registry = new Registry();
  const registers = [registry];
  const sources = new Map<string, () => Iterable<RolloutCounts>>();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER_MS });
  for (const name of SAMPLED) registry.removeSingleMetric(`nodejs_eventloop_lag_${name}_seconds`);

  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server by status code, method and host.',
    labelNames: ['code', 'method', 'host'],
    registers,
  });
  const requestSeconds = new Histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Latency of API server responses by verb and host.',
    labelNames: ['verb', 'host'],
    buckets: requestBuckets,
    registers,
  });
  const reconciles = new Counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by controller and result.',
    labelNames: ['controller', 'result'],
    registers,
  });
  const reconcileSeconds = new Histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'Duration of a reconcile by controller.',
    labelNames: ['controller'],
    buckets: workBuckets,
    registers,
  });
  const depth = new Gauge({
    name: 'workqueue_depth',
    help: 'Items waiting in the work queue.',
    labelNames: ['name'],
    registers,
  });
  const added = new Counter({
    name: 'workqueue_adds_total',
    help: 'Items added to the work queue.',
    labelNames: ['name'],
    registers,
  });
  const retried = new Counter({
    name: 'workqueue_retries_total',
    help: 'Items re-added after an error.',
    labelNames: ['name'],
    registers,
  });
  const waited = new Histogram({
    name: 'workqueue_queue_duration_seconds',
    help: 'How long an item waits in the work queue.',
    labelNames: ['name'],
    buckets: workBuckets,
    registers,
  });
  const worked = new Histogram({
    name: 'workqueue_work_duration_seconds',
    help: 'How long processing an item of the work queue takes.',
    labelNames: ['name'],
    buckets: workBuckets,
    registers,
  });
  const acts = new Counter({
    name: 'edgeset_acts_total',
    help: 'Writes to pods by controller and result.',
    labelNames: ['controller', 'result'],
    registers,
  });
  const reservations = new Counter({
    name: 'edgeset_reservations_total',
    help: 'Writes that reserve slots for a batch of updates, by controller and result.',
    labelNames: ['controller', 'result'],
    registers,
  });
  const statusWrites = new Counter({
    name: 'edgeset_status_writes_total',
    help: 'Writes of DaemonRollouts, including reservations, by controller.',
    labelNames: ['controller'],
    registers,
  });
  const master = new Gauge({
    name: 'leader_election_master_status',
    help: '1 while this process holds the lease, otherwise 0.',
    labelNames: ['name'],
    registers,
  });
  const build = new Gauge({
    name: 'edgeset_build_info',
    help: 'Always 1; the label contains the version.',
    labelNames: ['version'],
    registers,
  });
  build.set({ version }, 1);
  const nodes = new Gauge({
    name: 'edgeset_nodes',
    help: 'Eligible nodes of a DaemonSet by rollout phase; exported by the leader only.',
    labelNames: ['controller', 'namespace', 'daemonset', 'phase'],
    registers,
  });
  const served = new Gauge({
    name: 'edgeset_rollouts',
    help: 'DaemonSets that a controller manages; exported by the leader only.',
    labelNames: ['controller'],
    registers,
  });
  const halted = new Gauge({
    name: 'edgeset_rollouts_halted',
    help: 'Rollouts halted by the breaker; exported by the leader only.',
    labelNames: ['controller'],
    registers,
  });

  // Read at each scrape: updating the gauges on every event would cost more.
  const readRollouts = (): void => {
    for (const gauge of [nodes, served, halted]) gauge.reset();
    for (const [controller, rollouts] of sources) {
      served.set({ controller }, 0);
      halted.set({ controller }, 0);
      for (const rollout of rollouts()) {
        served.inc({ controller });
        if (rollout.halted) halted.inc({ controller });
        const { namespace, name: daemonset } = rollout;
        for (const phase of phases) nodes.set({ controller, namespace, daemonset, phase }, rollout.phases[phase]);
      }
    }
  };

  return {
    async render() {
      readRollouts();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    request({ code, method, host, verb, seconds }) {
      requests.inc({ code, method, host });
      requestSeconds.observe({ verb, host }, seconds);
    },
    observer: (controller) => ({
      podWritten: (result) => acts.inc({ controller, result }),
      reserved: (result) => reservations.inc({ controller, result }),
      statusWritten: () => statusWrites.inc({ controller }),
      queue: {
        depth: (keys) => depth.set({ name: controller }, keys),
        added: () => added.inc({ name: controller }),
        waited: (seconds) => waited.observe({ name: controller }, seconds),
        retried: () => retried.inc({ name: controller }),
        // Processing one key is one reconcile: dashboards use both names.
        worked(seconds, result) {
          worked.observe({ name: controller }, seconds);
          reconcileSeconds.observe({ controller }, seconds);
          reconciles.inc({ controller, result });
        },
      },
    }),
    showRollouts(controller, rollouts) {
      sources.set(controller, rollouts);
      return () => sources.delete(controller);
    },
    leading: (lease, isLeader) => master.set({ name: lease }, isLeader ? 1 : 0),
  };
};
