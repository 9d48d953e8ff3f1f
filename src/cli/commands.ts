import { Argument, type Command, Option } from 'commander';
import type { DashboardFlags } from './dashboard/dashboard.ts';
import type { ServeFlags } from './dashboard/in-cluster/options.ts';
import {
  addConnectionFlags,
  addDaemonSetArguments,
  DAEMON_SET,
  dryRunOption,
  oneName,
  outputOption,
  phaseOption,
  revisionOption,
} from './flags.ts';
import type { ExitCode, ProcessIo } from './io.ts';
import type { ChangeFlags } from './plugin/change.ts';
import type { Shell } from './plugin/completion/script.ts';
import type { ExplainFlags } from './plugin/explain.ts';
import type { GetFlags } from './plugin/get/get.ts';
import type { HistoryFlags } from './plugin/history/history.ts';
import type { UndoFlags } from './plugin/history/undo.ts';
import type { PlanFlags } from './plugin/plan.ts';
import type { SetFlags } from './plugin/set.ts';
import type { StatusFlags } from './plugin/status/status.ts';
import type { WaitFlags } from './plugin/wait.ts';
import { type AddCommand, runProgram } from './program.ts';
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
    .addHelpText(
      'after',
      examples(
        ['status', 'All rollouts of the namespace'],
        ['status ds/web ads/cache -o wide', 'Two of them, with all columns'],
        ['status -A -w', 'All namespaces, again at every change'],
        ['status web -o json', 'The DaemonRollout, for scripts'],
      ),
    );
  addConnectionFlags(command).action(async (names: string[], flags: StatusFlags) => {
    const { showStatus } = await import('./plugin/status/status.ts');
    await showStatus(names, flags, io);
  });
};

export const addGetCommand: AddCommand = (program, { io }) => {
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
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: GetFlags) => {
    const { getNodes } = await import('./plugin/get/get.ts');
    await getNodes(await oneName(word, name), flags, io);
  });
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
    .addHelpText(
      'after',
      examples(
        ['dashboard', 'All rollouts that you may see'],
        ['dashboard -n shop --port 8080', 'One namespace'],
        ['dashboard --listen :8443 --tls-cert-file tls.crt --tls-private-key-file tls.key', 'In the cluster'],
      ),
    );
  for (const option of serveOptions()) command.addOption(option.helpGroup(SERVE));
  addConnectionFlags(command).action(async (flags: DashboardFlags & ServeFlags) => {
    if (flags.listen !== undefined) {
      const { serveDashboard } = await import('./dashboard/in-cluster/serve.ts');
      exit(await serveDashboard(flags, { ...io, version, process }));
      return;
    }
    const { showDashboard } = await import('./dashboard/dashboard.ts');
    await showDashboard(flags, io);
  });
};

/** The command line of the dashboard's image: `edgeset dashboard --listen ...`. */
export const dashboardMain = (args: readonly string[], io: ProcessIo): Promise<ExitCode> =>
  runProgram(args, { name: 'edgeset', io, build: addDashboardCommand });

export const addExplainCommand: AddCommand = (program, { io }) => {
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
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: ExplainFlags) => {
    const { showExplanation } = await import('./plugin/explain.ts');
    await showExplanation(await oneName(word, name), flags, io);
  });
};

export const addPlanCommand: AddCommand = (program, { io }) => {
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
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: PlanFlags) => {
    const { showPlan } = await import('./plugin/plan.ts');
    await showPlan(await oneName(word, name), flags, io);
  });
};

export const addWaitCommand: AddCommand = (program, { io, exit }) => {
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
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: WaitFlags) => {
    const { waitForRollout } = await import('./plugin/wait.ts');
    exit(await waitForRollout(await oneName(word, name), flags, io));
  });
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

export const addPauseCommand: AddCommand = (program, { io }) => {
  addPauseOrResume(program, 'pause', 'pause the rollout: start no new updates; running ones finish').action(
    async (word: string, name: string | undefined, flags: ChangeFlags) => {
      const { pause } = await import('./plugin/pause.ts');
      await pause(await oneName(word, name), flags, io);
    },
  );
};

export const addResumeCommand: AddCommand = (program, { io }) => {
  addPauseOrResume(program, 'resume', 'resume a paused rollout; after a halt, continue despite the failures').action(
    async (word: string, name: string | undefined, flags: ChangeFlags) => {
      const { resume } = await import('./plugin/pause.ts');
      await resume(await oneName(word, name), flags, io);
    },
  );
};

export const addSetCommand: AddCommand = (program, { io }) => {
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
"kubectl edgeset plan" with the same flags shows what the manager would do then.`,
    )
    .addHelpText(
      'after',
      examples(
        ['set ds/web --max-unavailable 20%', 'A larger budget'],
        ['set ads/web --partition 50% --dry-run=server', 'Half of the nodes; only checked'],
      ),
    );
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: SetFlags) => {
    const { setPolicy } = await import('./plugin/set.ts');
    await setPolicy(await oneName(word, name), flags, io);
  });
};

export const addHistoryCommand: AddCommand = (program, { io }) => {
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
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: HistoryFlags) => {
    const { showHistory } = await import('./plugin/history/history.ts');
    await showHistory(await oneName(word, name), flags, io);
  });
};

export const addUndoCommand: AddCommand = (program, { io }) => {
  const command = addDaemonSetArguments(program.command('undo'), `${DAEMON_SET}; works without opt-in`)
    .description('roll back to an earlier revision')
    .addOption(revisionOption('--to-revision', 'revision to roll back to (default: the one before the current one)'))
    .addOption(dryRunOption())
    .addOption(outputOption('json', 'yaml', 'name'))
    .addHelpText(
      'after',
      '\nWrites spec.template and, when the current revision failed, the annotation edgeset.io/rolled-back-from.',
    )
    .addHelpText(
      'after',
      examples(
        ['undo ds/web --dry-run', 'What a rollback would change'],
        ['undo ds/web', 'To the revision before the current one'],
        ['undo ds/web --to-revision 3 -o yaml', 'To this one; prints the DaemonSet'],
      ),
    );
  addConnectionFlags(command).action(async (word: string, name: string | undefined, flags: UndoFlags) => {
    const { undo } = await import('./plugin/history/undo.ts');
    await undo(await oneName(word, name), flags, io);
  });
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
      io.data(completionScript(shell));
    });
};
