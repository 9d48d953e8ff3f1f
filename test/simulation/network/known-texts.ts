/**
 * Texts that stand for what the server and its clients send: who parses them with `parse` gets the value itself. Objects are
 * neither written as JSON nor read from it, which would be a tenth of the cost of a simulation.
 */
export interface KnownTexts {
  /** JSON in form, so that a text that is cut short cannot be parsed. Nobody may change the value. */
  textFor: (value: unknown) => string;
  /** Like `JSON.stringify`, for a value that may be changed afterwards. */
  stringify: (value: unknown) => string;
  /** Like `JSON.parse`, for other texts as well. */
  parse: (text: string) => unknown;
}

const BEGIN = '{"known":';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const createKnownTexts = (): KnownTexts => {
  const values: unknown[] = [];
  /** Parts of values that nobody changes. */
  const fixed = new WeakSet<object>();
  /** A client often sends most parts of an object back as it got them. */
  const fix = (value: unknown, depth: number): void => {
    if (!isObject(value) || fixed.has(value)) return;
    fixed.add(value);
    if (depth > 0) for (const name in value) fix(value[name], depth - 1);
  };
  /** What is left of a value that is written as JSON and read again. */
  const copyOf = (value: unknown): unknown => {
    if (typeof value === 'number') return Number.isFinite(value) ? value : null;
    if (!isObject(value) || fixed.has(value)) return value;
    if (Array.isArray(value)) return value.map((item) => copyOf(item) ?? null);
    if (typeof value.toJSON === 'function') return JSON.parse(JSON.stringify(value));
    const copy: Record<string, unknown> = {};
    for (const name of Object.keys(value)) if (value[name] !== undefined) copy[name] = copyOf(value[name]);
    return copy;
  };
  const known = (value: unknown): string => `${BEGIN}${values.push(value) - 1}}`;
  return {
    textFor(value) {
      fix(value, 2);
      return known(value);
    },
    stringify: (value) => known(copyOf(value)),
    parse: (text) =>
      text.startsWith(BEGIN) ? values[Number(text.slice(BEGIN.length, -1))] : (JSON.parse(text) as unknown),
  };
};
