import { Argument, type Command, Option } from 'commander';
import type { ServeFlags } from '../dashboard/index.ts';
import {
  addConnectionFlags,
  addDaemonSetArguments,
  contextsOption,
  DAEMON_SET,
  dryRunOption,
  ofDaemonSet,
  outputOption,
  phaseOption,
  revisionOption,
} from './flags.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import type { Shell } from './plugin/completion/script.ts';
import type { StatusFlags } from './plugin/status/status.ts';
import { type AddCommand, runProgram } from './program.ts';
import type { DashboardFlags } from './show-dashboard.ts';
import { examples } from './usage.ts';
import { version } from './version.ts';

// ---- rollouts

export const addStatusCommand: AddCommand = (program, { io }) => {
  const command = program
    .command('status')
    .argument('[daemonset...]', `${DAEMON_SET}; default: all in the namespace`)
    .description('show the progress of rollouts')
    .option('-A, --all-namespaces', 'all namespaces')
    .option('-l, --selector <selector>', 'label selector of DaemonRollouts')
    .addOption(outputOption('wide', 'json', 'yaml', 'name'))
    .option('-w, --watch', 'print every change until interrupted')
    .addOption(contextsOption().conflicts('watch'))
    .addHelpText(
      'after',
      examples(
        ['status', 'All rollouts of the namespace'],
        ['status ds/web ads/cache -o wide', 'Two of them, with all columns'],
        ['status -A -w', 'All namespaces, again at every change'],
        ['status web -o json', 'The DaemonRollout, for scripts'],
        ['status --contexts shop-1,shop-2', 'Two clusters in one table'],
      ),
    );
  addConnectionFlags(command).action(async (names: string[], flags: StatusFlags) => {
    const { showStatus } = await import('./plugin/status/status.ts');
    await showStatus(names, flags, io);
  });
};

export const addGetCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('get'))
    .description('list the nodes of a rollout, with phase and cause; -w draws them live')
    .addOption(phaseOption().conflicts('watch'))
    .addOption(outputOption('wide', 'json', 'yaml', 'name'))
    .option('-w, --watch', 'on a terminal, draw the fleet until interrupted; elsewhere, print every change')
    .addHelpText(
      'after',
      examples(
        ['get ds/web', 'Each node with its phase and cause'],
        ['get ds/web -w', 'The fleet, drawn live'],
        ['get ds/web --phase failed -o name', 'The names of the nodes that failed'],
      ),
    );
  addConnectionFlags(command).action(ofDaemonSet(context, async () => (await import('./plugin/get/get.ts')).getNodes));
};

/** The heading of the flags of a dashboard in the cluster. */
const SERVE = 'For everybody who has a token of the cluster:';

const collect = (value: string, previous: readonly string[] = []): readonly string[] => [...previous, value];

const serveOptions = (): Option[] => [
  new Option('--listen <address>', 'serve HOST:PORT, or :PORT for all interfaces; callers log in with a bearer token'),
  new Option('--namespaces <names>', 'namespaces to serve, comma-separated (default: all)'),
  new Option('--allowed-host <host>', 'NAME or NAME:PORT by which browsers reach it; repeatable').argParser(collect),
  new Option('--tls-cert-file <file>', 'TLS certificate of the server'),
  new Option('--tls-private-key-file <file>', 'private key of the certificate'),
  new Option('--insecure-http', 'serve plain HTTP, for a proxy that terminates TLS'),
  new Option('--trusted-proxies <networks>', 'proxies whose X-Forwarded-For names the caller, comma-separated CIDRs'),
  new Option('--health-probe-bind-address <address>', 'address of /healthz and /readyz (default: 0, disabled)'),
  new Option('--metrics-bind-address <address>', 'address of /metrics (default: 0, disabled)'),
  new Option('--log-level <level>', 'debug, info, warn or error (default: info)'),
  new Option('--log-format <format>', 'json or text (default: text on a terminal, else json)'),
];

