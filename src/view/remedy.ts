import type { RemedyCommand } from '../rollout/index.ts';
import type { Connection } from './connection.ts';
import type { Reading } from './kinds/kind.ts';
import { joinSentences } from './tables.ts';

/** What to do about a rollout, and the commands for it as the user calls them. */
export const remedyText = (
  { remedy, commands = [] }: { remedy: string; commands?: readonly RemedyCommand[] | undefined },
  { kind, view }: Pick<Reading, 'kind'> & { view: { name: string } },
  edgeset: Connection['edgeset'],
): string => {
  const typed = commands.map(
    ({ verb, stage }) =>
      `"${edgeset(`${verb} ${kind.short}/${view.name}${stage === undefined ? '' : ` --stage ${stage}`}`)}"`,
  );
  return joinSentences(remedy, typed.length > 0 ? `Run ${typed.join(' or ')}.` : '');
};
