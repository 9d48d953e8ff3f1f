export { type ExitCode, exitCodes } from './exit-code.ts';
export { type Io, processIo } from './io.ts';
export { main, type ProgramName } from './main.ts';