export const addDashboardCommand: AddCommand = (program, { io, exit }) => {
  const command = program
    .command('dashboard')
    .description('show the fleet in a browser, with your own rights, until Ctrl-C')
    .option('-A, --all-namespaces', 'all namespaces, which is the default without -n')
    .option('--port <number>', 'port on 127.0.0.1 (default: any free port)')
    .option('--no-browser', 'only print the address')
    .addOption(contextsOption().conflicts('listen'))
    .addHelpText(
      'after',
      examples(
        ['dashboard', 'All rollouts that you may see'],
        ['dashboard -n shop --port 8080', 'One namespace'],
        ['dashboard --contexts shop-1,shop-2', 'Two clusters on one page'],
        ['dashboard --listen :8443 --tls-cert-file tls.crt --tls-private-key-file tls.key', 'In the cluster'],
      ),
    );
  for (const option of serveOptions()) command.addOption(option.helpGroup(SERVE));
  addConnectionFlags(command).action(async (flags: DashboardFlags & ServeFlags) => {
    if (flags.listen !== undefined) {
      const { serveDashboard } = await import('../dashboard/index.ts');
      exit(await serveDashboard(flags, { ...io, version, process }));
      return;
    }
    const { showDashboard } = await import('./show-dashboard.ts');
    await showDashboard(flags, io);
  });
};

/** The command line of the dashboard's image: `edgeset dashboard --listen ...`. */
export const dashboardMain = (args: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  runProgram(args, { name: 'edgeset', io, build: addDashboardCommand });

export const addExplainCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('explain'))
    .description('explain why nodes are not updated, and what would change that')
    .addOption(new Option('--node <name>', 'only this node').conflicts(['phase', 'all']))
    .addOption(phaseOption())
    .option('--all', 'all nodes and causes, not only the first ones of each phase')
    .addOption(outputOption('json', 'yaml'))
    .addHelpText(
      'after',
      examples(
        ['explain ds/web', 'What holds the rollout, and why each node waits'],
        ['explain ds/web --node shop-07', 'One node'],
        ['explain ds/web --phase failed --all', 'All failed nodes'],
      ),
    );
  addConnectionFlags(command).action(
    ofDaemonSet(context, async () => (await import('./plugin/explain.ts')).showExplanation),
  );
};

export const addPlanCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('plan'))
    .description('show what the manager would do now, with this or another policy; writes nothing')
    .option('--max-unavailable <value>', 'use this budget, such as 3 or 10%; also replaces maxSurge')
    .option('--partition <value>', 'use this partition, such as 3 or 50%')
    .option('--node-selector <selector>', 'use this node selector, such as ring=first')
    .option('--unpaused', 'ignore that the rollout is paused')
    .addOption(outputOption('json', 'yaml'))
    .addHelpText(
      'after',
      examples(
        ['plan ds/web', 'What the manager would do now'],
        ['plan ds/web --unpaused --max-unavailable 20%', 'The same with another policy'],
      ),
    );
  addConnectionFlags(command).action(
    ofDaemonSet(context, async () => (await import('./plugin/show-plan.ts')).showPlan),
  );
};

export const addWaitCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('wait'))
    .description('wait until the rollout of the current template is complete; exits with 3 when it is stalled')
    .option('--timeout <duration>', 'how long to wait, such as 90s or 10m', '10m')
    .option('--coverage <share>', 'how many nodes are enough, such as 99% or 500 (default: 100%)')
    .option('--include-offline', 'count offline nodes, too, which otherwise do not matter')
    .addHelpText(
      'after',
      examples(
        ['wait ds/web --timeout 30m', 'Until all online nodes are updated'],
        ['wait ds/web --coverage 99% --include-offline', 'Until 99% of all nodes are, offline ones included'],
      ),
    );
  addConnectionFlags(command).action(
    ofDaemonSet(context, async () => (await import('./plugin/wait.ts')).waitForRollout),
  );
};

const addPauseOrResume = (program: Command, name: 'pause' | 'resume', description: string): Command =>
  addConnectionFlags(
    addDaemonSetArguments(program.command(name))
      .description(description)
      .addOption(dryRunOption())
      .addOption(outputOption('json', 'yaml', 'name'))
      .addHelpText(
        'after',
        `
Writes the annotation edgeset.io/paused of a native DaemonSet, or the field
spec.updateStrategy.rollingUpdate.paused of an Advanced DaemonSet${name === 'resume' ? ';\nafter a halt, also the annotation edgeset.io/resume' : ''}.`,
      )
      .addHelpText(
        'after',
        examples(
          [`${name} ds/web`, 'Prints one line'],
          [`${name} ads/web --dry-run=server -o yaml`, 'Prints the DaemonSet that would be written'],
        ),
      ),
  );

