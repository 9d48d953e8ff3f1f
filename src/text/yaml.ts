import { isScalar, type Node, type Pair, parseDocument, visit } from 'yaml';

/** Neither the parser's message nor the text is in it: the line may contain a secret. */
export class YamlError extends Error {
  override name = 'YamlError';
  /** From 1. Undefined when the text as a whole is refused. */
  readonly line: number | undefined;

  constructor(line: number | undefined, options?: ErrorOptions) {
    super(`is not valid YAML${line === undefined ? '' : ` (line ${line})`}`, options);
    this.line = line;
  }
}

const lineOf = (text: string, position: number): number => text.slice(0, position).split('\n').length;

const keyOf = ({ key }: Pair): string | undefined => (isScalar(key) ? String(key.value) : undefined);

/**
 * One document of YAML 1.2, in time that grows with its length: the library compares each key of a map with all others, and
 * words each error by going through the text, so both are done here. Throws a `YamlError`, also for a key that a map has twice.
 */
export const parseYaml = (text: string): unknown => {
  const document = parseDocument(text, { uniqueKeys: false, prettyErrors: false, logLevel: 'error' });
  const [error] = document.errors;
  if (error) throw new YamlError(lineOf(text, error.pos[0]), { cause: error });
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const pair of items) {
        const key = keyOf(pair);
        if (key !== undefined && seen.has(key)) throw new YamlError(lineOf(text, (pair.key as Node).range?.[0] ?? 0));
        if (key !== undefined) seen.add(key);
      }
    },
  });
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (cause) {
    throw new YamlError(undefined, { cause });
  }
};
