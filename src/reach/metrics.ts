import { createCounter, type MetricsPage, metricFamily, metricsPage } from '../process/index.ts';
import type { ReachMetrics, Verdict } from './controller.ts';

export interface ProcessMetrics extends MetricsPage, ReachMetrics {
  /** Reads the verdicts of a kind at each scrape until the returned function is called. For the leader only. */
  showClusters(kind: string, read: () => Iterable<Verdict>): () => void;
  leading(lease: string, isLeader: boolean): void;
  clockAhead(seconds: number): void;
}

export const createReachMetrics = (version: string): ProcessMetrics => {
  const changes = createCounter();
  const errors = createCounter();
  const leases = new Map<string, boolean>();
  const sources = new Map<string, () => Iterable<Verdict>>();
  let ahead = 0;

  const clusters = () => {
    const counts = new Map<string, { labels: Record<string, string>; count: number }>();
    for (const [kind, read] of sources)
      for (const { reach, cause } of read()) {
        const labels = { kind, reach, cause };
        const key = Object.values(labels).join('\n');
        const entry = counts.get(key) ?? { labels, count: 0 };
        counts.set(key, { labels, count: entry.count + 1 });
      }
    return [...counts.values()].map(({ labels, count }) => [labels, count] as const);
  };

  const page = metricsPage(() => [
    metricFamily('edgeset_build_info', 'gauge', 'Always 1; the label contains the version.', [[{ version }, 1]]),
    metricFamily(
      'edgeset_clock_ahead_seconds',
      'gauge',
      "How far the process's clock is ahead of the API server's; negative when it is behind, 0 within a minute.",
      [[{}, ahead]],
    ),
    metricFamily(
      'edgeset_reach_clusters',
      'gauge',
      'Clusters by kind, by the reach of their label, and why they have it.',
      clusters(),
    ),
    metricFamily(
      'edgeset_reach_changes_total',
      'counter',
      'Labels written, by kind of cluster and reach.',
      changes.samples(),
    ),
    metricFamily(
      'edgeset_reach_errors_total',
      'counter',
      'Clusters that could not be read or labelled, and are tried again, by kind.',
      errors.samples(),
    ),
    metricFamily(
      'leader_election_master_status',
      'gauge',
      '1 while this process holds the lease, otherwise 0.',
      [...leases].map(([name, leads]) => [{ name }, leads ? 1 : 0]),
    ),
  ]);

  return {
    ...page,
    changed: (kind, reach) => changes.add({ kind, reach }),
    failed: (kind) => errors.add({ kind }),
    showClusters(kind, read) {
      sources.set(kind, read);
      return () => sources.delete(kind);
    },
    leading: (lease, isLeader) => void leases.set(lease, isLeader),
    clockAhead(seconds) {
      ahead = seconds;
    },
  };
};
