import { type Json, mapField, scalarText, textOf } from '../../json.ts';

const DECIMAL = ['n', 'u', 'm', '', 'k', 'M', 'G', 'T', 'P', 'E'];
/** The place of the unit without a suffix. */
const UNIT = DECIMAL.indexOf('');
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const FORM = /^([+-]?)(\d*)(?:\.(\d*))?(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?$/;

/** The exact value in billionths and the suffix family; undefined if it isn't a quantity. */
const read = (text: string): { nano: bigint; binary: boolean; hasExponent: boolean } | undefined => {
  const match = FORM.exec(text);
  if (!match) return undefined;
  const [, sign, whole = '', fraction = '', suffix = '', exponent] = match;
  if (whole === '' && fraction === '') return undefined;
  const binary = suffix.endsWith('i');
  let nano = BigInt(`${whole}${fraction}` || '0') * 10n ** 9n;
  if (binary) nano *= 1024n ** BigInt(BINARY.indexOf(suffix));
  const power =
    (binary ? 0 : exponent === undefined ? (DECIMAL.indexOf(suffix) - UNIT) * 3 : Number(exponent)) - fraction.length;
  if (Math.abs(power) > 40) return undefined;
  // Values finer than a billionth round up.
  nano = power >= 0 ? nano * 10n ** BigInt(power) : (nano + 10n ** BigInt(-power) - 1n) / 10n ** BigInt(-power);
  return { nano: sign === '-' ? -nano : nano, binary, hasExponent: exponent !== undefined };
};

// Cached: each heartbeat of a node repeats the same quantities.
const canonical = new Map<string, string>();
const MOST_KNOWN = 10_000;

/** The canonical form of a quantity: `1000m` as `1`, `0.5` as `500m`, `1024Ki` as `1Mi`. */
export const canonicalQuantity = (given: unknown): unknown => {
  const text = typeof given === 'number' ? String(given) : given;
  if (typeof text !== 'string') return given;
  const found = canonical.get(text);
  if (found !== undefined) return found;
  const made = written(text);
  if (made === undefined) return given;
  if (canonical.size < MOST_KNOWN) canonical.set(text, made);
  return made;
};

const MILLI = 10n ** 6n;

/** The amount with at most three decimals; the API server rounds the amounts of a resource list up. */
const roundedUp = (given: unknown): unknown => {
  if (typeof given !== 'number' && !FINE.test(textOf(given))) return given;
  const nano = read(String(given))?.nano;
  if (nano === undefined || nano % MILLI === 0n) return given;
  // Go rounds away from zero.
  const whole = nano / MILLI + (nano < 0n ? -1n : 1n);
  return `${whole}m`;
};

/** Amounts that may be finer than a thousandth. */
const FINE = /[nu.eE]/;

const written = (text: string): string | undefined => {
  const parsed = read(text);
  if (!parsed) return undefined;
  const { nano, binary, hasExponent } = parsed;
  if (nano === 0n) return '0';
  if (binary && nano % 10n ** 9n === 0n) {
    let value = nano / 10n ** 9n;
    let step = 0;
    while (value % 1024n === 0n && step < BINARY.length - 1) {
      value /= 1024n;
      step += 1;
    }
    return `${value}${BINARY[step]}`;
  }
  let value = nano;
  let step = 0;
  while (value % 1000n === 0n && step < DECIMAL.length - 1) {
    value /= 1000n;
    step += 1;
  }
  const power = (step - UNIT) * 3;
  return `${value}${hasExponent ? (power === 0 ? '' : `e${power}`) : DECIMAL[step]}`;
};

/** Whether an amount has no fraction. What is no quantity has none. */
export const isWholeNumber = (given: unknown): boolean =>
  given === undefined || (read(scalarText(given, ''))?.nano ?? 0n) % 10n ** 9n === 0n;

/** Whether the value is a quantity. */
export const isQuantity = (given: unknown): boolean =>
  (typeof given === 'number' && Number.isFinite(given)) || (typeof given === 'string' && read(given) !== undefined);

/** A resource list with canonical quantities, rounded up to thousandths. */
export const canonicalQuantities = (list: Json): Json => {
  let copy: Record<string, unknown> | undefined;
  for (const name in list) {
    const next = canonicalQuantity(roundedUp(list[name]));
    if (next !== list[name]) (copy ??= { ...list })[name] = next;
  }
  return copy ?? list;
};

/** The same for the limits and requests of what has resources. */
export const canonicalResources = (owner: Json): Json =>
  mapField(owner, 'resources', (resources) =>
    mapField(mapField(resources, 'limits', canonicalQuantities), 'requests', canonicalQuantities),
  );

/** Compares two quantities: negative, 0 or positive. */
export const compareQuantities = (a: unknown, b: unknown): number => {
  const [x, y] = [a, b].map((each) => read(String(each))?.nano ?? 0n);
  return x === undefined || y === undefined || x === y ? 0 : x < y ? -1 : 1;
};
