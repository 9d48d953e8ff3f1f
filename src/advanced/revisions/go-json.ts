// Go's encoder escapes what could end a script or a line of JavaScript.
const escaped = /[<>&\u2028\u2029]/g;

const text = (value: string): string =>
  // Half a surrogate pair is no character to Go.
  JSON.stringify(value.toWellFormed()).replace(
    escaped,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const byBytes = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The value as Go writes a map: keys in the order of their bytes, no blanks, and Go's own escapes. */
export const goJson = (value: unknown): string => {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return `[${(value as unknown[]).map((item) => goJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .toSorted(byBytes)
    .map(([key, item]) => `${text(key)}:${goJson(item)}`);
  return `{${fields.join(',')}}`;
};
