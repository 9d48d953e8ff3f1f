import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { ClusterFlags } from './cluster/run.ts';
import type { DemoFlags } from './demo/options.ts';
import type { AddCommand } from './program.ts';

// ---- flags that several commands have

/** Flags of every command that connects to a cluster, named as in kubectl. */
export interface ConnectionFlags {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

const addConnectionFlags = (command: Command): Command =>
  command
    .option('--kubeconfig <file>', 'kubeconfig (default: KUBECONFIG, the service account of the pod, ~/.kube/config)')
    .option('--context <name>', 'kubeconfig context (default: the current context)')
    .option('-n, --namespace <name>', 'namespace (default: the namespace of the context, else default)');

/** Values of `-o`. Without it, commands print text. */
type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';

const outputOption = (...formats: OutputFormat[]): Option =>
  new Option('-o, --output <format>', 'output format').choices(formats);

const dryRuns = ['none', 'client', 'server'] as const;
export type DryRun = (typeof dryRuns)[number];

/** As in kubectl, a bare --dry-run means `client`. */
const dryRunOption = (): Option =>
  new Option('--dry-run [mode]', 'only print what would change; server: the API server also validates the change')
    .choices(dryRuns)
    .preset('client')
    .argParser((text: string): DryRun => {
      const mode = dryRuns.find((one) => one === text);
      // commander takes the word after a bare --dry-run as its value, which is most likely the name of the DaemonSet.
      if (!mode) throw new InvalidArgumentError('Give --dry-run=client or --dry-run=server, or put --dry-run last.');
      return mode;
    });

const revisionOption = (flag: '--revision' | '--to-revision', description: string): Option =>
  new Option(`${flag} <number>`, description).argParser((text: string): number => {
    if (!/^[1-9]\d{0,14}$/.test(text))
      throw new InvalidArgumentError('Give the number of a revision, as listed by "history".');
    return Number(text);
  });

const DAEMON_SET = 'NAME, ds/NAME, or ads/NAME for an Advanced DaemonSet';

// ---- rollouts

export interface StatusFlags extends ConnectionFlags {
  allNamespaces?: boolean;
  selector?: string;
  output?: OutputFormat;
  watch?: boolean;
}

export const addStatusCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('status')
    .argument('[daemonset]', `${DAEMON_SET}; default: all in the namespace`)
    .description('show the progress of rollouts')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <selector>', 'label selector of DaemonRollouts')
    .addOption(outputOption('wide', 'json', 'yaml', 'name'))
    .option('-w, --watch', 'print every change until interrupted');
  addConnectionFlags(command).action(async (name: string | undefined, flags: StatusFlags) => {
    const { showStatus } = await import('./plugin/status/status.ts');
    await showStatus(name, flags, io);
  });
};

export interface ExplainFlags extends ConnectionFlags {
  node?: string;
  output?: 'json' | 'yaml';
}

export const addExplainCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('explain')
    .argument('<daemonset>', DAEMON_SET)
    .description('explain why nodes are not updated, and what would change that')
    .option('--node <name>', 'only this node')
    .addOption(outputOption('json', 'yaml'));
  addConnectionFlags(command).action(async (name: string, flags: ExplainFlags) => {
    const { showExplanation } = await import('./plugin/explain.ts');
    await showExplanation(name, flags, io);
  });
};

export interface PlanFlags extends ConnectionFlags {
  maxUnavailable?: string;
  partition?: string;
  nodeSelector?: string;
  unpaused?: boolean;
  output?: 'json' | 'yaml';
}

export const addPlanCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('plan')
    .argument('<daemonset>', DAEMON_SET)
    .description('show what the manager would do now, with this or another policy; writes nothing')
    .option('--max-unavailable <value>', 'use this budget, such as 3 or 10%; also replaces maxSurge')
    .option('--partition <value>', 'use this partition, such as 3 or 50%')
    .option('--node-selector <selector>', 'use this node selector, such as ring=first')
    .option('--unpaused', 'ignore that the rollout is paused')
    .addOption(outputOption('json', 'yaml'));
  addConnectionFlags(command).action(async (name: string, flags: PlanFlags) => {
    const { showPlan } = await import('./plugin/plan.ts');
    await showPlan(name, flags, io);
  });
};

export interface WaitFlags extends ConnectionFlags {
  timeout: string;
}

