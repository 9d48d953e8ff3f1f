import type { ReachFlags } from '../reach/index.ts';
import { addEndpointOptions, addLeaderElectionOptions, addLogOptions } from './process-options.ts';
import type { AddCommand } from './program.ts';
import { examples } from './usage.ts';
import { version } from './version.ts';

export const addReachCommand: AddCommand = (program, { io, exit }) => {
  const command = program
    .command('reach')
    .description("keep the label edgeset.io/reach of a hub's clusters until SIGTERM or SIGINT")
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', 'kubeconfig context (default: the current context)')
    .option('--settle-time <duration>', 'how long a cluster that is back must have been available (default: 10s)')
    .option(
      '--suspect-window <duration>',
      'a cluster that goes away this soon after an update is a suspect (default: 5m)',
    )
    .option(
      '--fleet-checkin-interval <duration>',
      'how often the agents of Rancher Fleet check in, its agentCheckinInterval (default: 15m)',
    )
    .option(
      '--fleet-offline-after <duration>',
      'a cluster of Rancher Fleet is away after this time without a check-in (default: three intervals)',
    );
  addLeaderElectionOptions(command, 'edgeset-reach');
  addEndpointOptions(command);
  addLogOptions(command)
    .addHelpText('after', examples(['reach --kubeconfig ~/.kube/hub --leader-elect=false', 'Outside of the hub']))
    .action(async (flags: ReachFlags) => {
      const { runReachProcess } = await import('../reach/index.ts');
      exit(await runReachProcess(flags, { ...io, version, process }));
    });
};
