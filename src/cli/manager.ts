import type { ManagerFlags } from '../manager/index.ts';
import { addCrdsCommand } from './crds.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import { addEndpointOptions, addLeaderElectionOptions, addLogOptions } from './process-options.ts';
import { type AddCommand, runProgram } from './program.ts';
import { addReachCommand } from './reach.ts';
import { examples } from './usage.ts';
import { version } from './version.ts';

export const addManagerCommand: AddCommand = (program, { io, exit }) => {
  const command = program
    .command('manager')
    .description('run the controllers until SIGTERM or SIGINT')
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', 'kubeconfig context (default: the current context)')
    .option('--controllers <names>', 'controllers to run, comma-separated (default: native,advanced)')
    .option('--namespaces <names>', 'namespaces to serve, comma-separated (default: all)')
    .option(
      '--predownload [boolean]',
      'pull images to nodes before their update, even without the annotation (default: false)',
    )
    .option(
      '--first-wave <nodes>',
      'nodes, or share of the online ones, that try a revision first, 100% for all (default: the failure threshold)',
    )
    .option(
      '--check-openkruise-lease [boolean]',
      "hold Advanced DaemonSets while OpenKruise's manager has its Lease (default: true)",
    );
  addLeaderElectionOptions(command, 'edgeset-manager');
  addEndpointOptions(command)
    .option('--kube-api-qps <number>', 'requests per second to the API server, 0 for no limit (default: 0)')
    .option('--kube-api-burst <number>', 'burst of requests with --kube-api-qps (default: 200)')
    .option(
      '--notifications-config <file>',
      'tell receivers outside of the cluster about rollouts, as this file says (default: nobody)',
    )
    .option(
      '--prometheus-address <url>',
      'Prometheus that checks of rollout plans ask, if they name none (default: none)',
    )
    .option(
      '--allowed-check-addresses <urls>',
      'addresses that checks of plans in namespaces may name, comma-separated, with the paths below (default: none)',
    );
  addLogOptions(command)
    .addHelpText(
      'after',
      examples(
        ['manager --kubeconfig ~/.kube/config --leader-elect=false', 'Outside of the cluster'],
        ['manager --controllers native --namespaces shop', 'Native DaemonSets of one namespace'],
      ),
    )
    .action(async (flags: ManagerFlags) => {
      const { runManagerProcess } = await import('../manager/index.ts');
      exit(await runManagerProcess(flags, { ...io, version, process }));
    });
};

/**
 * The command line of the manager's image: `edgeset manager ...`, `edgeset reach ...`, and `edgeset crds`, for the CRDs that the manager
 * needs.
 */
export const managerMain = (args: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  runProgram(args, {
    name: 'edgeset',
    io,
    build(program, context) {
      addManagerCommand(program, context);
      addReachCommand(program, context);
      addCrdsCommand(program, context);
    },
  });
