import { commandWords, type RemedyCommand, runText } from '../rollout/index.ts';
import type { Connection } from './connection.ts';
import type { Reading } from './kinds/kind.ts';
import { joinSentences } from './tables.ts';

type Named = Pick<Reading, 'kind'> & { view: { name: string } };

/** A command about a rollout as the user calls it. */
export const typedCommand = (command: RemedyCommand, { kind, view }: Named, edgeset: Connection['edgeset']): string => {
  const words = commandWords(command, { short: kind.short, name: view.name });
  const typed = edgeset(words);
  // What follows the words are flags that kubectl has, too.
  return command.verb === 'edit' ? `kubectl ${typed.slice(typed.indexOf(words))}` : typed;
};

/** What to do about a rollout, and the commands for it as the user calls them. */
export const remedyText = (
  { remedy, commands = [] }: { remedy: string; commands?: readonly RemedyCommand[] | undefined },
  named: Named,
  edgeset: Connection['edgeset'],
): string => joinSentences(remedy, runText(commands.map((command) => typedCommand(command, named, edgeset))));
