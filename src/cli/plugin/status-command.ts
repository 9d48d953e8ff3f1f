import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET, outputOption } from './flags.ts';

export interface StatusFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  selector?: string;
  output?: 'wide' | 'json' | 'yaml' | 'name';
  watch?: boolean;
}

export const addStatusCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('status')
    .argument('[daemonset]', `${DAEMON_SET}; default: all of the namespace`)
    .description('show how far rollouts are')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <selector>', 'label selector of DaemonRollouts')
    .addOption(outputOption('wide', 'json', 'yaml', 'name'))
    .option('-w, --watch', 'go on with every change until interrupted');
  addConnectionFlags(command).action(async (name: string | undefined, flags: StatusFlags) => {
    const { showStatus } = await import('./status.ts');
    await showStatus(name, flags, io);
  });
};
