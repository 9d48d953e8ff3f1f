// A real Prometheus.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { eventually } from '../support/index.ts';
import { type ControlPlane, freePort } from './controlplane.ts';

export interface Sample {
  metric: Readonly<Record<string, string>>;
  /** The time, and the value. */
  value: readonly [number, string];
}

export interface Rule {
  name: string;
  type: 'alerting' | 'recording';
  /** `ok` once it was evaluated without an error. */
  health: string;
  lastError?: string;
  state?: 'inactive' | 'pending' | 'firing';
}

export interface Prometheus {
  readonly url: string;
  query(expr: string): Promise<Sample[]>;
  rules(): Promise<Rule[]>;
}

export interface PrometheusOptions {
  /** The program. */
  file: string;
  /** Groups of rules. Default: none. */
  rules?: object;
  /** The manager that it scrapes: where, and the labels that the ServiceMonitor would add. Default: none. */
  scrape?: { target: string; labels: Readonly<Record<string, string>> };
}

/** Starts it as a process of the control plane; resolves when it is ready. */
export const startPrometheus = async (
  { dir, processes }: Pick<ControlPlane, 'dir' | 'processes'>,
  { file, rules = {}, scrape }: PrometheusOptions,
): Promise<Prometheus> => {
  const config = join(dir, 'prometheus.yaml');
  await writeFile(join(dir, 'rules.yaml'), stringify(rules));
  const scrapeConfigs = [scrape ?? []].flat().map(({ target, labels: { job = 'manager', ...labels } }) => ({
    job_name: job,
    // As in the ServiceMonitor: the label `namespace` is the DaemonSet's.
    honor_labels: true,
    static_configs: [{ targets: [new URL(target).host], labels }],
  }));
  await writeFile(
    config,
    stringify({
      global: { scrape_interval: '500ms', scrape_timeout: '500ms', evaluation_interval: '500ms' },
      rule_files: ['rules.yaml'],
      scrape_configs: scrapeConfigs,
    }),
  );
  const address = `127.0.0.1:${await freePort()}`;
  const program = await processes.start({
    name: 'prometheus',
    file,
    args: [
      `--config.file=${config}`,
      `--storage.tsdb.path=${join(dir, 'prometheus')}`,
      `--web.listen-address=${address}`,
      '--log.level=warn',
    ],
  });
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`http://${address}/api/v1/${path}`);
    const answer = (await response.json()) as { status: string; error?: string; data: T };
    if (answer.status !== 'success') throw new Error(`Prometheus: ${path}: ${answer.error}`);
    return answer.data;
  };
  const isReady = async (): Promise<boolean> => (await fetch(`http://${address}/-/ready`)).ok;
  await eventually('Prometheus is ready', isReady, { everyMs: 50 }).catch(async (cause) => {
    throw new Error(await program.log(), { cause });
  });
  return {
    url: `http://${address}`,
    query: async (expr) => (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expr)}`)).result,
    rules: async () => (await get<{ groups: { rules: Rule[] }[] }>('rules')).groups.flatMap((group) => group.rules),
  };
};
