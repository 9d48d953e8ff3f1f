import type { Command } from 'commander';
import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags } from './connect.ts';

export interface StatusFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  selector?: string;
  output?: string;
  watch?: boolean;
}

export const addStatusCommand: AddCommand = (program, { io }) => {
  const command: Command = program
    .command('status')
    .argument('[daemonset]', 'ds/NAME; default: all of the namespace')
    .description('show how far rollouts are')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <selector>', 'label selector of DaemonRollouts')
    .option('-o, --output <format>', 'wide, json, yaml or name')
    .option('-w, --watch', 'show every change until interrupted');
  addConnectionFlags(command).action(async (name: string | undefined, flags: StatusFlags) => {
    const { showStatus } = await import('./status.ts');
    await showStatus(name, flags, io);
  });
};
