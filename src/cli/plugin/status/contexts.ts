import { errorText, OptionError, systemClock } from '../../../runtime/index.ts';
import { escapeLine, toLines } from '../../../text/index.ts';
import {
  CommandError,
  type Connection,
  type ConnectionFlags,
  type OutputFormat,
  withCluster,
} from '../../../view/index.ts';
import type { Io } from '../../io.ts';
import { type ContextStatus, contextsText } from './contexts-view.ts';
import { notesOf } from './notes.ts';
import { noRolloutOf, readClusterStatus, scopeOf, type Wanted } from './read.ts';

/** Clusters that are asked at the same time. */
const AT_ONCE = 8;

/** What one cluster says, with what its rows don't. */
interface Answer extends ContextStatus {
  notes: readonly string[];
}

const noRollouts = ({ selector }: Wanted, place: string): CommandError =>
  new CommandError(
    'NotFound',
    selector === undefined
      ? `there are no rollouts in ${place}: give another namespace with -n, or -A for all`
      : `no rollouts match the selector in ${place}: give another one with -l`,
  );

const readAnswer = async (connection: Connection, context: string, wanted: Wanted, io: Io): Promise<Answer> => {
  const { named, allNamespaces, table } = wanted;
  const { place } = scopeOf(connection, wanted);
  const status = await readClusterStatus(connection, wanted);
  const { rows, daemonSets, missing } = status;
  const typed = allNamespaces ? (words: string) => io.edgeset(words, 'NAMESPACE', context) : connection.edgeset;
  const error =
    missing.length > 0 ? noRolloutOf(missing, place, typed) : rows.length === 0 ? noRollouts(wanted, place) : undefined;
  return {
    context,
    rollouts: rows,
    doubt: (rollout) => daemonSets.doubt(rollout),
    error: error?.message,
    notes: await notesOf(connection, status, { conditions: named.length > 0 && table }),
  };
};

/** Asks the cluster of one context. What fails is an answer, too, unless it is a flag, which is wrong for all. */
const ask = async (context: string, flags: ConnectionFlags, wanted: Wanted, io: Io): Promise<Answer> => {
  const caller = { ...io, edgeset: (words: string, namespace?: string) => io.edgeset(words, namespace, context) };
  try {
    return await withCluster(
      { ...flags, context },
      caller,
      (connection) => readAnswer(connection, context, wanted, io),
      // Prompts of several credential plugins at once can't be answered.
      { terminal: false },
    );
  } catch (error) {
    if (error instanceof OptionError) throw error;
    return { context, rollouts: [], doubt: () => undefined, error: errorText(error), notes: [] };
  }
};

/** Resolves in the order of the contexts, whichever answers first. */
const askAll = async (contexts: readonly string[], one: (context: string) => Promise<Answer>): Promise<Answer[]> => {
  const answers: Answer[] = [];
  const queue = contexts.entries();
  const next = async (): Promise<void> => {
    for (const [at, context] of queue) answers[at] = await one(context);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return answers;
};

/** Further lines of an error stay below the context that it is about. */
const failureLines = ({ context, error = '' }: Answer): string =>
  `${escapeLine(context)}: ${error.split(/\r?\n|\r/).join('\n  ')}`;

/** Prints the rollouts of several clusters, side by side. Rejects with the errors of those that fail. */
export const showContexts = async (
  contexts: readonly string[],
  flags: ConnectionFlags & { output?: OutputFormat },
  wanted: Wanted,
  io: Io,
): Promise<void> => {
  const answers = await askAll(contexts, (context) => ask(context, flags, wanted, io));
  const { output } = flags;
  io.print(
    contextsText(answers, output, { namespaces: wanted.allNamespaces, paint: io.paint, now: systemClock.now() }),
  );
  for (const { context, notes } of answers) io.stderr(toLines(...notes.map((note) => `Note: ${context}: ${note}`)));
  const failed = answers.filter(({ error }) => error !== undefined);
  if (failed.length === 0) return;
  throw new CommandError(
    'ContextsFailed',
    [`${failed.length} of ${contexts.length} contexts failed:`, ...failed.map(failureLines)].join('\n'),
  );
};
