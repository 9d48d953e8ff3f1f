// Records what the real DaemonSet controller does: node test/embedded/oracle/record.ts
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startCluster } from '../../cluster/index.ts';
import { openOnRealCluster } from './real-cluster.ts';
import { type Recording, runScenario } from './scenario.ts';
import { scenarios } from './scenarios.ts';

const AT_ONCE = 5;

const cluster = await startCluster();
try {
  await cluster.addNodes(['anchor'], {
    taints: [{ key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' }],
  });
  const open = openOnRealCluster(cluster);
  const recordings: Record<string, Recording> = {};
  const failures: Error[] = [];
  const waiting = [...scenarios];
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        recordings[next.name] = await runScenario(open, next);
      } catch (error) {
        failures.push(new Error(`"${next.name}" failed`, { cause: error }));
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (failures.length > 0) throw new AggregateError(failures, 'nothing was recorded');
  const sorted = Object.fromEntries(scenarios.map(({ name }) => [name, recordings[name]]));
  await writeFile(join(import.meta.dirname, 'recorded.json'), `${JSON.stringify(sorted, undefined, 2)}\n`);
} finally {
  await cluster.stop();
}
