import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface StartedDashboard {
  pid: number;
  /** Without a code. */
  origin: string;
  /** Path and fragment of the address that was printed last. It opens one page. */
  entry(): Promise<string>;
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
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  let next = lines.next();
  const { value } = await Promise.race([
    next,
    exit.then(([code]): never => {
      throw new Error(`the dashboard ended with ${code}`);
    }),
  ]);
  const { origin } = new URL(value ?? '');
  assert.ok(child.pid);
  return {
    pid: child.pid,
    origin,
    async entry() {
      const line = await next;
      next = lines.next();
      return `/${new URL(line.value ?? '').hash}`;
    },
    async stop() {
      child.kill('SIGINT');
      return (await exit)[0];
    },
  };
};
