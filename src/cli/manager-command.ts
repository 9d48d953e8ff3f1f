import type { ManagerFlags } from '../manager/index.ts';
import type { AddCommand } from './command.ts';
import { version } from './version.ts';

export const addManagerCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('manager')
    .description('run the controllers until SIGTERM or SIGINT')
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', "context of the kubeconfig (default: the kubeconfig's current one)")
    .option('--controllers <names>', 'controllers to run, with commas between them (default: native,advanced)')
    .option('--namespaces <names>', 'namespaces to serve, with commas between them (default: all)')
    .option(
      '--predownload [boolean]',
      'pull images before updates reach their nodes, also where no annotation asks for it (default: false)',
    )
    .option('--leader-elect [boolean]', 'act only while holding a Lease, so that replicas can stand by (default: true)')
    .option(
      '--leader-election-namespace <name>',
      'namespace of the Lease (default: that of the pod, else edgeset-system)',
    )
    .option('--leader-election-id <name>', 'name of the Lease (default: edgeset-manager)')
    .option('--leader-election-lease-duration <duration>', 'how long a Lease outlives its last renewal (default: 15s)')
    .option(
      '--leader-election-renew-deadline <duration>',
      'how long renewing is tried before leading ends (default: 10s)',
    )
    .option('--leader-election-retry-period <duration>', 'between tries to acquire or renew (default: 2s)')
    .option(
      '--metrics-bind-address <address>',
      'address of /metrics; :PORT for all interfaces, 0 for none (default: 127.0.0.1:8080)',
    )
    .option(
      '--health-probe-bind-address <address>',
      'address of /healthz and /readyz, likewise (default: 127.0.0.1:8081)',
    )
    .option('--kube-api-qps <number>', 'requests a second to the API server, 0 for no limit (default: 100)')
    .option('--kube-api-burst <number>', 'requests at once above that (default: 200)')
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or text (default: text on a terminal, else json)')
    .action(async (flags: ManagerFlags) => {
      const { runManagerProcess } = await import('../manager/index.ts');
      exit(await runManagerProcess(flags, { ...io, version, process }));
    });
};
