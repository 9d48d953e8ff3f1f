import type { AddCommand } from './command.ts';
import type { DemoFlags } from './demo/options.ts';

export const addDemoCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('demo')
    .argument('[parts...]', 'auto (three workers, two of them cut off), fleet (a bad version is stopped); default: all')
    .description('see it work on a cluster inside this process, every step checked')
    .option('--keep', 'leave the cluster up for your own kubectl, until Ctrl-C')
    .option('--fleet <nodes>', 'nodes of the fleet (default: 40)')
    .option('--speed <factor>', "how much faster than ours the cluster's time runs (default: 10)")
    .option('--seed <number>', 'what delays, names and the choice of nodes follow from (default: 1)')
    .option('--picture <file>', 'write the picture of the fleet as SVG')
    .action(async (parts: string[], flags: DemoFlags) => {
      const { demo } = await import('./demo/demo.ts');
      exit(await demo(parts, flags, io));
    });
};
