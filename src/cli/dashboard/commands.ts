import { planLimits } from '../../words/index.ts';
import {
  addHistoryCommand,
  addPauseCommand,
  addPlanCommand,
  addResumeCommand,
  addSetCommand,
  addUndoCommand,
} from '../commands.ts';
import type { ProcessIo } from '../io.ts';
import { quoted, runProgram } from '../program.ts';
import { addApproveCommand, addPromoteCommand } from '../stage-commands.ts';
import type { CommandRequest, CommandResult } from './messages.ts';

/** Commands that decide on one stage, which the user has seen. */
const DECIDES: ReadonlySet<unknown> = new Set(['approve', 'promote']);
const WRITES: ReadonlySet<unknown> = new Set(['pause', 'resume', 'set', 'undo', ...DECIDES]);
const COMMANDS: ReadonlySet<unknown> = new Set([...WRITES, 'plan', 'history']);
/** Commands with the flags of the budget and the partition. */
const TAKES_SETTINGS: ReadonlySet<string> = new Set(['set', 'plan']);
/** One line. */
const COMMENT = /^\P{Cc}+$/u;
const INT_OR_PERCENT = /^\d{1,9}%?$/;
/** Of namespaces, DaemonSets, nodes and stages. */
export const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);

/** Undefined, if the body is no request for a command. */
export const readCommand = (body: unknown): CommandRequest | undefined => {
  if (typeof body !== 'object' || body === null) return undefined;
  const { command, namespace, kind, name, dryRun, maxUnavailable, partition, stage, comment, revision } =
    body as Record<string, unknown>;
  const isValid =
    COMMANDS.has(command) &&
    (kind === 'ds' || kind === 'ads') &&
    isText(namespace, NAME) &&
    isText(name, NAME) &&
    (dryRun === undefined || typeof dryRun === 'boolean') &&
    (maxUnavailable === undefined || isText(maxUnavailable, INT_OR_PERCENT)) &&
    (partition === undefined || isText(partition, INT_OR_PERCENT)) &&
    (DECIDES.has(command) ? isText(stage, NAME) : stage === undefined) &&
    (comment === undefined ||
      (DECIDES.has(command) && isText(comment, COMMENT) && Array.from(comment).length <= planLimits.comment)) &&
    (revision === undefined || (Number.isSafeInteger(revision) && Number(revision) > 0));
  return isValid ? (body as CommandRequest) : undefined;
};

const argumentsOf = (request: CommandRequest): string[] => {
  const { command, namespace, kind, name, dryRun, maxUnavailable, partition, stage, comment, revision } = request;
  const takesSettings = TAKES_SETTINGS.has(command);
  const flag = command === 'history' ? '--revision' : '--to-revision';
  return [
    command,
    `${kind}/${name}`,
    `--namespace=${namespace}`,
    ...(dryRun && WRITES.has(command) ? ['--dry-run=server'] : []),
    ...(maxUnavailable !== undefined && takesSettings ? [`--max-unavailable=${maxUnavailable}`] : []),
    ...(partition !== undefined && takesSettings ? [`--partition=${partition}`] : []),
    ...(stage !== undefined ? [`--stage=${stage}`] : []),
    ...(comment !== undefined ? [`--comment=${comment}`] : []),
    ...(revision !== undefined && (command === 'undo' || command === 'history') ? [`${flag}=${revision}`] : []),
  ];
};

/** The value of a flag may hold anything. */
const typedAs = (arg: string): string => arg.replace(/(?<==).*/, quoted);

const PROGRAMS = [
  addApproveCommand,
  addHistoryCommand,
  addPauseCommand,
  addPlanCommand,
  addPromoteCommand,
  addResumeCommand,
  addSetCommand,
  addUndoCommand,
];

/** Runs the command in this process, as the user would, with the flags of the connection that the dashboard was given. */
export const runCommand = async (
  request: CommandRequest,
  connectionFlags: readonly string[],
  { environment, random, cluster }: Pick<ProcessIo, 'environment' | 'random' | 'cluster'>,
): Promise<CommandResult> => {
  let output = '';
  const print = (text: string): void => void (output += text);
  const args = argumentsOf(request);
  const code = await runProgram([...args, ...connectionFlags], {
    name: 'kubectl edgeset',
    io: { environment, random, cluster, stdout: print, stderr: print, terminal: false },
    build(program, context) {
      for (const add of PROGRAMS) add(program, context);
    },
  });
  return { typed: `kubectl edgeset ${args.map(typedAs).join(' ')}`, code, output };
};
