/**
 * Texts that stand for what the server sends: a client that parses with `parse` gets the value itself. Large objects are
 * neither written as JSON nor read from it, which would be a tenth of the cost of a simulation.
 */
export interface KnownTexts {
  /** JSON in form, so that a text that is cut short cannot be parsed. Nobody may change the value. */
  textFor: (value: unknown) => string;
  /** Like `JSON.parse`, for other texts as well. */
  parse: (text: string) => unknown;
}

const BEGIN = '{"known":';

export const createKnownTexts = (): KnownTexts => {
  const values: unknown[] = [];
  return {
    textFor: (value) => `${BEGIN}${values.push(value) - 1}}`,
    parse: (text) =>
      text.startsWith(BEGIN) ? values[Number(text.slice(BEGIN.length, -1))] : (JSON.parse(text) as unknown),
  };
};
