import type { Command } from 'commander';
import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET, type DryRun, dryRunOption } from './flags.ts';

export interface ControlFlags extends ConnectionFlags {
  dryRun?: DryRun;
}

const addControl = (program: Command, name: string, description: string): Command =>
  addConnectionFlags(
    program
      .command(name)
      .argument('<daemonset>', DAEMON_SET)
      .description(description)
      .addOption(dryRunOption())
      .addHelpText(
        'after',
        `
Writes annotation edgeset.io/paused of a native DaemonSet, field spec.updateStrategy.rollingUpdate.paused of an Advanced
one${name === 'resume' ? '; after a halt also annotation edgeset.io/resume' : ''}.`,
      ),
  );

export const addPauseCommand: AddCommand = (program, { io }) => {
  addControl(program, 'pause', 'begin no further act; those under way end').action(
    async (name: string, flags: ControlFlags) => {
      const { pause } = await import('./control.ts');
      await pause(name, flags, io);
    },
  );
};

export const addResumeCommand: AddCommand = (program, { io }) => {
  addControl(program, 'resume', 'end a pause; after a halt, forgive the failures known so far and go on').action(
    async (name: string, flags: ControlFlags) => {
      const { resume } = await import('./control.ts');
      await resume(name, flags, io);
    },
  );
};
