import type { ClusterFlags } from './cluster/run.ts';
import type { DemoFlags } from './demo/options.ts';
import type { AddCommand } from './program.ts';
import { examples } from './usage.ts';

export const addDemoCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('demo')
    .argument('[parts...]', 'auto, ota, advanced, rings, fleet; default: all')
    .description('run the demo on a cluster inside this process; every step is checked')
    .option('--keep', 'keep the cluster running for kubectl until Ctrl-C')
    .option('--dashboard', 'show the cluster in a browser while the demo runs, and until Ctrl-C')
    .option('--no-browser', 'with --dashboard: only print the address')
    .option('--fleet <nodes>', 'number of nodes in the fleet (default: 40)')
    .option('--speed <factor>', "speed of the cluster's clock (default: 10 times real time)")
    .option('--seed <number>', 'seed for delays, names and the choice of nodes (default: 1)')
    .option('--picture <file>', 'write a picture of the fleet as SVG')
    .addHelpText(
      'after',
      examples(
        ['demo auto', 'One part'],
        ['demo --dashboard', 'On a page, too'],
        ['demo fleet --fleet 200 --keep', 'A larger fleet, kept for kubectl'],
      ),
    )
    .action(async (parts: string[], flags: DemoFlags) => {
      const { demo } = await import('./demo/demo.ts');
      exit(await demo(parts, flags, io));
    });
};

export const addClusterCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('cluster')
    .description('run a cluster with simulated nodes inside this process, for kubectl, until SIGTERM or SIGINT')
    .requiredOption('--kubeconfig-out <file>', 'kubeconfig to write; it is removed on exit')
    .option('--nodes <number>', 'number of simulated nodes, named node-1 and so on (default: 3)')
    .option('--port <number>', 'port on 127.0.0.1 (default: any free port)')
    .addHelpText(
      'after',
      examples(['cluster --nodes 5 --kubeconfig-out /tmp/edgeset.yaml', 'Then: export KUBECONFIG=/tmp/edgeset.yaml']),
    )
    .action(async (flags: ClusterFlags) => {
      const { runCluster } = await import('./cluster/run.ts');
      exit(await runCluster(flags, io, process));
    });
};
