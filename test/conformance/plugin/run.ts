import assert from 'node:assert/strict';
import { main } from '../../../src/cli/index.ts';
import type { Case } from '../kit/index.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `kubectl edgeset ...` within this process, in the case's namespace, as its cluster's administrator. */
export const edgeset = async (c: Case, ...args: string[]): Promise<Ran> => {
  let stdout = '';
  let stderr = '';
  const [command = '', ...rest] = args;
  const where = rest.includes('--kubeconfig') ? [] : ['--kubeconfig', c.cluster.kubeconfig];
  const io = {
    stdout: (text: string) => void (stdout += text),
    stderr: (text: string) => void (stderr += text),
    terminal: false,
    environment: {},
    random: Math.random,
  };
  const code = await main([command, ...where, '-n', c.namespace, ...rest], io, 'kubectl edgeset');
  return { code, stdout, stderr };
};

/** What it said, on stdout and on stderr, having ended well. */
export const succeeds = ({ code, stdout, stderr }: Ran): [string, string] => {
  assert.equal(code, 0, stderr);
  return [stdout, stderr];
};

/** It ended with 1, and said so on stderr alone. */
export const refuses = ({ code, stdout, stderr }: Ran, words: RegExp): void => {
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.match(stderr, words);
};

export interface Listed {
  number: number;
  hash: string;
  images: string[];
  changeCause?: string;
  pods: number;
  present: boolean;
  lastComplete: boolean;
  rolledBack: boolean;
}

export const history = async (c: Case): Promise<Listed[]> => {
  const { stdout } = await edgeset(c, 'history', 'app', '-o', 'json');
  return (JSON.parse(stdout) as { revisions: Listed[] }).revisions;
};

/** Resolves with what is said on stdout as soon as it matches. */
export const untilSaid = async (c: Case, said: RegExp, ...args: string[]): Promise<string> => {
  let last = '';
  try {
    return await c.until(`"${args.join(' ')}" says ${said}`, async () => {
      const { stdout, stderr } = await edgeset(c, ...args);
      last = stdout || stderr;
      return said.test(stdout) ? stdout : undefined;
    });
  } catch (error) {
    throw new Error(`it said:\n${last}`, { cause: error });
  }
};

/** Resolves when `explain --node` files the node under `phase (cause)` and gives a sentence that matches. */
export const untilExplained = async (c: Case, node: string, where: string, sentence: RegExp): Promise<string> => {
  const filed = new RegExp(`^${node}: ${where.replace(/[()]/g, String.raw`\$&`)}\\n.*${sentence.source}`, 'm');
  return untilSaid(c, filed, 'explain', 'app', '--node', node);
};
