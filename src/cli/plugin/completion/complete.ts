import type { Command, Option } from 'commander';
import type { ConnectionFlags } from '../../commands.ts';
import type { Io } from '../../io.ts';
import type { DaemonSetFilter } from './candidates.ts';

export interface Candidate {
  value: string;
  description: string;
}

/** What the shell does with the candidates: cobra's directives. */
const OFFER_FILES = 0;
const OFFER_NO_FILES = 4;

/** The position of the last word in the command line. */
interface Position {
  command: Command;
  /** The command's arguments before the last word. */
  arguments: readonly string[];
  /** The option whose value is the last word. */
  awaits: Option | undefined;
  /** Values of the options so far, by long name. */
  given: ReadonlyMap<string, string>;
}

/** Joins what bash splits at `=`, such as `--output`, `=`, `js`. */
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

const locate = (program: Command, words: readonly string[]): Position => {
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

const connectionOf = ({ given }: Position): ConnectionFlags => {
  const flags: ConnectionFlags = {};
  for (const key of ['kubeconfig', 'context', 'namespace'] as const) {
    const value = given.get(`--${key}`);
    if (value !== undefined) flags[key] = value;
  }
  return flags;
};

const lookUp = async (what: '--node' | '--namespace', position: Position, io: Io): Promise<Candidate[]> => {
  const { completeObjects } = await import('./candidates.ts');
  return (await completeObjects(what, connectionOf(position), io)).map(plain);
};

const lookUpDaemonSets = async (
  offered: DaemonSetFilter,
  word: string,
  position: Position,
  io: Io,
): Promise<Candidate[]> => {
  const { completeDaemonSets } = await import('./candidates.ts');
  const slash = word.indexOf('/');
  const prefix = slash < 0 ? undefined : word.slice(0, slash);
  return (await completeDaemonSets(offered, prefix, connectionOf(position), io)).map(plain);
};

const lookUpRevisions = async (position: Position, io: Io): Promise<Candidate[]> => {
  const [daemonSet] = position.arguments;
  if (daemonSet === undefined) return [];
  const { completeRevisions } = await import('./candidates.ts');
  return await completeRevisions(daemonSet, connectionOf(position), io);
};

/** Candidates for the value of a flag: its choices, or objects of the cluster. Undefined for files. */
const valuesOf = async (option: Option, position: Position, io: Io): Promise<Candidate[] | undefined> => {
  if (option.argChoices) return option.argChoices.map(plain);
  const { long } = option;
  if (long === '--kubeconfig') return undefined;
  if (long === '--node' || long === '--namespace') return lookUp(long, position, io);
  return long === '--revision' || long === '--to-revision' ? lookUpRevisions(position, io) : [];
};

/** Commands that also accept DaemonSets that are not managed, or only those with a rollout. */
const filterOf: Readonly<Record<string, DaemonSetFilter>> = { status: 'rollout', history: 'any', undo: 'any' };

const wordsFor = async (position: Position, word: string, io: Io): Promise<Candidate[] | undefined> => {
  const { command, awaits } = position;
  const positional = position.arguments.length;
  if (awaits) return valuesOf(awaits, position, io);
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
  return lookUpDaemonSets(filterOf[command.name()] ?? 'served', word, position, io);
};

/** Candidates for the last of `words`. `files`: the shell completes file names instead. */
export const complete = async (
  program: Command,
  words: readonly string[],
  io: Io,
): Promise<{ candidates: Candidate[]; files: boolean }> => {
  const before = rejoin(words);
  const word = before.pop() ?? '';
  const position = locate(program, before);
  const assigned = word.startsWith('-') && word.includes('=') ? optionOf(position.command, word) : undefined;
  const start = assigned ? word.slice(word.indexOf('=') + 1) : word;
  const found = await (assigned ? valuesOf(assigned, position, io) : wordsFor(position, word, io));
  return {
    candidates: (found ?? []).filter(({ value }) => value.startsWith(start)),
    files: found === undefined,
  };
};

/** Prints candidates as cobra does: one per line, a tab before the description, and a directive at the end. */
export const printCompletions = async (program: Command, words: readonly string[], io: Io): Promise<void> => {
  const { candidates, files } = await complete(program, words, io);
  for (const { value, description } of candidates) io.stdout(description ? `${value}\t${description}\n` : `${value}\n`);
  io.stdout(`:${files ? OFFER_FILES : OFFER_NO_FILES}\n`);
};
