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
  /** When the value was first written, actual time, epoch ms; undefined for other texts. */
  firstSentAt: (text: string) => number | undefined;
}

const BEGIN = '{"known":';

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

export const createKnownTexts = (now: () => number): KnownTexts => {
  const values: { value: unknown; at: number }[] = [];
  /** When each was first written: a client writes it again for each attempt. */
  const firstAt = new WeakMap<object, number>();
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
  const known = (value: unknown, at: number): string => `${BEGIN}${values.push({ value, at }) - 1}}`;
  const find = (text: string) => (text.startsWith(BEGIN) ? values[Number(text.slice(BEGIN.length, -1))] : undefined);
  return {
    textFor(value) {
      fix(value, 2);
      return known(value, now());
    },
    stringify(value) {
      const at = (isObject(value) ? firstAt.get(value) : undefined) ?? now();
      if (isObject(value)) firstAt.set(value, at);
      return known(copyOf(value), at);
    },
    parse(text) {
      const found = find(text);
      return found ? found.value : (JSON.parse(text) as unknown);
    },
    firstSentAt: (text) => find(text)?.at,
  };
};
