import { invalidFor, invalidValue, requiredField, type StatusCause, tooLong } from '../../errors.ts';

// The alphabet of k8s.io/apimachinery/pkg/util/rand.
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';
const SUFFIX_LENGTH = 5;

export const randomSuffix = (random: () => number): string => {
  let text = '';
  for (let index = 0; index < SUFFIX_LENGTH; index += 1)
    text += ALPHABET[Math.floor(random() * ALPHABET.length)] ?? 'b';
  return text;
};

const LONGEST_GENERATED = 63;

export const generatedName = (prefix: string, random: () => number): string =>
  `${prefix.slice(0, LONGEST_GENERATED - SUFFIX_LENGTH)}${randomSuffix(random)}`;

/** A version 4 UUID from the given random source. */
export const randomUid = (random: () => number): string => {
  let hex = '';
  for (let index = 0; index < 4; index += 1)
    hex += Math.floor(random() * 0x1_0000_0000)
      .toString(16)
      .padStart(8, '0');
  const variant = '89ab'[Math.floor(random() * 4)] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
};

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

const subdomainErrors = (name: string): string[] => {
  const errors = name.length > 253 ? ['must be no more than 253 characters'] : [];
  if (!SUBDOMAIN.test(name))
    errors.push(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
    );
  return errors;
};

const labelErrors = (name: string): string[] => {
  const errors = name.length > 63 ? ['must be no more than 63 characters'] : [];
  if (LABEL.test(name)) return errors;
  if (SUBDOMAIN.test(name)) errors.push('must not contain dots');
  else
    errors.push(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')",
    );
  return errors;
};

const pathErrors = (name: string): string[] => {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
};

const rules = { subdomain: subdomainErrors, label: labelErrors, path: pathErrors };

export const nameErrors = (name: string, rule: keyof typeof rules): string[] => rules[rule](name);

export const validateName = (name: string, rule: keyof typeof rules): StatusCause[] =>
  invalidFor('metadata.name', name, rules[rule](name));

/** A name that is required, and a DNS label. */
export const labelCauses = (name: unknown, field: string): StatusCause[] =>
  typeof name === 'string' && name !== '' ? invalidFor(field, name, labelErrors(name)) : [requiredField(field)];

const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

const NAME_PART =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

// Cached: the same few keys are on every object.
const goodKeys = new Set<string>();
const MOST_GOOD_KEYS = 10_000;

export const qualifiedNameErrors = (key: string): string[] => {
  if (goodKeys.has(key)) return [];
  const errors = keyErrors(key);
  if (errors.length === 0 && goodKeys.size < MOST_GOOD_KEYS) goodKeys.add(key);
  return errors;
};

const keyErrors = (key: string): string[] => {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2)
    return [
      "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
    ];
  const errors: string[] = [];
  if (parts.length === 2) {
    if (parts[0] === '') errors.push('prefix part must be non-empty');
    else errors.push(...subdomainErrors(parts[0] ?? '').map((detail) => `prefix part ${detail}`));
  }
  if (name === '') errors.push('name part must be non-empty');
  else if (name.length > 63) errors.push('name part must be no more than 63 characters');
  if (!QUALIFIED.test(name)) errors.push(NAME_PART);
  return errors;
};

const VALUE_RULE =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

export const labelValueErrors = (text: string): string[] => [
  ...(text.length > 63 ? ['must be no more than 63 characters'] : []),
  ...(VALUE.test(text) ? [] : [VALUE_RULE]),
];

export const validateLabels = (labels: Readonly<Record<string, unknown>>, field: string): StatusCause[] => {
  const causes: StatusCause[] = [];
  for (const key of Object.keys(labels)) {
    for (const detail of qualifiedNameErrors(key)) causes.push(invalidValue(field, key, detail));
    const text = String(labels[key]);
    if (text.length > 63) causes.push(invalidValue(field, text, 'must be no more than 63 characters'));
    if (!VALUE.test(text)) causes.push(invalidValue(field, text, VALUE_RULE));
  }
  return causes;
};

/** How many bytes all annotations of an object may have. */
const MOST_BYTES = 256 * 1024;

const bytesOf = (annotations: Readonly<Record<string, unknown>>): number =>
  Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(String(value)),
    0,
  );

export const validateAnnotations = (
  annotations: Readonly<Record<string, unknown>>,
  field = 'metadata.annotations',
): StatusCause[] => {
  const causes: StatusCause[] = [];
  for (const key of Object.keys(annotations))
    for (const detail of qualifiedNameErrors(key.toLowerCase())) causes.push(invalidValue(field, key, detail));
  let bytes = 0;
  // Cheap for the usual annotations: no text has more than three bytes for each of its characters.
  for (const key in annotations) bytes += 3 * (key.length + String(annotations[key]).length);
  if (bytes > MOST_BYTES && bytesOf(annotations) > MOST_BYTES) causes.push(tooLong(field, MOST_BYTES));
  return causes;
};
