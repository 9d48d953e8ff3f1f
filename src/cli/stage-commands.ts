import type { Command } from 'commander';
import { addConnectionFlags, addDaemonSetArguments, dryRunOption, ofDaemonSet, outputOption } from './flags.ts';
import type { AddCommand } from './program.ts';
import { type Example, examples } from './usage.ts';

// The commands for rollouts that follow a rollout plan.

const addStageDecision = (
  program: Command,
  name: 'approve' | 'promote',
  texts: { description: string; stage: string; help: string; examples: readonly Example[] },
): Command =>
  addConnectionFlags(
    addDaemonSetArguments(program.command(name))
      .description(texts.description)
      .option('--stage <name>', texts.stage)
      .option('--comment <text>', 'why, for those who read the RolloutApproval later')
      .addOption(dryRunOption())
      .addOption(outputOption('json', 'yaml', 'name'))
      .addHelpText('after', `\n${texts.help}`)
      .addHelpText('after', examples(...texts.examples)),
  );

export const addApproveCommand: AddCommand = (program, context) => {
  addStageDecision(program, 'approve', {
    description: 'approve a stage of the rollout plan, which waits for it',
    stage: 'stage to approve (default: the open one that awaits approval)',
    help: `Creates a RolloutApproval in your name. It counts for this revision and this stage alone.
You need the ClusterRole edgeset-approver in the namespace.`,
    examples: [
      ['approve ds/web', 'The stage that awaits it'],
      ['approve ds/web --stage canary --comment "checked in Lyon"', 'A stage by name, also in advance'],
    ],
  }).action(ofDaemonSet(context, async () => (await import('./plugin/write.ts')).approve));
};

export const addPromoteCommand: AddCommand = (program, context) => {
  addStageDecision(program, 'promote', {
    description: 'pass a stage of the rollout plan now: skip its coverage, soak and checks',
    stage: 'stage to promote (default: the open one)',
    help: `Creates a RolloutApproval with the decision Promote in your name. An approval that the plan requires is still
to be given. You need the ClusterRole edgeset-approver in the namespace.`,
    examples: [
      ['promote ds/web', 'The open stage'],
      ['promote ds/web --stage canary --dry-run=server', 'Only checked by the API server'],
    ],
  }).action(ofDaemonSet(context, async () => (await import('./plugin/write.ts')).promote));
};
