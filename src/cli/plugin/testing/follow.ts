import type { ProcessIo } from '../../io.ts';
import type { Ran } from '../../testing/index.ts';

/** Runs a command that follows the cluster while `during` runs; then interrupts it. */
export const createFollow =
  (run: (args: readonly string[], io: Partial<ProcessIo>) => Promise<Ran>, ...command: string[]) =>
  async (
    args: readonly string[],
    io: Partial<ProcessIo>,
    during: (output: { stdout: string; stderr: string }) => Promise<unknown>,
  ): Promise<Ran> => {
    const output = { stdout: '', stderr: '' };
    const running = run([...command, ...args], {
      stdout: (text) => (output.stdout += text),
      stderr: (text) => (output.stderr += text),
      ...io,
    });
    try {
      await during(output);
    } finally {
      // As Ctrl-C does.
      process.emit('SIGINT');
    }
    return { code: (await running).code, ...output };
  };
