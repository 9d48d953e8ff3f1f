import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import { buildCli } from '../scripts/bundle.ts';
import { customResourceDefinitions } from '../src/kube/index.ts';
import { daemonRolloutCrd } from '../src/words/index.ts';
import { startEmbeddedCluster } from '../test/embedded/cluster.ts';
import type { Benchmark } from './measure/figure.ts';
import { watchMachine } from './measure/machine.ts';
import { median } from './measure/median.ts';

/** Of the time of a bare Node that sends one request. */
const LARGEST_RATIO = 1.3;
const NAMESPACE = 'default';

interface Kubeconfig {
  clusters: [{ cluster: { server: string; 'certificate-authority-data': string } }];
  users: [{ user: { token: string } }];
}

/** One request over TLS, with nothing but Node. */
const bareRequest = (kubeconfig: string): string => {
  const { clusters, users } = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig;
  const { server, 'certificate-authority-data': authority } = clusters[0].cluster;
  const url = `${server}/apis/apps/v1/namespaces/${NAMESPACE}/daemonsets`;
  const options = { headers: { authorization: `Bearer ${users[0].user.token}` } };
  return `const options = ${JSON.stringify(options)}; options.ca = Buffer.from(${JSON.stringify(authority)}, 'base64');
    require('node:https').get(${JSON.stringify(url)}, options, (response) => { response.resume(); response.on('end', () => process.exit(response.statusCode === 200 ? 0 : 1)); });`;
};

/** What the shell waits for at each command, against Node itself. All take turns, so that a busy machine slows all of them. */
export const cliStart: Benchmark = {
  name: 'cli-start',
  async run({ quick }) {
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-start-'));
    const cluster = await startEmbeddedCluster();
    try {
      await buildCli(dir);
      await cluster.client.create(customResourceDefinitions, daemonRolloutCrd);
      const env = { PATH: '', KUBECONFIG: cluster.kubeconfig, XDG_CACHE_HOME: path.join(dir, 'cache') };
      // The cluster is in this process, so it must not wait for the other one.
      const time = async (args: readonly string[]): Promise<number> => {
        const startedAt = performance.now();
        const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
        const [code] = (await once(child, 'exit')) as [number | null];
        if (code !== 0) throw new Error(`node ${args[0]} ended with ${code}`);
        return performance.now() - startedAt;
      };
      const programs = {
        bare: ['-e', bareRequest(cluster.kubeconfig)],
        'edgeset --help': [path.join(dir, 'edgeset.mjs'), '--help'],
        'kubectl edgeset status': [path.join(dir, 'kubectl-edgeset.mjs'), 'status', '-n', NAMESPACE],
      };
      const times = Object.entries(programs).map(([name, args]) => ({ name, args, all: [] as number[] }));
      // The first start writes what V8 compiled.
      for (const { args } of times) await time(args);
      const busy = watchMachine();
      for (let count = 0; count < (quick ? 7 : 31); count += 1)
        for (const each of times) each.all.push(await time(each.args));
      const machine = busy();
      const bare = median(times[0]?.all ?? []);
      return times.slice(1).map(({ name, all }) => {
        const ratio = median(all) / bare;
        return {
          name: `cli-start ${name.split(' ').at(-1)}`,
          measured: `${name}: ${Math.round(median(all))} ms, ${ratio.toFixed(2)} of a bare Node with one request (${Math.round(bare)} ms); ${machine}`,
          goal: `<= ${LARGEST_RATIO}`,
          met: ratio <= LARGEST_RATIO,
        };
      });
    } finally {
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
