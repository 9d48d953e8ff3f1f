import type { Command, Option } from 'commander';
import type { ConnectionFlags } from '../../commands.ts';
import type { Io } from '../../io.ts';
import type { DaemonSetFilter } from './candidates.ts';

export interface Candidate {
  value: string;
  description: string;
}

/** How a shell takes an answer, in cobra's bits. */
const OFFER_FILES = 0;
const OFFER_NO_FILES = 4;

/** What the words before the last one say. */
interface Place {
  command: Command;
  /** Arguments of the command before the last word. */
  arguments: readonly string[];
  /** The option whose value the last word is. */
  awaits: Option | undefined;
  /** Values of options so far, by long name. */
  given: ReadonlyMap<string, string>;
}

/** Bash breaks words at `=`: puts `--output`, `=`, `js` together again. */
const rejoin = (words: readonly string[]): string[] => {
  const joined: string[] = [];
  let open = false;
  for (const word of words) {
    const last = joined.at(-1) ?? '';
    if (word === '=' && last.startsWith('--') && !last.includes('=')) {
      joined.push(`${joined.pop() ?? ''}=`);
      open = true;
      continue;
    }
    if (open) joined.push(`${joined.pop() ?? ''}${word}`);
    else joined.push(word);
    open = false;
  }
  return joined;
};

const optionOf = (command: Command, word: string): Option | undefined => {
  const [name] = word.split('=', 1);
  return command.options.find(({ long, short }) => long === name || short === name);
};

const takesValue = ({ required, optional }: Option): boolean => required || optional;

const locate = (program: Command, words: readonly string[]): Place => {
  let command = program;
  const positional: string[] = [];
  let awaits: Option | undefined;
  const given = new Map<string, string>();
  for (const word of words) {
    if (awaits) {
      given.set(awaits.long ?? '', word);
      awaits = undefined;
      continue;
    }
    if (word.startsWith('-')) {
      const option = optionOf(command, word);
      if (!option || !takesValue(option)) continue;
      if (word.includes('=')) given.set(option.long ?? '', word.slice(word.indexOf('=') + 1));
      else awaits = option;
      continue;
    }
    const inner = positional.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (inner) command = inner;
    else positional.push(word);
  }
  return { command, arguments: positional, awaits, given };
};

const plain = (value: string): Candidate => ({ value, description: '' });

const connectionOf = ({ given }: Place): ConnectionFlags => {
  const flags: ConnectionFlags = {};
  for (const key of ['kubeconfig', 'context', 'namespace'] as const) {
    const value = given.get(`--${key}`);
    if (value !== undefined) flags[key] = value;
  }
  return flags;
};

const lookUp = async (what: '--node' | '--namespace', place: Place, io: Io): Promise<Candidate[]> => {
  const { completeObjects } = await import('./candidates.ts');
  return (await completeObjects(what, connectionOf(place), io)).map(plain);
};

const lookUpDaemonSets = async (offered: DaemonSetFilter, word: string, place: Place, io: Io): Promise<Candidate[]> => {
  const { completeDaemonSets } = await import('./candidates.ts');
  const slash = word.indexOf('/');
  const prefix = slash < 0 ? undefined : word.slice(0, slash);
  return (await completeDaemonSets(offered, prefix, connectionOf(place), io)).map(plain);
};

const lookUpRevisions = async (place: Place, io: Io): Promise<Candidate[]> => {
  const [daemonSet] = place.arguments;
  if (daemonSet === undefined) return [];
  const { completeRevisions } = await import('./candidates.ts');
  return await completeRevisions(daemonSet, connectionOf(place), io);
};

/** What a flag's value may be: words of its own, or what lives in the cluster. */
const valuesOf = async (option: Option, place: Place, io: Io): Promise<Candidate[] | undefined> => {
  if (option.argChoices) return option.argChoices.map(plain);
  const { long } = option;
  if (long === '--kubeconfig') return undefined;
  if (long === '--node' || long === '--namespace') return lookUp(long, place, io);
  return long === '--revision' || long === '--to-revision' ? lookUpRevisions(place, io) : [];
};

/** Commands that know other names than those of DaemonSets that are served. */
const offeredTo: Readonly<Record<string, DaemonSetFilter>> = { status: 'rollout', history: 'any', undo: 'any' };

const wordsFor = async (place: Place, word: string, io: Io): Promise<Candidate[] | undefined> => {
  const { command, awaits } = place;
  const positional = place.arguments.length;
  if (awaits) return valuesOf(awaits, place, io);
  if (word.startsWith('-')) {
    const options = command.createHelp().visibleOptions(command);
    return options.flatMap(({ long, description }) => (long ? [{ value: long, description }] : []));
  }
  if (command.commands.length > 0 && positional === 0) {
    const inner = command.createHelp().visibleCommands(command);
    return inner.map((one) => ({ value: one.name(), description: one.description() }));
  }
  const argument = command.registeredArguments[positional];
  if (argument?.argChoices) return argument.argChoices.map(plain);
  if (argument?.name() !== 'daemonset') return [];
  return lookUpDaemonSets(offeredTo[command.name()] ?? 'served', word, place, io);
};

/**
 * What may stand where the last of `words` is, of a command line without the program's name. Files: the shell is to offer
 * names of files instead.
 */
export const complete = async (
  program: Command,
  words: readonly string[],
  io: Io,
): Promise<{ candidates: Candidate[]; files: boolean }> => {
  const before = rejoin(words);
  const word = before.pop() ?? '';
  const place = locate(program, before);
  const assigned = word.startsWith('-') && word.includes('=') ? optionOf(place.command, word) : undefined;
  const start = assigned ? word.slice(word.indexOf('=') + 1) : word;
  const found = await (assigned ? valuesOf(assigned, place, io) : wordsFor(place, word, io));
  return {
    candidates: (found ?? []).filter(({ value }) => value.startsWith(start)),
    files: found === undefined,
  };
};

/** Prints them as cobra's programs do: one a line, a tab before the description, at last what to do with them. */
export const printCompletions = async (program: Command, words: readonly string[], io: Io): Promise<void> => {
  const { candidates, files } = await complete(program, words, io);
  for (const { value, description } of candidates) io.stdout(description ? `${value}\t${description}\n` : `${value}\n`);
  io.stdout(`:${files ? OFFER_FILES : OFFER_NO_FILES}\n`);
};
