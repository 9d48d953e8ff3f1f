import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

const script = path.join(import.meta.dirname, '..', '..', '..', 'bin', 'edgeset.ts');

export interface Edgeset {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Lines of the log, which is JSON unless on a terminal. */
  log(): Record<string, unknown>[];
  /** Resolves with the exit code, or the signal that ended the process. */
  readonly ended: Promise<number | string>;
}

/** Runs `edgeset` as a process. The test must kill it at its end. */
export const startEdgeset = (args: readonly string[], environment: Record<string, string> = {}): Edgeset => {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, HOME: '/nonexistent', ...environment };
  const child = spawn(process.execPath, [script, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  return {
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    log: () =>
      stderr
        .split('\n')
        .filter((line) => line.startsWith('{') && line.endsWith('}'))
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    ended: new Promise((resolve) => child.once('close', (code, signal) => resolve(code ?? signal ?? ''))),
  };
};
