import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags } from './connect.ts';

export interface ControlFlags extends ConnectionFlags {
  dryRun?: boolean;
}

export const addPauseCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('pause')
    .argument('<daemonset>', 'ds/NAME')
    .description('begin no further act')
    .option('--dry-run', 'have the API server check it and change nothing');
  addConnectionFlags(command).action(async (name: string, flags: ControlFlags) => {
    const { pause } = await import('./control.ts');
    await pause(name, flags, io);
  });
};

export const addResumeCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('resume')
    .argument('<daemonset>', 'ds/NAME')
    .description('end a pause; after a halt, forgive the failures known so far and go on')
    .option('--dry-run', 'have the API server check it and change nothing');
  addConnectionFlags(command).action(async (name: string, flags: ControlFlags) => {
    const { resume } = await import('./control.ts');
    await resume(name, flags, io);
  });
};
