import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET, outputOption, revisionOption } from './flags.ts';

export interface HistoryFlags extends ConnectionFlags {
  revision?: number;
  output?: 'wide' | 'json' | 'yaml' | 'name';
}

export const addHistoryCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('history')
    .argument('<daemonset>', `${DAEMON_SET}; also one that did not opt in`)
    .description('list the revisions that are kept to go back to')
    .addOption(revisionOption('--revision', 'show the template of this one, and what differs from the present one'))
    .addOption(outputOption('wide', 'json', 'yaml', 'name'));
  addConnectionFlags(command).action(async (name: string, flags: HistoryFlags) => {
    const { showHistory } = await import('./history.ts');
    await showHistory(name, flags, io);
  });
};
