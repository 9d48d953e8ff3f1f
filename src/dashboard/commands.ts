import {
  approve,
  type ChangeOptions,
  pause,
  planLines,
  planRollout,
  promote,
  resume,
  setPolicy,
  undo,
  type Written,
} from '../commands/index.ts';
import { errorText } from '../runtime/index.ts';
import { escapeLine, quoted, toLines, toMessage } from '../text/index.ts';
import { type Caller, type Connection, type ConnectionFlags, kinds, type Named, withCluster } from '../view/index.ts';
import { planLimits } from '../words/index.ts';
import { type Edgeset, edgesetIn } from './edgeset-in.ts';
import type { CommandRequest, CommandResult } from './messages.ts';

/** Commands that decide on one stage, which the user has seen. */
const DECIDES: ReadonlySet<unknown> = new Set(['approve', 'promote']);
/** One line. */
const COMMENT = /^\P{Cc}+$/u;
const INT_OR_PERCENT = /^\d{1,9}%?$/;
/** Of namespaces, DaemonSets, nodes and stages. */
export const NAME = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/;

const isText = (value: unknown, pattern: RegExp): value is string => typeof value === 'string' && pattern.test(value);

/** Undefined, if the body is no request for a command. */
export const readCommand = (body: unknown): CommandRequest | undefined => {
  if (typeof body !== 'object' || body === null) return undefined;
  const { command, cluster, namespace, kind, name, dryRun, maxUnavailable, partition, stage, comment, revision } =
    body as Record<string, unknown>;
  const isValid =
    typeof command === 'string' &&
    Object.hasOwn(COMMAND, command) &&
    (cluster === undefined || typeof cluster === 'string') &&
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

type Printed = Omit<CommandResult, 'typed' | 'failed'>;

const MOST_CHANGES = 200;

const printed = async (written: Promise<Written>): Promise<Printed> => {
  const { lines, notes, changes, isSame } = await written;
  return {
    output: toLines(...lines),
    notes: notes.map(escapeLine),
    ...(changes && {
      changes: changes
        .slice(0, MOST_CHANGES)
        .map(({ what, from, to }) => ({ what: escapeLine(what), from: escapeLine(from), to: escapeLine(to) })),
    }),
    ...(isSame && { isSame }),
  };
};

interface Command {
  /** The flags of the command line that say the same. */
  flags: (request: CommandRequest) => Readonly<Record<string, string | undefined>>;
  run: (connection: Connection, named: Named, request: CommandRequest) => Promise<Printed>;
}

const dryRunOf = ({ dryRun }: CommandRequest): ChangeOptions => (dryRun ? { dryRun: 'server' } : {});
const settings = ({ maxUnavailable, partition }: CommandRequest) => ({
  'max-unavailable': maxUnavailable,
  partition,
});

const COMMAND: Readonly<Record<CommandRequest['command'], Command>> = {
  pause: { flags: () => ({}), run: (to, named, request) => printed(pause(to, named, dryRunOf(request))) },
  resume: { flags: () => ({}), run: (to, named, request) => printed(resume(to, named, dryRunOf(request))) },
  set: {
    flags: settings,
    run: (to, named, { maxUnavailable, partition, ...request }) =>
      printed(setPolicy(to, named, { maxUnavailable, partition, ...dryRunOf(request) })),
  },
  undo: {
    flags: ({ revision }) => ({ 'to-revision': revision?.toString() }),
    run: (to, named, request) => printed(undo(to, named, { toRevision: request.revision, ...dryRunOf(request) })),
  },
  approve: decision(approve),
  promote: decision(promote),
  plan: {
    flags: settings,
    run: async (to, named, { maxUnavailable, partition }) => ({
      output: '',
      plan: planLines(await planRollout(to, named, { maxUnavailable, partition })).map(({ text, depth = 0 }) => ({
        text: escapeLine(text),
        depth,
      })),
      notes: [],
    }),
  },
};

function decision(decide: typeof approve): Command {
  return {
    flags: ({ stage, comment }) => ({ stage, comment }),
    run: (to, named, { stage, comment, ...request }) =>
      printed(decide(to, named, { stage, comment, ...dryRunOf(request) })),
  };
}

/** As a user would type it, to do it and not to see what it would do. The value of a flag may hold anything. */
const typedAs = (request: CommandRequest, edgeset: Connection['edgeset']): string => {
  const { command, kind, name } = request;
  const flags = Object.entries(COMMAND[command].flags(request)).flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag}=${quoted(value)}`],
  );
  return [edgeset(`${command} ${kind}/${name}`), ...flags].join(' ');
};

/** Runs the command with the connection that the dashboard was given, or that of the cluster's context. Resolves also when it fails. */
export const runCommand = async (
  request: CommandRequest,
  flags: ConnectionFlags,
  caller: Omit<Caller, 'edgeset'> & { edgeset: Edgeset },
): Promise<CommandResult> => {
  const { command, cluster, namespace, name } = request;
  const edgeset = edgesetIn(caller.edgeset, namespace, cluster);
  const typed = typedAs(request, edgeset);
  try {
    const named = { kind: kinds.find(({ short }) => short === request.kind), name };
    const as = { ...caller, edgeset };
    const where = { ...flags, namespace, ...(cluster !== undefined && { context: cluster }) };
    const done = await withCluster(where, as, (connection) => COMMAND[command].run(connection, named, request));
    return { typed, failed: false, ...done };
  } catch (error) {
    return { typed, failed: true, output: toMessage(errorText(error)), notes: [] };
  }
};
