import { type Command, InvalidArgumentError, Option } from 'commander';

/** How a DaemonSet is named, in help texts. */
export const DAEMON_SET = 'NAME, ds/NAME, or ads/NAME for an Advanced DaemonSet';

/** Flags that every command which talks to a cluster has, with kubectl's names. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

export const addConnectionFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', "context of the kubeconfig (default: the kubeconfig's current one)")
    .option('-n, --namespace <name>', "namespace (default: the context's, else default)");

/** What `-o` may ask for; without it, text for people. */
export type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';

export const outputOption = (...formats: OutputFormat[]): Option =>
  new Option('-o, --output <format>', 'in another form').choices(formats);

const dryRuns = ['none', 'client', 'server'] as const;
export type DryRun = (typeof dryRuns)[number];

/** As kubectl has it: bare, it is `client`. */
export const dryRunOption = (): Option =>
  new Option('--dry-run [form]', 'only say what would be done; server: have the API server check it too')
    .choices(dryRuns)
    .preset('client')
    .argParser((text: string): DryRun => {
      const form = dryRuns.find((one) => one === text);
      // What follows a bare --dry-run is taken for its value: most likely it is the DaemonSet's name.
      if (!form) throw new InvalidArgumentError('Give --dry-run=client or --dry-run=server, or put --dry-run last.');
      return form;
    });

/** What is said behind what was not done in truth. */
export const asTried = (dryRun: DryRun): string =>
  ({ none: '', client: ' (dry run)', server: ' (server dry run)' })[dryRun];

/** Number of a revision, as `history` lists them. */
export const revisionOption = (flag: '--revision' | '--to-revision', description: string): Option =>
  new Option(`${flag} <number>`, description).argParser((text: string): number => {
    if (!/^[1-9]\d{0,14}$/.test(text))
      throw new InvalidArgumentError('Give the number of a revision, as "history" lists them.');
    return Number(text);
  });
