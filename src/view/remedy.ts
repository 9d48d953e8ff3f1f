import { commandWords, type RemedyCommand, runText } from '../rollout/index.ts';
import type { Connection } from './connection.ts';
import type { Reading } from './kinds/kind.ts';
import { joinSentences } from './tables.ts';

/** What to do about a rollout, and the commands for it as the user calls them. */
export const remedyText = (
  { remedy, commands = [] }: { remedy: string; commands?: readonly RemedyCommand[] | undefined },
  { kind, view }: Pick<Reading, 'kind'> & { view: { name: string } },
  edgeset: Connection['edgeset'],
): string => {
  const named = { short: kind.short, name: view.name };
  return joinSentences(remedy, runText(commands.map((command) => edgeset(commandWords(command, named)))));
};
