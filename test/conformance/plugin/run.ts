import assert from 'node:assert/strict';
import type { Ran } from '../index.ts';
import type { Case } from '../kit/index.ts';

/** Runs `kubectl edgeset ...` in the case's namespace, as the administrator of its cluster. */
export const edgeset = (c: Case, ...args: string[]): Promise<Ran> => {
  const [command = '', ...rest] = args;
  const where = rest.includes('--kubeconfig') ? [] : ['--kubeconfig', c.cluster.kubeconfig];
  return c.cluster.plugin.run([command, ...where, '-n', c.namespace, ...rest]);
};

/** Checks that the command succeeded. Returns stdout and stderr. */
export const succeeds = ({ code, stdout, stderr }: Ran): [string, string] => {
  assert.equal(code, 0, stderr);
  return [stdout, stderr];
};

/** Checks that the command exited with 1 and an error on stderr only. */
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

/** Runs the command until its stdout matches. Resolves with stdout. */
export const untilSaid = async (c: Case, said: RegExp, ...args: string[]): Promise<string> => {
  let last = '';
  try {
    return await c.until(`"${args.join(' ')}" says ${said}`, async () => {
      const { stdout, stderr } = await edgeset(c, ...args);
      last = stdout || stderr;
      return said.test(stdout) ? stdout : undefined;
    });
  } catch (error) {
    throw new Error(`the last output was:\n${last}`, { cause: error });
  }
};

/** Resolves when `explain --node` reports the node's `phase (cause)` with a sentence that matches. */
export const untilExplained = async (c: Case, node: string, where: string, sentence: RegExp): Promise<string> => {
  const filed = new RegExp(`^${node}: ${where.replace(/[()]/g, String.raw`\$&`)}\\n.*${sentence.source}`, 'm');
  return untilSaid(c, filed, 'explain', 'app', '--node', node);
};
