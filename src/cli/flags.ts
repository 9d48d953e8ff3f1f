import { type Command, InvalidArgumentError, Option } from 'commander';
import type { DryRun } from '../commands/index.ts';
import { toLines } from '../text/index.ts';
import type { OutputFormat } from '../view/index.ts';
import type { Phase } from '../words/index.ts';
import { type ExitCode, exitCodes, type Io } from './io.ts';
import type { AddCommand, CommandContext } from './program.ts';

// Flags and arguments that several commands have.

const each = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

export const connectionOptions = (): Option[] => [
  new Option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)'),
  new Option('--context <name>', 'kubeconfig context (default: the current context)'),
  new Option('-n, --namespace <name>', 'namespace (default: the namespace of the context, else default)'),
  new Option('--cluster <name>', 'cluster of the kubeconfig, instead of that of the context'),
  new Option('--user <name>', 'user of the kubeconfig, instead of that of the context'),
  new Option('--as <user>', 'user to impersonate; system:serviceaccount:NAMESPACE:NAME for a service account'),
  new Option('--as-group <group>', 'group to impersonate; repeatable').argParser(each),
  new Option('--as-uid <uid>', 'UID to impersonate'),
  new Option('--token <token>', 'bearer token, instead of the credentials of the user'),
  new Option('--client-certificate <file>', 'client certificate, instead of the credentials of the user'),
  new Option('--client-key <file>', 'key of the client certificate'),
  new Option('-s, --server <url>', 'address of the API server'),
  new Option('--certificate-authority <file>', 'certificate authority of the API server'),
  new Option('--tls-server-name <name>', 'name in the certificate of the API server'),
  new Option('--insecure-skip-tls-verify', 'do not check the certificate of the API server'),
  new Option('--request-timeout <duration>', 'limit for each request, such as 10s; 0 for none (default: 30s)'),
];

export const addConnectionFlags = (command: Command): Command => {
  for (const option of connectionOptions()) command.addOption(option.hideHelp());
  return command.addHelpText('after', () => {
    const program = command.parent?.name() ?? '';
    return `\nUse "${program} options" for the flags that choose the cluster, the namespace and the user, such as -n.`;
  });
};

/** As `kubectl options`: what the help of each command leaves out. */
export const addOptionsCommand: AddCommand = (program, { io }) => {
  program
    .command('options', { hidden: true })
    .description('list the flags that choose the cluster and the user')
    .helpOption(false)
    .action(() => {
      const help = program.createHelp();
      const terms = connectionOptions().map(
        (option) => [help.optionTerm(option), help.optionDescription(option)] as const,
      );
      const width = Math.max(...terms.map(([term]) => term.length));
      io.stdout('The following flags can be given to any command, as in kubectl:\n\n');
      io.stdout(toLines(...terms.map(([term, description]) => `  ${term.padEnd(width)}  ${description}`)));
    });
};

/** Several contexts, comma-separated or in several flags. What chooses one cluster conflicts with it. */
export const contextsOption = (): Option =>
  new Option('--contexts <names>', 'several contexts of the kubeconfig, comma-separated; repeatable')
    .conflicts(['context', 'cluster', 'user', 'server', 'token', 'clientCertificate', 'clientKey'])
    .conflicts(['certificateAuthority', 'tlsServerName'])
    .argParser((text: string, previous: readonly string[] | undefined): readonly string[] => {
      const names = [...(previous ?? []), ...text.split(',')];
      if (names.includes('') || new Set(names).size < names.length)
        throw new InvalidArgumentError('Give the names of contexts of the kubeconfig, comma-separated, each once.');
      return names;
    });

export const outputOption = (...formats: OutputFormat[]): Option =>
  new Option('-o, --output <format>', 'output format').choices(formats);

const dryRuns = ['none', 'client', 'server'] as const satisfies readonly DryRun[];

/** As in kubectl, a bare --dry-run means `client`. */
export const dryRunOption = (): Option =>
  new Option('--dry-run [mode]', 'only print what would change; server: the API server also validates the change')
    .choices(dryRuns)
    .preset('client')
    .argParser((text: string): DryRun => {
      const mode = dryRuns.find((one) => one === text);
      // commander takes the word after a bare --dry-run as its value, which is most likely the name of the DaemonSet.
      if (!mode) throw new InvalidArgumentError('Give --dry-run=client or --dry-run=server, or put --dry-run last.');
      return mode;
    });

export const revisionOption = (flag: '--revision' | '--to-revision', description: string): Option =>
  new Option(`${flag} <number>`, description).argParser((text: string): number => {
    if (!/^[1-9]\d{0,14}$/.test(text))
      throw new InvalidArgumentError('Give the number of a revision, as listed by "history".');
    return Number(text);
  });

// Not imported as a value: help and completion must not wait for the decision core to load.
const everyPhase: Readonly<Record<Phase, true>> = {
  failed: true,
  broken: true,
  missing: true,
  updating: true,
  settling: true,
  offline: true,
  held: true,
  outdated: true,
  updated: true,
};
const phases = Object.keys(everyPhase) as readonly Phase[];

/** Phases, comma-separated or in several flags. */
export const phaseOption = (): Option => {
  const option = new Option('--phase <phase>', 'only nodes in this phase; repeatable');
  option.argChoices = [...phases];
  return option.argParser((text: string, previous: readonly Phase[] | undefined): readonly Phase[] => [
    ...(previous ?? []),
    ...text.split(',').map((word) => {
      const phase = phases.find((one) => one === word);
      if (!phase) throw new InvalidArgumentError(`Allowed choices are ${phases.join(', ')}.`);
      return phase;
    }),
  ]);
};

export const DAEMON_SET = 'NAME, ds/NAME, or ads/NAME for an Advanced DaemonSet';

/** Adds the arguments that name one DaemonSet, as one word or as two. */
export const addDaemonSetArguments = (command: Command, description = DAEMON_SET): Command =>
  command
    .argument('<daemonset>', description)
    .argument('[name]', 'the name, where the kind is a word of its own: ds NAME');

/** `ds web` as `ds/web`. */
const oneName = async (word: string, name: string | undefined): Promise<string> => {
  if (name === undefined) return word;
  const { joinName } = await import('../view/index.ts');
  return joinName(word, name);
};

/** The action of a command about one DaemonSet. `load` imports what runs it, which may return an exit code. */
export const ofDaemonSet =
  <F>(
    { io, exit }: CommandContext,
    load: () => Promise<(name: string, flags: F, io: Io) => Promise<ExitCode | void>>,
  ) =>
  async (word: string, name: string | undefined, flags: F): Promise<void> => {
    const run = await load();
    exit((await run(await oneName(word, name), flags, io)) ?? exitCodes.ok);
  };
