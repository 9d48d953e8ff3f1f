import type { AgentFlags } from '../agent/index.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import { addPrepareStateCommand } from './prepare-state.ts';
import { type AddCommand, runProgram } from './program.ts';
import { examples } from './usage.ts';
import { version } from './version.ts';

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

export const addAgentCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('agent')
    .description('run the agent of one edge node until SIGTERM or SIGINT')
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', 'kubeconfig context (default: the current context)')
    .option('--node-name <name>', "this node's name in the cluster (default: NODE_NAME)")
    .option('--listen <address>', 'address of the API and the web page; 0 disables them (default: 127.0.0.1:10267)')
    .option('--unix-socket <path>', 'also serve the API on this Unix socket')
    .option('--state-dir <folder>', 'directory for decisions and the cache (default: /var/lib/edgeset)')
    .option('--namespaces <names>', 'namespaces to serve, comma-separated (default: all)')
    .option(
      '--allow-user <user>',
      'name or uid of a local user that may call the API; repeatable (default: root)',
      collect,
    )
    .option('--token-file <file>', 'bearer tokens that may call the API, one NAME:TOKEN per line')
    .option('--tls-cert-file <file>', 'TLS certificate of the server')
    .option('--tls-private-key-file <file>', 'private key of the certificate')
    .option('--client-ca-file <file>', 'certificate authority of the client certificates that may call the API')
    .option(
      '--allowed-host <host>',
      'additional NAME or NAME:PORT that clients reach the agent under; repeatable',
      collect,
    )
    .option(
      '--read-node',
      'show the name and the administrator that the Node names, and how large images are; needs the right to read Nodes',
    )
    .option('--safe-check <check>', 'executable or URL that reports whether the device can be updated now')
    .option('--time-zone <name>', "time zone of the owner's times, such as Europe/Berlin (default: the system's)")
    .option('--metrics-bind-address <address>', 'address of /metrics; :PORT for all interfaces (default: 0, disabled)')
    .option(
      '--health-probe-bind-address <address>',
      'address of /healthz and /readyz; :PORT for all interfaces (default: 0, disabled)',
    )
    .option('--log-level <level>', 'debug, info, warn or error (default: info)')
    .option('--log-format <format>', 'json or text (default: text on a terminal, else json)')
    .addHelpText(
      'after',
      examples(
        ['agent --kubeconfig /etc/edgeset/kubeconfig --node-name shop-07', 'Serves 127.0.0.1:10267'],
        ['agent --node-name shop-07 --safe-check /usr/bin/is-parked', 'Updates only when this exits with 0'],
      ),
    )
    .action(async (flags: AgentFlags) => {
      const { runAgentProcess } = await import('../agent/index.ts');
      exit(await runAgentProcess(flags, { ...io, version, process }));
    });
};

const NAME = 'edgeset-agent';
const PROGRAM_ARGUMENTS: ReadonlySet<string> = new Set(['agent', 'prepare-state', 'help', '-V', '--version']);

/**
 * The command line of the agent's own bundle for devices: `edgeset-agent [agent] --kubeconfig F ...`, and
 * `edgeset-agent prepare-state`. Resolves with the exit code; never rejects.
 */
export const agentMain = (args: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  // A checkout has it as a command of `edgeset`; on a device, the word `agent` is optional.
  runProgram(PROGRAM_ARGUMENTS.has(args[0] ?? '') ? args : ['agent', ...args], {
    name: NAME,
    io,
    build(program, context) {
      program.configureHelp({
        commandUsage: (command) => `${args[0] === 'agent' ? 'edgeset agent' : NAME} ${command.usage()}`,
      });
      addAgentCommand(program, context);
      addPrepareStateCommand(program, context);
    },
  });
