import type { RequestReport } from '../kube/index.ts';
import { createCounter, type MetricsPage, metricFamily, metricsPage } from '../process/index.ts';
import { type Troubles, troubleParts } from './troubles.ts';
import { type AgentBackend, type UpdateState, updateStates } from './types.ts';

/** The agent's metrics. They contain no names of pods, images or revisions. */
export interface AgentMetrics extends MetricsPage {
  request(report: RequestReport): void;
  response(status: number, refusal: string | undefined): void;
  /** Sets the sources to read at each scrape. */
  show(sources: MetricsSources): void;
}

export interface MetricsSources {
  backend: Pick<AgentBackend, 'pods' | 'updates' | 'device'> & { troubles: Pick<Troubles, 'all'> };
  server: { readonly connections: number; readonly streams: number };
  restriction: { readonly unrestricted: boolean };
}

export const createAgentMetrics = (version: string): AgentMetrics => {
  const responses = createCounter();
  const refusals = createCounter();
  const requests = createCounter();
  let shown: MetricsSources | undefined;

  const live = ({ backend, server, restriction }: MetricsSources): string[] => {
    const updates = backend.updates();
    const troubles = backend.troubles.all();
    const count = (state: UpdateState): number => updates.filter((update) => update.state === state).length;
    return [
      metricFamily('edgeset_agent_connected', 'gauge', 'Whether the agent is connected to the API server.', [
        [{}, backend.device().connected ? 1 : 0],
      ]),
      metricFamily(
        'edgeset_agent_decisions_unkept',
        'gauge',
        'Whether the last change of a decision could not be saved to disk.',
        [[{}, backend.device().disk.trouble === null ? 0 : 1]],
      ),
      metricFamily('edgeset_agent_decisions_damaged', 'gauge', 'Whether saved decisions were unreadable at start.', [
        [{}, backend.device().disk.damage === null ? 0 : 1],
      ]),
      metricFamily(
        'edgeset_agent_unrestricted',
        'gauge',
        'Whether the API server accepted a dry run of what agents must not do.',
        [[{}, restriction.unrestricted ? 1 : 0]],
      ),
      metricFamily('edgeset_agent_cache_age_seconds', 'gauge', 'Age of the pod cache.', [
        [{}, backend.pods().ageSeconds],
      ]),
      metricFamily(
        'edgeset_agent_updates',
        'gauge',
        'DaemonSets of this node in OTA mode, by state.',
        updateStates.map((state) => [{ state }, count(state)]),
      ),
      metricFamily(
        'edgeset_agent_not_computable',
        'gauge',
        'What the agent cannot compute and so does not act on, by part.',
        troubleParts.map((part) => [{ part }, troubles.filter((trouble) => trouble.part === part).length]),
      ),
      metricFamily('edgeset_agent_connections', 'gauge', 'Open connections of API callers.', [
        [{}, server.connections],
      ]),
      metricFamily('edgeset_agent_event_streams', 'gauge', 'Open event streams.', [[{}, server.streams]]),
    ];
  };

  return {
    request: ({ code, method, host }) => requests.add({ code, method, host }),
    response(status, refusal) {
      responses.add({ code: String(status) });
      if (refusal !== undefined) refusals.add({ reason: refusal });
    },
    show(sources) {
      shown = sources;
    },
    ...metricsPage(() => [
      metricFamily('edgeset_agent_info', 'gauge', 'Version of the agent.', [[{ version }, 1]]),
      ...(shown === undefined ? [] : live(shown)),
      metricFamily(
        'edgeset_agent_answers_total',
        'counter',
        'Responses to API callers, by HTTP status code.',
        responses.samples(),
      ),
      metricFamily('edgeset_agent_refusals_total', 'counter', 'Refused API requests, by reason.', refusals.samples()),
      metricFamily(
        'rest_client_requests_total',
        'counter',
        'Requests to the API server, by status code, method and host.',
        requests.samples(),
      ),
    ]),
  };
};
