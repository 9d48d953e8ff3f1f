import type { Command, Option } from 'commander';

// What the commands accept and report beyond commander.

export const takesValue = ({ required, optional }: Option): boolean => required || optional;

/** The option that a word such as `-n`, `--namespace` or `--namespace=shop` names; before a command, of any command. */
export const findOption = (command: Command, word: string): Option | undefined => {
  const [name] = word.split('=', 1);
  const named = ({ options }: Command): Option | undefined =>
    options.find(({ long, short }) => long === name || short === name);
  return named(command) ?? command.commands.map(named).find((option) => option !== undefined);
};

/** Whether the word after `word` is the value of `option`. A value that is optional stands behind `=`. */
const awaitsValue = (option: Option, word: string): boolean => option.required && !word.includes('=');

/** The forms that only kubectl accepts: `-o=json`, `--watch=true` for `--watch`, and `--watch=false` for its absence. */
const spellOut = (program: Command, args: readonly string[]): string[] => {
  const end = args.indexOf('--');
  return args.flatMap((word, index) => {
    const [, name = '', value = ''] = /^(--[\w-]+)=(true|false)$/.exec(word) ?? /^(-\w)=?([^]+)$/.exec(word) ?? [];
    const option = name !== '' && (end < 0 || index < end) ? findOption(program, name) : undefined;
    if (!option) return [word];
    if (name.startsWith('--')) return takesValue(option) ? [word] : value === 'true' ? [name] : [];
    return option.required ? [name, value] : [word];
  });
};

const HELP: ReadonlySet<string> = new Set(['-h', '--help']);

/** Moves flags that stand before the command, such as `-n shop status`, behind it, where commander expects them. */
export const flagsAfterCommand = (program: Command, words: readonly string[]): string[] => {
  const args = spellOut(program, words);
  const flags: string[] = [];
  let at = 0;
  for (let word = args[0]; word?.startsWith('-') && word !== '--'; word = args[at]) {
    const option = findOption(program, word);
    // The program's own flags need no others: `-n shop --help` is `--help`.
    if (HELP.has(word) || (option && program.options.includes(option))) return args.slice(at);
    // No command has it, which is commander's to say.
    if (!option) return args;
    const length = awaitsValue(option, word) ? 2 : 1;
    flags.push(...args.slice(at, at + length));
    at += length;
  }
  const [command, ...rest] = args.slice(at);
  if (command === '--') return args;
  return command === undefined ? [] : [command, ...flags, ...rest];
};

const listOf = (words: readonly string[]): string =>
  words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);

/** The remedy in commander's words for a value, as the second half of our sentence. */
const cureOf = (advice: string): string => {
  const [, choices] = /^Allowed choices are (.*?)\.?$/.exec(advice) ?? [];
  return choices === undefined ? lowerFirst(advice.replace(/\.$/, '')) : `give ${listOf(choices.split(', '))}`;
};

type Wording = readonly [pattern: RegExp, say: (...parts: string[]) => string];

const wordings: readonly Wording[] = [
  [
    /^option '(?:-\w, )?(--[\w-]+)(?![\w-])[^']*' argument '([^]*)' is invalid\. ([^]*)$/,
    (flag, value, advice) => `${flag}: "${value}" is not valid: ${cureOf(advice ?? '')}`,
  ],
  [
    /^command-argument value '([^]*)' is invalid for argument '(.*)'\. ([^]*)$/,
    (value, name, advice) => `${name}: "${value}" is not valid: ${cureOf(advice ?? '')}`,
  ],
  [
    /^option '(?:-\w, )?(--[\w-]+) (.*)' argument missing$/,
    (flag, value) => `${flag}: the value is missing: give ${flag} ${value}`,
  ],
  [/^required option '(--[\w-]+) (.*)' not specified$/, (flag, value) => `${flag} is required: give ${flag} ${value}`],
  [
    /^option '(?:-\w, )?(--[\w-]+)(?![\w-])[^']*' cannot be used with option '(?:-\w, )?(--[\w-]+)(?![\w-])[^']*'$/,
    (one, other) => `${one} conflicts with ${other}: give one of them`,
  ],
  [/^missing required argument '(.*)'$/, (name) => `the argument <${name}> is missing`],
  [
    /^too many arguments.* Expected (\d+) arguments? but got (\d+): ([^]*)\.$/,
    (expected, received, words) => `too many arguments: expected ${expected} but got ${received} (${words})`,
  ],
  [
    /^(unknown (?:option|command)) '([^]*?)'(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/,
    (what, word, similar) =>
      `${what} "${word}"${similar === undefined ? '' : `: did you mean ${listOf(similar.split(', '))}?`}`,
  ],
];

/** An error of commander as one sentence of ours. `help`: the command that prints what is accepted. */
export const usageError = (text: string, help: string): string => {
  const bare = text.trim().replace(/^error: /, '');
  for (const [pattern, say] of wordings) {
    const [, ...parts] = pattern.exec(bare) ?? [];
    if (parts.length > 0) {
      const sentence = say(...parts);
      const cured = /: [^:]*(?:give|put) /.test(sentence);
      return cured ? sentence : `${sentence}${sentence.endsWith('?') ? ' Run' : ': run'} "${help} --help"`;
    }
  }
  return `${bare}: run "${help} --help"`;
};

export type Example = readonly [words: string, does: string];

/** The end of a command's help, for `addHelpText`: what follows the name of the program, and what that does. */
export const examples =
  (...list: readonly Example[]) =>
  ({ command }: { command: Command }): string =>
    ['', 'Examples:', ...list.flatMap(([words, does]) => [`  # ${does}`, `  ${command.parent?.name()} ${words}`])].join(
      '\n',
    );
