import { type Clock, createLogger, type Logger } from '../runtime/index.ts';
import type { LogOptions } from './flags.ts';

/** The log of a process: lines on its stderr. */
export const createProcessLogger = (
  { logLevel, logFormat }: LogOptions,
  host: { stderr: (text: string) => void },
  clock: Clock,
): Logger =>
  createLogger({
    write: (line) => host.stderr(`${line}\n`),
    now: () => clock.now(),
    level: logLevel,
    format: logFormat,
  });
