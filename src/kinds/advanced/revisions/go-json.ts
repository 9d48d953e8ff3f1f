// Go's encoder escapes these characters for safe embedding in HTML and JavaScript.
const escaped = /[<>&\u2028\u2029]/g;

const text = (value: string): string =>
  // Go replaces lone surrogates.
  JSON.stringify(value.toWellFormed()).replace(
    escaped,
    (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const byBytes = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Encodes a value as Go encodes a map: keys sorted by bytes, no white space, Go's escapes. */
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
