import type { Argument, Command, Option } from 'commander';
import { escapeLine } from '../../../text/index.ts';
import type { ConnectionFlags } from '../../../view/index.ts';
import { connectionOptions } from '../../flags.ts';
import type { Io } from '../../io.ts';
import { findOption, takesValue } from '../../usage.ts';
import type { Candidate, DaemonSetFilter } from './candidates.ts';

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
      const option = findOption(command, word);
      if (!option) continue;
      if (takesValue(option) && !word.includes('=')) awaits = option;
      else given.set(option.long ?? '', word.includes('=') ? word.slice(word.indexOf('=') + 1) : '');
      continue;
    }
    const inner = positional.length === 0 ? command.commands.find((one) => one.name() === word) : undefined;
    if (inner) command = inner;
    else positional.push(word);
  }
  return { command, arguments: positional, awaits, given };
};

const plain = (value: string): Candidate => ({ value, description: '' });

/** The flags so far that say how to reach the cluster. */
const connectionOf = ({ given }: Position): ConnectionFlags => {
  const flags: Record<string, unknown> = {};
  for (const option of connectionOptions()) {
    const value = given.get(option.long ?? '');
    if (value === undefined) continue;
    if (option.required) flags[option.attributeName()] = option.parseArg ? option.parseArg(value, undefined) : value;
    else flags[option.attributeName()] = true;
  }
  // Of several clusters, the first one says what there is.
  const [context = ''] = given.get('--contexts')?.split(',', 1) ?? [];
  if (context !== '') flags['context'] = context;
  return flags;
};

const lookUp = async (what: '--node' | '--namespace', position: Position, io: Io): Promise<Candidate[]> => {
  const { completeObjects } = await import('./candidates.ts');
  return (await completeObjects(what, connectionOf(position), io)).map(plain);
};

const lookUpInKubeconfig = async (
  flag: '--context' | '--cluster' | '--user',
  position: Position,
  io: Io,
): Promise<Candidate[]> => {
  const { completeKubeconfig } = await import('./candidates.ts');
  const what = { '--context': 'context', '--cluster': 'cluster', '--user': 'user' } as const;
  return (await completeKubeconfig(what[flag], connectionOf(position), io)).map(plain);
};

/** After those that the word has already, of which each is given once. */
const lookUpContexts = async (word: string, position: Position, io: Io): Promise<Candidate[]> => {
  const before = word.slice(0, word.lastIndexOf(',') + 1);
  const given = new Set(before.split(','));
  const found = await lookUpInKubeconfig('--context', position, io);
  return found.filter(({ value }) => !given.has(value)).map(({ value }) => plain(`${before}${value}`));
};

/** Commands that also accept DaemonSets that are not managed, or only those with a rollout. */
const filterOf: Readonly<Record<string, DaemonSetFilter>> = { status: 'rollout', history: 'any', undo: 'any' };

const lookUpDaemonSets = async (argument: Argument, word: string, position: Position, io: Io): Promise<Candidate[]> => {
  const { completeDaemonSets } = await import('./candidates.ts');
  const offered = filterOf[position.command.name()] ?? 'served';
  const flags = connectionOf(position);
  const [first] = position.arguments;
  const { isKind } = await import('../../../view/index.ts');
  if (first !== undefined && isKind(first)) {
    const found = await completeDaemonSets(offered, first, flags, io);
    return found.map((name) => plain(name.slice(first.length + 1)));
  }
  // A second word is the name only where the first one is a kind.
  if (argument.name() === 'name') return [];
  const slash = word.indexOf('/');
  const prefix = slash < 0 ? undefined : word.slice(0, slash);
  return (await completeDaemonSets(offered, prefix, flags, io)).map(plain);
};

/** Of the DaemonSet that the user has named. */
const lookUpOf = async (what: 'revisions' | 'stages', position: Position, io: Io): Promise<Candidate[]> => {
  if (position.arguments.length === 0) return [];
  const { completeRevisions, completeStages } = await import('./candidates.ts');
  const lookUpIn = what === 'revisions' ? completeRevisions : completeStages;
  return await lookUpIn(position.arguments.join('/'), connectionOf(position), io);
};

/** Flags that name a file. */
const FILES = ['--kubeconfig', '--certificate-authority', '--client-certificate', '--client-key'];

/** Candidates for the value of a flag, of which `word` is typed: its choices, or objects of the cluster. Undefined for files. */
const valuesOf = async (option: Option, word: string, position: Position, io: Io): Promise<Candidate[] | undefined> => {
  if (option.argChoices) return option.argChoices.map(plain);
  const { long } = option;
  if (FILES.includes(long ?? '')) return undefined;
  if (long === '--node' || long === '--namespace') return lookUp(long, position, io);
  if (long === '--context' || long === '--cluster' || long === '--user') return lookUpInKubeconfig(long, position, io);
  if (long === '--contexts') return lookUpContexts(word, position, io);
  if (long === '--stage') return lookUpOf('stages', position, io);
  return long === '--revision' || long === '--to-revision' ? lookUpOf('revisions', position, io) : [];
};

const wordsFor = async (position: Position, word: string, io: Io): Promise<Candidate[] | undefined> => {
  const { command, awaits } = position;
  const positional = position.arguments.length;
  if (awaits) return valuesOf(awaits, word, position, io);
  if (word.startsWith('-')) {
    // The help leaves out the flags that all commands have.
    const shared = command.options.filter(({ hidden }) => hidden);
    return [...command.createHelp().visibleOptions(command), ...shared].flatMap(({ long, description }) =>
      long ? [{ value: long, description }] : [],
    );
  }
  if (command.commands.length > 0 && positional === 0) {
    const inner = command.createHelp().visibleCommands(command);
    return inner.map((one) => ({ value: one.name(), description: one.description() }));
  }
  const last = command.registeredArguments.at(-1);
  const argument = command.registeredArguments[positional] ?? (last?.variadic ? last : undefined);
  if (argument?.argChoices) return argument.argChoices.map(plain);
  if (argument?.name() !== 'daemonset' && argument?.name() !== 'name') return [];
  return lookUpDaemonSets(argument, word, position, io);
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
  const assigned = word.startsWith('-') && word.includes('=') ? findOption(position.command, word) : undefined;
  const start = assigned ? word.slice(word.indexOf('=') + 1) : word;
  const found = await (assigned ? valuesOf(assigned, start, position, io) : wordsFor(position, word, io));
  return {
    candidates: (found ?? []).filter(({ value }) => value.startsWith(start)),
    files: found === undefined,
  };
};

/** Prints candidates as cobra does: one per line, a tab before the description, and a directive at the end. */
export const printCompletions = async (program: Command, words: readonly string[], io: Io): Promise<void> => {
  const { candidates, files } = await complete(program, words, io);
  for (const { value, description } of candidates)
    io.stdout(`${escapeLine(value)}${description && `\t${escapeLine(description)}`}\n`);
  io.stdout(`:${files ? OFFER_FILES : OFFER_NO_FILES}\n`);
};
