import type { RequestReport } from '../kube/index.ts';
import type { MetricsPage } from '../process/index.ts';
import type { AgentBackend, UpdateState } from './types.ts';

/** The agent's metrics. They contain no names of pods, images or revisions. */
export interface AgentMetrics extends MetricsPage {
  request(report: RequestReport): void;
  response(status: number, refusal: string | undefined): void;
  /** Sets the sources to read at each scrape. */
  show(sources: MetricsSources): void;
}

export interface MetricsSources {
  backend: Pick<AgentBackend, 'pods' | 'updates' | 'device'>;
  server: { readonly connections: number; readonly streams: number };
}

type Kind = 'counter' | 'gauge';
type Sample = readonly [labels: Readonly<Record<string, string>>, value: number];

const states: readonly UpdateState[] = [
  'current',
  'available',
  'postponed',
  'rejected',
  'queued',
  'updating',
  'failed',
  'halted',
];

const escape = (text: string): string => text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));

const family = (name: string, kind: Kind, help: string, samples: readonly Sample[]): string => {
  const lines = samples.map(([labels, value]) => {
    const listed = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
    return `${name}${listed.length === 0 ? '' : `{${listed.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
};

/** A counter with labels. Label values come from closed sets, which bounds the number of series. */
const createCounter = () => {
  const counts = new Map<string, { labels: Readonly<Record<string, string>>; count: number }>();
  return {
    add(labels: Readonly<Record<string, string>>) {
      const key = Object.values(labels).join('\n');
      const entry = counts.get(key) ?? { labels, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    },
    samples: (): Sample[] => [...counts.values()].map(({ labels, count }) => [labels, count]),
  };
};

/** Written by hand: a metrics library would use a tenth of the agent's memory limit. */
export const createAgentMetrics = (version: string): AgentMetrics => {
  const responses = createCounter();
  const refusals = createCounter();
  const requests = createCounter();
  let shown: MetricsSources | undefined;

  const live = ({ backend, server }: MetricsSources): string[] => {
    const updates = backend.updates();
    const count = (state: UpdateState): number => updates.filter((update) => update.state === state).length;
    return [
      family('edgeset_agent_connected', 'gauge', 'Whether the agent is connected to the API server.', [
        [{}, backend.device().connected ? 1 : 0],
      ]),
      family(
        'edgeset_agent_decisions_unkept',
        'gauge',
        'Whether the last change of a decision could not be saved to disk.',
        [[{}, backend.device().disk.trouble === null ? 0 : 1]],
      ),
      family('edgeset_agent_decisions_damaged', 'gauge', 'Whether saved decisions were unreadable at start.', [
        [{}, backend.device().disk.damage === null ? 0 : 1],
      ]),
      family('edgeset_agent_cache_age_seconds', 'gauge', 'Age of the pod cache.', [[{}, backend.pods().ageSeconds]]),
      family(
        'edgeset_agent_updates',
        'gauge',
        'DaemonSets of this node in OTA mode, by state.',
        states.map((state) => [{ state }, count(state)]),
      ),
      family('edgeset_agent_connections', 'gauge', 'Open connections of API callers.', [[{}, server.connections]]),
      family('edgeset_agent_event_streams', 'gauge', 'Open event streams.', [[{}, server.streams]]),
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
    render: () =>
      Promise.resolve({
        contentType: 'text/plain; version=0.0.4; charset=utf-8',
        body: [
          family('edgeset_agent_info', 'gauge', 'Version of the agent.', [[{ version }, 1]]),
          ...(shown === undefined ? [] : live(shown)),
          family(
            'edgeset_agent_answers_total',
            'counter',
            'Responses to API callers, by HTTP status code.',
            responses.samples(),
          ),
          family('edgeset_agent_refusals_total', 'counter', 'Refused API requests, by reason.', refusals.samples()),
          family(
            'rest_client_requests_total',
            'counter',
            'Requests to the API server, by status code, method and host.',
            requests.samples(),
          ),
          family('process_resident_memory_bytes', 'gauge', 'Resident memory.', [[{}, process.memoryUsage.rss()]]),
        ].join(''),
      }),
  };
};
