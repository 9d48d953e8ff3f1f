import type { ManagerFlags } from '../manager/index.ts';
import { addCrdsCommand } from './crds.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import { type AddCommand, runProgram } from './program.ts';
import { examples } from './usage.ts';
import { version } from './version.ts';

export const addManagerCommand: AddCommand = (program, { io, exit }) => {
  program
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
    )
    .option('--leader-elect [boolean]', 'use leader election, so that replicas can stand by (default: true)')
    .option(
      '--leader-election-namespace <name>',
      "namespace of the Lease (default: the pod's namespace, else edgeset-system)",
    )
    .option('--leader-election-id <name>', 'name of the Lease (default: edgeset-manager)')
    .option(
      '--leader-election-lease-duration <duration>',
      'how long the Lease is valid after its last renewal (default: 15s)',
    )
    .option(
      '--leader-election-renew-deadline <duration>',
      'how long the leader retries a renewal before it steps down (default: 10s)',
    )
    .option(
      '--leader-election-retry-period <duration>',
      'time between attempts to acquire or renew the Lease (default: 2s)',
    )
    .option(
      '--metrics-bind-address <address>',
      'address of /metrics; :PORT for all interfaces, 0 disables it (default: 127.0.0.1:8080)',
    )
    .option(
      '--health-probe-bind-address <address>',
      'address of /healthz and /readyz; :PORT for all interfaces, 0 disables it (default: 127.0.0.1:8081)',
    )
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
    )
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or text (default: text on a terminal, else json)')
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

/** The command line of the manager's image: `edgeset manager ...` and `edgeset crds`, for the CRDs that it needs. */
export const managerMain = (args: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  runProgram(args, {
    name: 'edgeset',
    io,
    build(program, context) {
      addManagerCommand(program, context);
      addCrdsCommand(program, context);
    },
  });
