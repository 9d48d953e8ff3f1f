import type { MetricsPage } from './endpoints.ts';

type MetricSample = readonly [labels: Readonly<Record<string, string>>, value: number];

const escape = (text: string): string => text.replace(/[\\"\n]/g, (char) => (char === '\n' ? '\\n' : `\\${char}`));

/** One metric with its samples, in Prometheus' text format. */
export const metricFamily = (
  name: string,
  kind: 'counter' | 'gauge',
  help: string,
  samples: readonly MetricSample[],
): string => {
  const lines = samples.map(([labels, value]) => {
    const listed = Object.entries(labels).map(([label, text]) => `${label}="${escape(text)}"`);
    return `${name}${listed.length === 0 ? '' : `{${listed.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${kind}\n${lines.join('')}`;
};

/** A counter with labels. Label values come from closed sets, which bounds the number of series. */
export const createCounter = () => {
  const counts = new Map<string, { labels: Readonly<Record<string, string>>; count: number }>();
  return {
    add(labels: Readonly<Record<string, string>>) {
      const key = Object.values(labels).join('\n');
      const entry = counts.get(key) ?? { labels, count: 0 };
      entry.count += 1;
      counts.set(key, entry);
    },
    samples: (): MetricSample[] => [...counts.values()].map(({ labels, count }) => [labels, count]),
  };
};

/**
 * The metrics of a process that has few of them, and its memory: a metrics library would use a tenth of the agent's memory limit.
 * `families` is called at each scrape.
 */
export const metricsPage = (families: () => readonly string[]): MetricsPage => ({
  render: () =>
    Promise.resolve({
      contentType: 'text/plain; version=0.0.4; charset=utf-8',
      body: [
        ...families(),
        metricFamily('process_resident_memory_bytes', 'gauge', 'Resident memory.', [[{}, process.memoryUsage.rss()]]),
      ].join(''),
    }),
});
