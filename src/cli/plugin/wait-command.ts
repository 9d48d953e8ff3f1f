import type { AddCommand } from '../command.ts';
import { addConnectionFlags, type ConnectionFlags, DAEMON_SET } from './flags.ts';

export interface WaitFlags extends ConnectionFlags {
  timeout: string;
}

export const addWaitCommand: AddCommand = (program, { io, exit }) => {
  const command = program
    .command('wait')
    .argument('<daemonset>', DAEMON_SET)
    .description('wait until the rollout of the present template is complete; ends with 3 when it is stalled')
    .option('--timeout <duration>', 'how long, such as 90s or 10m', '10m');
  addConnectionFlags(command).action(async (name: string, flags: WaitFlags) => {
    const { waitForRollout } = await import('./wait.ts');
    exit(await waitForRollout(name, flags, io));
  });
};
