import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface StartedDashboard {
  pid: number;
  /** Without the key. */
  origin: string;
  /** Path and query that enter it. */
  entry: string;
  /** As with Ctrl-C; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Runs `dashboard` of the program with these arguments, and flags of Node; resolves when it serves. */
export const startDashboard = async (
  program: string,
  args: readonly string[],
  flags: readonly string[] = [],
): Promise<StartedDashboard> => {
  const child = spawn(process.execPath, [...flags, program, 'dashboard', '--no-browser', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const first = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([
    first,
    exit.then(([code]): never => {
      throw new Error(`the dashboard ended with ${code}`);
    }),
  ]);
  const { origin, search } = new URL(line);
  assert.ok(child.pid);
  return {
    pid: child.pid,
    origin,
    entry: `/${search}`,
    async stop() {
      child.kill('SIGINT');
      return (await exit)[0];
    },
  };
};
