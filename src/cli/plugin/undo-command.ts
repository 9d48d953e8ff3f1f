import type { AddCommand } from '../command.ts';
import {
  addConnectionFlags,
  type ConnectionFlags,
  DAEMON_SET,
  type DryRun,
  dryRunOption,
  outputOption,
  revisionOption,
} from './flags.ts';

export interface UndoFlags extends ConnectionFlags {
  toRevision?: number;
  dryRun?: DryRun;
  output?: 'json' | 'yaml' | 'name';
}

export const addUndoCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('undo')
    .argument('<daemonset>', `${DAEMON_SET}; also one that did not opt in`)
    .description('put the template of an earlier revision back')
    .addOption(revisionOption('--to-revision', 'this one of the history (default: the one before the present)'))
    .addOption(dryRunOption())
    .addOption(outputOption('json', 'yaml', 'name'))
    .addHelpText('after', '\nWrites spec.template, and annotation edgeset.io/rolled-back-from where a version failed.');
  addConnectionFlags(command).action(async (name: string, flags: UndoFlags) => {
    const { undo } = await import('./undo.ts');
    await undo(name, flags, io);
  });
};
