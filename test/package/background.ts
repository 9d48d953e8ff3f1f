import { spawn } from 'node:child_process';
import { eventually, HopelessError } from '../support/index.ts';
import type { Machine } from './installation.ts';

export interface Background {
  readonly pid: number;
  output(): string;
  /** Waits until it has printed this. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ends it with SIGTERM and resolves with its exit code, or the signal that ended it. */
  stop(): Promise<number | NodeJS.Signals | null>;
}

/** Starts a program of the machine. The test must stop it. */
export const startBackground = ({ folder, environment }: Machine, command: string): Background => {
  // The shell replaces itself with the program, so that signals reach it.
  const child = spawn('bash', ['-c', `exec ${command}`], {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: npx passes no signal on, but a terminal sends Ctrl-C to all programs of the group.
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | NodeJS.Signals | null>((resolve) =>
    child.once('close', (code, signal) => resolve(code ?? signal)),
  );
  return {
    pid: child.pid ?? 0,
    output: () => output,
    until: (pattern) =>
      eventually(
        `${command} prints ${pattern}`,
        () => {
          const found = pattern.exec(output);
          if (!found && child.exitCode !== null) throw new HopelessError(`${command} ended:\n${output}`);
          return found;
        },
        { everyMs: 20 },
      ),
    async stop() {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid);
      return ended;
    },
  };
};
