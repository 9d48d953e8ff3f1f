import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import type { Ingested } from './ingest/reader.ts';
import { type Benchmark, mib, seconds } from './measure/figure.ts';
import { watchMachine } from './measure/machine.ts';

const folder = join(import.meta.dirname, 'ingest');

const startServer = async (pods: number, events: number): Promise<{ url: string; stop: () => Promise<unknown> }> => {
  const child = spawn(process.execPath, [join(folder, 'server.ts'), String(pods), String(events)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const line = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const ended = exited.then(() => {
    throw new Error('the server ended before it began');
  });
  const [url] = await Promise.race([line, ended]);
  ended.catch(() => undefined);
  return {
    url,
    stop() {
      child.kill();
      return exited;
    },
  };
};

const read = async (client: string, url: string, pods: number, events: number): Promise<Ingested> => {
  const args = ['--expose-gc', join(folder, 'reader.ts'), client, url, String(pods), String(events)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 300_000 });
  return JSON.parse(stdout) as Ingested;
};

const describe = ({ listMs, watchMs, cpuMs, peakBytes, heapBytes }: Ingested): string =>
  `list ${seconds(listMs)}, events ${seconds(watchMs)}, CPU ${seconds(cpuMs)}, peak ${mib(peakBytes)}, cache ${mib(heapBytes)}`;

/** Taking in a list and a burst of watch events, against `@kubernetes/client-node` on the same server. */
export const ingest: Benchmark = {
  name: 'ingest',
  async run({ quick }) {
    const [pods, events] = quick ? [2_000, 10_000] : [10_000, 50_000];
    const machine = watchMachine();
    const server = await startServer(pods, events);
    try {
      // The first reader's answers warm the server's code for both.
      await read('edgeset', server.url, pods, events);
      const ours = await read('edgeset', server.url, pods, events);
      const theirs = await read('client-node', server.url, pods, events);
      const faster = (theirs.listMs + theirs.watchMs) / (ours.listMs + ours.watchMs);
      const memory = ours.peakBytes / theirs.peakBytes;
      return [
        {
          name: 'ingest',
          measured:
            `${faster.toFixed(2)} times as fast, ${memory.toFixed(2)} of the memory: ${pods} pods, ${events} events: ${describe(ours)}; ` +
            `client-node: ${describe(theirs)}; ${machine()}`,
          goal: 'faster than @kubernetes/client-node, < 0.5 of its peak memory',
          met: faster > 1 && memory < 0.5,
        },
      ];
    } finally {
      await server.stop();
    }
  },
};
