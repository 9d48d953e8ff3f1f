import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildAgent } from '../scripts/bundle.ts';
import { daemonSets } from '../src/kube/index.ts';
import { daemonSetOf, strategyKey } from '../test/conformance/kit/objects.ts';
import { startEmbeddedCluster } from '../test/sim/cluster.ts';
import { type BundledAgent, startBundledAgent } from './measure/bundled-agent.ts';
import { type Benchmark, mib } from './measure/figure.ts';
import { cpuMsOf, peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';

/** YurtHub v1.7, idle, with what it answers within: docs/explanation/benchmarks.md. */
const PEER_RESIDENT = 66 * 1024 * 1024;
const FIRST_ANSWER_MS = 300;
const STARTS = 7;
const NODE = 'edge-1';
/** Filling the cache and giving back what starting took is over by then. */
const SETTLED_MS = 20_000;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

const bytesWrittenBy = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

const lastChangeIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs)
    .reduce((last, at) => Math.max(last, at), statSync(folder).mtimeMs);

/** Memory and CPU of the bundled agent on an idle device: one DaemonSet, one watch, no requests. */
export const agentFootprint: Benchmark = {
  name: 'agent-footprint',
  async run({ quick }) {
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-footprint-'));
    const cluster = await startEmbeddedCluster();
    const running: BundledAgent[] = [];
    try {
      const { file } = await buildAgent(dir);
      const namespace = await cluster.createNamespace('footprint');
      await cluster.addNodes([NODE]);
      await cluster.client.create(daemonSets, daemonSetOf(namespace, { annotations: { [strategyKey]: 'ota' } }));

      const start = async (): Promise<BundledAgent> => {
        const agent = await startBundledAgent(file, { kubeconfig: cluster.kubeconfig, node: NODE, dir });
        running.push(agent);
        return agent;
      };
      const starts: number[] = [];
      const starting = watchMachine();
      for (let count = 0; count < STARTS; count += 1) {
        const agent = await start();
        starts.push(agent.firstAnswerMs);
        await agent.stop();
        running.pop();
      }
      const whileStarting = starting();

      const agent = await start();
      await pause(SETTLED_MS);
      const resident = residentOf(agent.pid);
      const restMs = quick ? 20_000 : 60_000;
      const before = {
        cpu: cpuMsOf(agent.pid),
        bytes: bytesWrittenBy(agent.pid),
        change: lastChangeIn(agent.stateDir),
      };
      const restingSince = Date.now();
      await pause(restMs);
      const cpu = cpuMsOf(agent.pid) - before.cpu;
      const bytes = bytesWrittenBy(agent.pid) - before.bytes;
      const changed = lastChangeIn(agent.stateDir) > before.change;
      const requests = (await cluster.audit.read()).filter(({ receivedAt }) => receivedAt >= restingSince).length;
      const rest = `${restMs / 1000} s at rest`;
      const first = median(starts);
      return [
        {
          name: 'agent-footprint memory',
          measured: `${mib(resident)} resident with one watch after ${SETTLED_MS / 1000} s, ${mib(peakResidentOf(agent.pid))} at the most`,
          goal: '<= 66 MiB (YurtHub)',
          met: resident <= PEER_RESIDENT,
        },
        {
          name: 'agent-footprint start',
          measured: `first answer after ${Math.round(first)} ms, median of ${STARTS} starts; ${whileStarting}`,
          goal: '<= 300 ms',
          met: first <= FIRST_ANSWER_MS,
        },
        {
          name: 'agent-footprint rest',
          measured: `${bytes} bytes to the disk${changed ? ', a file changed' : ''}, ${requests} requests in ${rest}`,
          goal: 'none',
          met: bytes === 0 && !changed && requests === 0,
        },
        {
          name: 'agent-footprint CPU',
          measured: `${cpu} ms of CPU in ${rest}`,
          goal: '-',
          met: undefined,
        },
      ];
    } finally {
      for (const agent of running) await agent.stop();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
