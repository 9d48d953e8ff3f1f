import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { transform } from 'esbuild';
import { AGENT_FLAGS } from '../../bin/flags.ts';

export interface AgentProcess {
  pid: number;
  /** From the start of the process to the whole of the first answer, ms. */
  firstAnswerMs: number;
  stop(): Promise<void>;
}

export interface BundledAgent extends AgentProcess {
  stateDir: string;
}

interface Place {
  kubeconfig: string;
  node: string;
  dir: string;
}

const answer = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    }).on('error', reject);
  });

/** Starts Node as a device does, and asks for pods as soon as the program says where it listens. */
const start = async (...args: readonly string[]): Promise<AgentProcess> => {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...AGENT_FLAGS, ...args], {
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
    firstAnswerMs,
    async stop() {
      child.kill('SIGTERM');
      await exit;
    },
  };
};

export const startBundledAgent = async (file: string, { kubeconfig, node, dir }: Place): Promise<BundledAgent> => {
  const stateDir = path.join(dir, 'state');
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    `--node-name=${node}`,
    '--listen=127.0.0.1:0',
    `--state-dir=${stateDir}`,
    `--allow-user=${process.getuid?.() ?? 0}`,
  ];
  return { ...(await start(file, ...flags)), stateDir };
};

/** Starts what no agent on Node can be smaller than. */
export const startBareAgent = async ({ kubeconfig, node, dir }: Place): Promise<AgentProcess> => {
  const file = path.join(dir, 'bare-agent.mjs');
  const source = readFileSync(path.join(import.meta.dirname, 'bare-agent.ts'), 'utf8');
  // Node would keep its type stripper in memory.
  writeFileSync(file, (await transform(source, { loader: 'ts' })).code);
  return start(file, kubeconfig, node);
};
