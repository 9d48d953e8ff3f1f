import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ControllerMetrics } from '../controller/index.ts';
import type { RequestReport } from '../kube/index.ts';
import type { NotificationResult } from '../notify/index.ts';
import type { MetricsPage } from '../process/index.ts';
import { createRolloutMetrics } from './rollout-metrics.ts';
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
  clockAhead(seconds: number): void;
  notified(target: string, result: NotificationResult): void;
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

  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> =>
    new Counter({ name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> =>
    new Gauge({ name, help, labelNames, registers });
  const histogram = <L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: number[],
  ): Histogram<L> => new Histogram({ name, help, labelNames, buckets, registers });

  const requests = counter(
    'rest_client_requests_total',
    'Requests to the API server by status code, method and host.',
    ['code', 'method', 'host'],
  );
  const requestSeconds = histogram(
    'rest_client_request_duration_seconds',
    'Latency of API server responses by verb and host.',
    ['verb', 'host'],
    requestBuckets,
  );
  // A watch that resumes opens another one; one that can't lists again first.
  const watches = counter('edgeset_watches_opened_total', 'Watches opened, or attempted, by resource.', ['resource']);
  const lists = counter('edgeset_lists_total', 'Requests that list objects, one for each page, by resource.', [
    'resource',
  ]);
  const reconciles = counter('controller_runtime_reconcile_total', 'Reconciles by controller and result.', [
    'controller',
    'result',
  ]);
  const reconcileSeconds = histogram(
    'controller_runtime_reconcile_time_seconds',
    'Duration of a reconcile by controller.',
    ['controller'],
    workBuckets,
  );
  const depth = gauge('workqueue_depth', 'Items waiting in the work queue.', ['name']);
  const added = counter('workqueue_adds_total', 'Items added to the work queue.', ['name']);
  const retried = counter('workqueue_retries_total', 'Items re-added after an error.', ['name']);
  const waited = histogram(
    'workqueue_queue_duration_seconds',
    'How long an item waits in the work queue.',
    ['name'],
    workBuckets,
  );
  const worked = histogram(
    'workqueue_work_duration_seconds',
    'How long processing an item of the work queue takes.',
    ['name'],
    workBuckets,
  );
  const podWrites = counter('edgeset_pod_writes_total', 'Writes to pods by controller and result.', [
    'controller',
    'result',
  ]);
  const reservations = counter(
    'edgeset_reservations_total',
    'Writes that reserve slots for a batch of updates, by controller and result.',
    ['controller', 'result'],
  );
  const statusWrites = counter(
    'edgeset_status_writes_total',
    'Writes of DaemonRollouts, including reservations, by controller.',
    ['controller'],
  );
  const notifications = counter(
    'edgeset_notifications_total',
    'Attempts to send a notification, and those dropped, by target of the configuration and result.',
    ['target', 'result'],
  );
  const master = gauge('leader_election_master_status', '1 while this process holds the lease, otherwise 0.', ['name']);
  const skew = gauge(
    'edgeset_clock_ahead_seconds',
    "How far the manager's clock is ahead of the API server's; negative when it is behind, 0 within a minute.",
    [],
  );
  const build = gauge('edgeset_build_info', 'Always 1; the label contains the version.', ['version']);
  build.set({ version }, 1);
  const rollouts = createRolloutMetrics(registry, sources);

  return {
    async render() {
      rollouts.read();
      return { contentType: registry.contentType, body: await registry.metrics() };
    },
    request({ code, method, host, verb, resource, seconds }) {
      requests.inc({ code, method, host });
      requestSeconds.observe({ verb, host }, seconds);
      if (verb === 'watch') watches.inc({ resource });
      if (verb === 'list') lists.inc({ resource });
    },
    observer(controller) {
      // A rate needs a zero to rise from: without it the first error would not be seen.
      retried.inc({ name: controller }, 0);
      reconciles.inc({ controller, result: 'error' }, 0);
      return {
        podWritten: (result) => podWrites.inc({ controller, result }),
        reserved: (result) => reservations.inc({ controller, result }),
        statusWritten: () => statusWrites.inc({ controller }),
        nodeUpdated: (daemonSet, seconds) => rollouts.nodeUpdated(controller, daemonSet, seconds),
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
      };
    },
    showRollouts(controller, read) {
      sources.set(controller, read);
      return () => sources.delete(controller);
    },
    leading: (lease, isLeader) => master.set({ name: lease }, isLeader ? 1 : 0),
    clockAhead: (seconds) => skew.set(seconds),
    notified: (target, result) => notifications.inc({ target, result }),
  };
};