export const addPauseCommand: AddCommand = (program, context) => {
  addPauseOrResume(program, 'pause', 'pause the rollout: start no new updates; running ones finish').action(
    ofDaemonSet(context, async () => (await import('./plugin/write.ts')).pause),
  );
};

export const addResumeCommand: AddCommand = (program, context) => {
  addPauseOrResume(program, 'resume', 'resume a paused rollout; after a halt, continue despite the failures').action(
    ofDaemonSet(context, async () => (await import('./plugin/write.ts')).resume),
  );
};

export const addSetCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('set'))
    .description('set the budget or the partition of the rollout')
    .option('--max-unavailable <value>', 'how many nodes may be down, such as 3 or 10%; also replaces maxSurge')
    .option('--partition <value>', 'how many nodes stay on the old revision, such as 3 or 50%')
    .addOption(dryRunOption())
    .addOption(outputOption('json', 'yaml', 'name'))
    .addHelpText(
      'after',
      `
Writes annotations of a native DaemonSet, or fields of spec.updateStrategy.rollingUpdate of an Advanced DaemonSet.
The command "plan" with the same flags shows what the manager would do then.`,
    )
    .addHelpText(
      'after',
      examples(
        ['set ds/web --max-unavailable 20%', 'A larger budget'],
        ['set ads/web --partition 50% --dry-run=server', 'Half of the nodes; only checked'],
      ),
    );
  addConnectionFlags(command).action(ofDaemonSet(context, async () => (await import('./plugin/write.ts')).setPolicy));
};

export const addHistoryCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('history'), `${DAEMON_SET}; works without opt-in`)
    .description('list the revisions that you can roll back to, and the last rollouts')
    .addOption(
      revisionOption('--revision', 'show the template of this revision, and how it differs from the current one'),
    )
    .addOption(outputOption('wide', 'json', 'yaml', 'name'))
    .addHelpText(
      'after',
      examples(
        ['history ds/web', 'The revisions that are kept, and who rolled them out when'],
        ['history ds/web --revision 3', 'One of them, and how it differs'],
      ),
    );
  addConnectionFlags(command).action(
    ofDaemonSet(context, async () => (await import('./plugin/show-history.ts')).showHistory),
  );
};

export const addUndoCommand: AddCommand = (program, context) => {
  const command = addDaemonSetArguments(program.command('undo'), `${DAEMON_SET}; works without opt-in`)
    .description('roll back to an earlier revision')
    .addOption(
      revisionOption(
        '--to-revision',
        'revision to roll back to (default: the last complete one, or else the one before the current one)',
      ),
    )
    .addOption(dryRunOption())
    .addOption(outputOption('json', 'yaml', 'name'))
    .addHelpText(
      'after',
      '\nWrites spec.template and, when the current revision failed, the annotation edgeset.io/rolled-back-from.\n' +
        "The stages of a rollout plan don't hold back a rollback to the last complete revision, and neither do its\nwindows and freezes unless it sets windowsOnRollback.",
    )
    .addHelpText(
      'after',
      examples(
        ['undo ds/web --dry-run', 'What a rollback would change'],
        ['undo ds/web', 'To the revision that was last complete'],
        ['undo ds/web --to-revision 3 -o yaml', 'To this one; prints the DaemonSet'],
      ),
    );
  addConnectionFlags(command).action(ofDaemonSet(context, async () => (await import('./plugin/write.ts')).undo));
};

// ---- everything else

const shells = ['bash', 'zsh', 'fish'] as const satisfies readonly Shell[];

export const addCompletionCommand: AddCommand = (program, { io }) => {
  program
    .command('completion')
    .description('print the shell completion script')
    .addArgument(new Argument('<shell>').choices(shells))
    .addHelpText(
      'after',
      examples(['completion bash > ~/.local/share/bash-completion/completions/edgeset', 'For bash']),
    )
    .action(async (shell: Shell) => {
      const { completionScript } = await import('./plugin/completion/script.ts');
      io.stdout(completionScript(shell));
    });
};
