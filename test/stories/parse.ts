// A story is a text with blocks, in the manner of datadriven tests: commands, a line of dashes, and what happened until the next
// block. The first block begins with `cluster`.
//
//   # What the story is about.
//
//   cluster nodes=3 kind=native limit=1
//   run 30s
//   ----
//   ...
//
//   release image=app:v2
//   run 60s
//   ----
//   ...
//
// Commands:
//   cluster NAME=VALUE...   the fields of `Plan` (test/simulation/plan/plan.ts), with defaults
//   run DURATION            lets virtual time pass
//   until complete          lets it pass until every node that is online runs the target, and the status says so
//   WHAT NAME=VALUE...      an `Operation` of the simulation: `offline node=node-1`, `crash who=leader`, ...
//
// A value that parses as JSON is what JSON says; others are texts.

export type Values = Readonly<Record<string, unknown>>;
export interface Command {
  line: string;
  name: string;
  /** Words without `=`. */
  words: readonly string[];
  values: Values;
}
export interface Block {
  commands: readonly Command[];
}
export interface Story {
  about: string;
  blocks: readonly Block[];
}

const RULE = '----';

const valueOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const commandOf = (line: string): Command => {
  const [name = '', ...parts] = line.split(' ');
  const pairs = parts.filter((part) => part.includes('=')).map((part) => part.split(/=(.*)/s));
  return {
    line,
    name,
    words: parts.filter((part) => !part.includes('=')),
    values: Object.fromEntries(pairs.map(([key = '', value = '']) => [key, valueOf(value)])),
  };
};

export const parseStory = (text: string): Story => {
  const [head = '', ...rest] = text.split(/\n(?=cluster )/);
  const blocks = rest
    .join('\n')
    .split(/\n\n/)
    .filter((block) => block.trim() !== '')
    .map((block): Block => {
      const [commands = ''] = block.split(`\n${RULE}`);
      return { commands: commands.trim().split('\n').map(commandOf) };
    });
  return { about: head.trim(), blocks };
};

export const formatStory = ({ about, blocks }: Story, happened: readonly string[]): string =>
  `${[
    about,
    ...blocks.map(({ commands }, index) =>
      [...commands.map(({ line }) => line), RULE, ...(happened[index] ? [happened[index]] : [])].join('\n'),
    ),
  ].join('\n\n')}\n`;
