import type { AgentFlags } from '../agent/index.ts';
import type { AddCommand } from './command.ts';
import { version } from './version.ts';

const collect = (value: string, former: readonly string[] = []): readonly string[] => [...former, value];

export const addAgentCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('agent')
    .description('run the agent of one edge node until SIGTERM or SIGINT')
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', "context of the kubeconfig (default: the kubeconfig's current one)")
    .option('--node-name <name>', "this node's name in the cluster (default: NODE_NAME)")
    .option('--listen <address>', 'address of the API and the page; 0 for none (default: 127.0.0.1:10267)')
    .option('--unix-socket <path>', 'serve the API on this Unix socket as well')
    .option('--state-dir <folder>', 'where decisions and the cache are kept (default: /var/lib/edgeset)')
    .option('--namespaces <names>', 'namespaces to serve, with commas between them (default: all)')
    .option('--allow-user <user>', 'name or uid of a local user that may call; repeatable (default: root)', collect)
    .option('--token-file <file>', 'bearer tokens that may call, NAME:TOKEN a line')
    .option('--tls-cert-file <file>', 'certificate to serve with')
    .option('--tls-private-key-file <file>', 'its key')
    .option('--client-ca-file <file>', 'authority whose client certificates may call')
    .option('--allowed-host <host>', 'further NAME or NAME:PORT by which the agent is called; repeatable', collect)
    .option('--cri-socket <path>', "the container runtime's socket, to pull images (default: the manager's pods pull)")
    .option('--safe-check <check>', 'executable or URL that says whether the device may be disturbed')
    .option('--time-zone <name>', "time zone of the owner's times, such as Europe/Berlin (default: the machine's)")
    .option('--metrics-bind-address <address>', 'address of /metrics; :PORT for all interfaces (default: 0, none)')
    .option('--health-probe-bind-address <address>', 'address of /healthz and /readyz, likewise (default: 0, none)')
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or text (default: text on a terminal, else json)')
    .action(async (flags: AgentFlags) => {
      const { runAgentProcess } = await import('../agent/index.ts');
      exit(await runAgentProcess(flags, { ...io, version, process }));
    });
};
