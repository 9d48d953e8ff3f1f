export { type ExitCode, type Io, processIo } from './io.ts';
export { main, type ProgramName } from './main.ts';
