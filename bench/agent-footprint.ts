import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { buildAgent } from '../scripts/bundle.ts';
import { daemonSets } from '../src/kube/index.ts';
import { daemonSetOf, strategyKey } from '../test/conformance/kit/objects.ts';
import { startEmbeddedCluster } from '../test/embedded/cluster.ts';
import { type AgentProcess, startBareAgent, startBundledAgent } from './measure/bundled-agent.ts';
import { type Benchmark, mib } from './measure/figure.ts';
import { startHttp2Front } from './measure/http2-front.ts';
import { cpuMsOf, peakResidentOf, residentOf, watchMachine } from './measure/machine.ts';
import { median } from './measure/median.ts';

/** YurtHub v1.7, idle, takes 66 MiB. */
const RESIDENT = 60 * 1024 * 1024;
const FIRST_ANSWER_MS = 250;
const STARTS = 7;
const NODE = 'edge-1';
/** Filling the cache and giving back what starting took has ended by then. */
const SETTLED_MS = 20_000;

const bytesWrittenBy = (pid: number): number =>
  Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);

const lastChangeIn = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => statSync(path.join(entry.parentPath, entry.name)).mtimeMs)
    .reduce((last, at) => Math.max(last, at), statSync(folder).mtimeMs);

/**
 * Memory and CPU of the bundled agent on an idle device: one DaemonSet, one watch, no requests. Beside them, those of a bare Node
 * that holds the same connection.
 */
export const agentFootprint: Benchmark = {
  name: 'agent-footprint',
  async run({ quick }) {
    const dir = mkdtempSync(path.join(tmpdir(), 'edgeset-footprint-'));
    const cluster = await startEmbeddedCluster();
    const front = await startHttp2Front(readFileSync(cluster.kubeconfig, 'utf8'));
    const running: AgentProcess[] = [];
    try {
      const { file } = await buildAgent(dir);
      const namespace = await cluster.createNamespace('footprint');
      await cluster.addNodes([NODE]);
      await cluster.client.create(daemonSets, daemonSetOf(namespace, { annotations: { [strategyKey]: 'ota' } }));

      const kubeconfig = path.join(dir, 'kubeconfig');
      writeFileSync(kubeconfig, front.kubeconfig, { mode: 0o600 });
      const place = { kubeconfig, node: NODE, dir };
      const run = async <T extends AgentProcess>(starting: Promise<T>): Promise<T> => {
        const agent = await starting;
        running.push(agent);
        return agent;
      };
      const firstAnswer = async (starting: Promise<AgentProcess>): Promise<number> => {
        const agent = await run(starting);
        await agent.stop();
        running.pop();
        return agent.firstAnswerMs;
      };
      const starts: number[] = [];
      const bareStarts: number[] = [];
      const starting = watchMachine();
      for (let count = 0; count < STARTS; count += 1) {
        starts.push(await firstAnswer(startBundledAgent(file, place)));
        bareStarts.push(await firstAnswer(startBareAgent(place)));
      }
      const whileStarting = starting();

      const agent = await run(startBundledAgent(file, place));
      const bare = await run(startBareAgent(place));
      await pause(SETTLED_MS);
      const resident = residentOf(agent.pid);
      const bareResident = residentOf(bare.pid);
      await bare.stop();
      running.pop();
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
      const watches = front.open();
      const rest = `${restMs / 1000} s at rest`;
      const first = median(starts);
      return [
        {
          name: 'agent-footprint memory',
          measured: `${mib(resident)} resident after ${SETTLED_MS / 1000} s, ${mib(peakResidentOf(agent.pid))} at the most; a bare Node ${mib(bareResident)}`,
          goal: '<= 60 MiB',
          met: resident <= RESIDENT,
        },
        {
          name: 'agent-footprint start',
          measured: `first answer after ${Math.round(first)} ms, median of ${STARTS} starts; a bare Node ${Math.round(median(bareStarts))} ms; ${whileStarting}`,
          goal: '<= 250 ms',
          met: first <= FIRST_ANSWER_MS,
        },
        {
          name: 'agent-footprint rest',
          measured: `${bytes} bytes to the disk${changed ? ', a file changed' : ''}, ${requests} requests in ${rest}; open watches: ${watches}`,
          goal: 'none, one watch',
          met: bytes === 0 && !changed && requests === 0 && watches === 1,
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
      front.close();
      await cluster.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
};
