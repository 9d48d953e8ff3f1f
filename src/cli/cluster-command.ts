import type { ClusterFlags } from './cluster/options.ts';
import type { AddCommand } from './command.ts';

export const addClusterCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('cluster')
    .description('run a cluster with simulated nodes inside this process, for kubectl, until SIGTERM or SIGINT')
    .requiredOption('--kubeconfig-out <file>', 'where to write the kubeconfig; it is removed at the end')
    .option('--nodes <number>', 'simulated nodes, node-1 and so on (default: 3)')
    .option('--port <number>', 'port on 127.0.0.1 (default: any that is free)')
    .action(async (flags: ClusterFlags) => {
      const { runCluster } = await import('./cluster/run.ts');
      exit(await runCluster(flags, io, process));
    });
};
