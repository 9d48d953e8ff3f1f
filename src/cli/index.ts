export { type ExitCode, type ProcessIo, processIo } from './io.ts';
export { complete, main, type ProgramName } from './main.ts';
