import type { ProcessIo } from '../io.ts';
import { main, type ProgramName } from '../main.ts';

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process. `io` overrides parts of its process. */
export const run = async (args: readonly string[], io: Partial<ProcessIo> = {}, name?: ProgramName): Promise<Ran> => {
  let stdout = '';
  let stderr = '';
  const code = await main(
    args,
    {
      stdout: (text) => void (stdout += text),
      stderr: (text) => void (stderr += text),
      terminal: false,
      environment: {},
      random: () => 0.5,
      ...io,
    },
    name,
  );
  return { code, stdout, stderr };
};
