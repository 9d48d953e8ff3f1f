import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { AGENT_FLAGS } from '../../bin/flags.ts';

export interface BundledAgent {
  pid: number;
  stateDir: string;
  /** From the start of the process to the whole of the first answer, ms. */
  firstAnswerMs: number;
  stop(): Promise<void>;
}

const answer = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });

/** Starts the bundle as a device does, and asks it for its pods as soon as it says where it listens. */
export const startBundledAgent = async (
  file: string,
  { kubeconfig, node, dir }: { kubeconfig: string; node: string; dir: string },
): Promise<BundledAgent> => {
  const stateDir = path.join(dir, 'state');
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--node-name=${node}`,
    '--listen=127.0.0.1:0',
    `--state-dir=${stateDir}`,
  ];
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...AGENT_FLAGS, file, ...flags, `--allow-user=${process.getuid?.() ?? 0}`], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, MALLOC_ARENA_MAX: '1' },
  });
  const exit = once(child, 'exit');
  const lines: string[] = [];
  const address = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr })
      .on('line', (line) => {
        lines.push(line);
        const [, found] = /"serving the API","address":"([^"]+)"/.exec(line) ?? [];
        if (found !== undefined) resolve(found);
      })
      .on('close', () => reject(new Error(`the agent ended before it served:\n${lines.join('\n')}`)));
  });
  const status = await answer(`http://${await address}/pods`);
  const firstAnswerMs = performance.now() - startedAt;
  if (status !== 200) throw new Error(`GET /pods answered ${status}`);
  return {
    pid: child.pid ?? 0,
    stateDir,
    firstAnswerMs,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
};
