import type { KubeClient, RequestReport, WatchEvent } from '../../kube/index.ts';
import { createCounter, type MetricsPage, metricFamily, metricsPage } from '../../process/index.ts';
import type { Clock } from '../../runtime/index.ts';

const SECOND_MS = 1_000;

/** What the metrics show of the server and of those who use it. */
export interface MetricsSources {
  server: { readonly viewers: number };
  sessions: { readonly size: number };
}

/** The dashboard's metrics. They contain no names of users, namespaces or rollouts. */
export interface DashboardMetrics extends MetricsPage {
  /** A response to a page. */
  responded(status: number): void;
  /** A request to the API server with the dashboard's own rights. */
  requested(report: Pick<RequestReport, 'code'>): void;
  /** The client, whose watches count. */
  counting(client: KubeClient): KubeClient;
  /** Sets the sources to read at each scrape. */
  show(sources: MetricsSources): void;
}

export const createDashboardMetrics = (version: string, clock: Pick<Clock, 'now'>): DashboardMetrics => {
  const responses = createCounter();
  const requests = createCounter();
  let shown: MetricsSources | undefined;
  let watches = 0;
  let readAt: number | undefined;

  async function* counted<T>(events: AsyncIterable<WatchEvent<T>>): AsyncGenerator<WatchEvent<T>> {
    watches += 1;
    try {
      for await (const event of events) {
        readAt = clock.now();
        yield event;
      }
    } finally {
      watches -= 1;
    }
  }

  const live = ({ server, sessions }: MetricsSources): string[] => [
    metricFamily('edgeset_dashboard_viewers', 'gauge', 'Open streams: a page that is looked at has one.', [
      [{}, server.viewers],
    ]),
    metricFamily('edgeset_dashboard_sessions', 'gauge', 'Sessions of callers who have logged in.', [
      [{}, sessions.size],
    ]),
  ];

  return {
    responded: (status) => responses.add({ code: String(status) }),
    requested: ({ code }) => requests.add({ code }),
    counting: (client) => ({
      ...client,
      watch: (resource, options) => counted(client.watch(resource, options)),
    }),
    show(sources) {
      shown = sources;
    },
    ...metricsPage(() => [
      metricFamily('edgeset_dashboard_info', 'gauge', 'Version of the dashboard.', [[{ version }, 1]]),
      ...(shown === undefined ? [] : live(shown)),
      metricFamily(
        'edgeset_dashboard_requests_total',
        'counter',
        'Responses to pages and other callers, by HTTP status code.',
        responses.samples(),
      ),
      metricFamily(
        'edgeset_dashboard_api_requests_total',
        'counter',
        "Requests to the API server with the dashboard's own rights, by status code.",
        requests.samples(),
      ),
      metricFamily('edgeset_dashboard_watches', 'gauge', 'Watches that are open at the API server, or being opened.', [
        [{}, watches],
      ]),
      metricFamily(
        'edgeset_dashboard_last_read_timestamp_seconds',
        'gauge',
        'When a watch last delivered something; a quiet one delivers a bookmark each minute.',
        readAt === undefined ? [] : [[{}, readAt / SECOND_MS]],
      ),
    ]),
  };
};
