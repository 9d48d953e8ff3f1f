import { type Command, Option } from 'commander';

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
