import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET, outputOption } from './flags.ts';

export interface PlanFlags extends ConnectionFlags {
  maxUnavailable?: string;
  partition?: string;
  nodeSelector?: string;
  unpaused?: boolean;
  output?: 'json' | 'yaml';
}

export const addPlanCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('plan')
    .argument('<daemonset>', DAEMON_SET)
    .description('show what would be done now, with this or another policy; nothing is written')
    .option(
      '--max-unavailable <value>',
      'decide with this budget, such as 3 or 10%; takes the place of a maxSurge, too',
    )
    .option('--partition <value>', 'decide with this partition, such as 3 or 50%')
    .option('--node-selector <selector>', 'decide with this selector of nodes, such as ring=first')
    .option('--unpaused', 'decide as if the rollout were not paused')
    .addOption(outputOption('json', 'yaml'));
  addConnectionFlags(command).action(async (name: string, flags: PlanFlags) => {
    const { showPlan } = await import('./plan.ts');
    await showPlan(name, flags, io);
  });
};