export const addWaitCommand: AddCommand = (program, { io, exit }) => {
  const command = program
    .command('wait')
    .argument('<daemonset>', DAEMON_SET)
    .description('wait until the rollout of the current template is complete; exits with 3 when it is stalled')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 10m', '10m');
  addConnectionFlags(command).action(async (name: string, flags: WaitFlags) => {
    const { waitForRollout } = await import('./plugin/wait.ts');
    exit(await waitForRollout(name, flags, io));
  });
};

export interface PauseFlags extends ConnectionFlags {
  dryRun?: DryRun;
}

const addPauseOrResume = (program: Command, name: 'pause' | 'resume', description: string): Command =>
  addConnectionFlags(
    program
      .command(name)
      .argument('<daemonset>', DAEMON_SET)
      .description(description)
      .addOption(dryRunOption())
      .addHelpText(
        'after',
        `
Writes the annotation edgeset.io/paused of a native DaemonSet, or the field
spec.updateStrategy.rollingUpdate.paused of an Advanced DaemonSet${name === 'resume' ? ';\nafter a halt, also the annotation edgeset.io/resume' : ''}.`,
      ),
  );

export const addPauseCommand: AddCommand = (program, { io }) => {
  addPauseOrResume(program, 'pause', 'pause the rollout: start no new updates; running ones finish').action(
    async (name: string, flags: PauseFlags) => {
      const { pause } = await import('./plugin/pause.ts');
      await pause(name, flags, io);
    },
  );
};

export const addResumeCommand: AddCommand = (program, { io }) => {
  addPauseOrResume(program, 'resume', 'resume a paused rollout; after a halt, continue despite the failures').action(
    async (name: string, flags: PauseFlags) => {
      const { resume } = await import('./plugin/pause.ts');
      await resume(name, flags, io);
    },
  );
};

export interface HistoryFlags extends ConnectionFlags {
  revision?: number;
  output?: OutputFormat;
}

export const addHistoryCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('history')
    .argument('<daemonset>', `${DAEMON_SET}; works without opt-in`)
    .description('list the revisions that you can roll back to')
    .addOption(
      revisionOption('--revision', 'show the template of this revision, and how it differs from the current one'),
    )
    .addOption(outputOption('wide', 'json', 'yaml', 'name'));
  addConnectionFlags(command).action(async (name: string, flags: HistoryFlags) => {
    const { showHistory } = await import('./plugin/history/history.ts');
    await showHistory(name, flags, io);
  });
};

export interface UndoFlags extends ConnectionFlags {
  toRevision?: number;
  dryRun?: DryRun;
  output?: 'json' | 'yaml' | 'name';
}

export const addUndoCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('undo')
    .argument('<daemonset>', `${DAEMON_SET}; works without opt-in`)
    .description('roll back to an earlier revision')
    .addOption(revisionOption('--to-revision', 'revision to roll back to (default: the one before the current one)'))
    .addOption(dryRunOption())
    .addOption(outputOption('json', 'yaml', 'name'))
    .addHelpText(
      'after',
      '\nWrites spec.template and, when the current revision failed, the annotation edgeset.io/rolled-back-from.',
    );
  addConnectionFlags(command).action(async (name: string, flags: UndoFlags) => {
    const { undo } = await import('./plugin/history/undo.ts');
    await undo(name, flags, io);
  });
};

// ---- everything else

/** The first argument of a call for completions: a contract with the shell scripts and `kubectl_complete-edgeset`. */
export const COMPLETE = '__complete';

const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

export const addCompletionCommand: AddCommand = (program, { io }) => {
  program
    .command('completion')
    .description('print the shell completion script')
    .addArgument(new Argument('<shell>').choices(shells))
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./plugin/completion/script.ts');
      io.stdout(completionScript(shell));
    });
};

export const addDemoCommand: AddCommand = (program, { io, exit }) => {
  program
    .command('demo')
    .argument('[parts...]', 'auto, ota, advanced, fleet; default: all')
    .description('run the demo on a cluster inside this process; every step is checked')
    .option('--keep', 'keep the cluster running for kubectl until Ctrl-C')
    .option('--fleet <nodes>', 'number of nodes in the fleet (default: 40)')
    .option('--speed <factor>', "speed of the cluster's clock (default: 10 times real time)")
    .option('--seed <number>', 'seed for delays, names and the choice of nodes (default: 1)')
    .option('--picture <file>', 'write a picture of the fleet as SVG')
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
    .action(async (flags: ClusterFlags) => {
      const { runCluster } = await import('./cluster/run.ts');
      exit(await runCluster(flags, io, process));
    });
};
