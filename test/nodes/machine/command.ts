import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Resolves with what `program` prints; rejects with its own words when it fails. */
export const command = async (program: string, ...args: string[]): Promise<string> => {
  try {
    return (await run(program, args, { maxBuffer: 1 << 26 })).stdout;
  } catch (cause) {
    const words = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause);
    throw new Error(`${program} ${args.join(' ')}: ${words}`, { cause });
  }
};

/** The first child of a process; 0 if it has none. */
export const childOf = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
