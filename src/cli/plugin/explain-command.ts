import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET, outputOption } from './flags.ts';

export interface ExplainFlags extends ConnectionFlags {
  node?: string;
  output?: 'json' | 'yaml';
}

export const addExplainCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('explain')
    .argument('<daemonset>', DAEMON_SET)
    .description('say why nodes are not updated, and what would change it')
    .option('--node <name>', 'this node alone')
    .addOption(outputOption('json', 'yaml'));
  addConnectionFlags(command).action(async (name: string, flags: ExplainFlags) => {
    const { showExplanation } = await import('./explain.ts');
    await showExplanation(name, flags, io);
  });
};
