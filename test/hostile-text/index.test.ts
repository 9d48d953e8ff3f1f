import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { parsers, readNoText, slower } from './parsers.ts';

const MEGABYTE = 2 ** 20;

const repeated =
  (unit: string, end = '') =>
  (length: number): string =>
    unit.repeat(Math.ceil(length / unit.length)).slice(0, length) + end;
const nested =
  (open: string, close: string) =>
  (length: number): string =>
    `${open.repeat(length / (open.length + close.length))}1${close.repeat(length / (open.length + close.length))}`;

/** Each with an end that makes whatever has matched so far fail. */
const shapes: Readonly<Record<string, (length: number) => string>> = {
  digits: repeated('1', 'x'),
  zeros: repeated('0', '.x'),
  letters: repeated('a', '!'),
  capitals: repeated('A', '\n'),
  dots: repeated('.', '!'),
  dashes: repeated('-', '!'),
  slashes: repeated('/', 'x'),
  spaces: repeated(' ', 'x'),
  tabs: repeated('\t', 'x'),
  lines: repeated('\n', 'x'),
  signs: repeated('+-', 'x'),
  commas: repeated('a,', '('),
  equals: repeated('=', 'x'),
  negations: repeated('!', '='),
  colons: repeated(':', 'x'),
  stars: repeated('*a', '!'),
  quotes: repeated('"', 'x'),
  backslashes: repeated('\\', 'x'),
  braces: repeated('{{', 'x'),
  'open placeholders': repeated('${', 'x'),
  durations: repeated('1h', 'x'),
  labels: repeated('a.', '!'),
  NULs: repeated('\0', 'x'),
  accents: repeated('e\u0301', '\u0000'),
  emoji: repeated('\u{1F469}\u200D', 'x'),
  'halves of characters': repeated('\uD800', 'x'),
  'bidirectional marks': repeated('\u202E', 'x'),
  'nested lists': nested('[', ']'),
  'open lists': repeated('['),
  'nested objects': nested('{"a":', '}'),
  'nested parentheses': nested('(', ')'),
  'keys of a map': (length) =>
    Array.from({ length: length / 8 }, (_, key) => `${key.toString(36).padStart(4, '0')}: 1\n`).join(''),
  anchors: repeated('&a '),
  aliases: repeated('*a '),
  'text of JSON': (length) => JSON.stringify('\n'.repeat(length / 2)),
};

/** CPU milliseconds: what others run on the machine does not count. */
const cost = (work: () => unknown): number => {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
};

/** The least of a few: the garbage of earlier ones is collected at any time. */
const least = (work: () => unknown, enough: number): number => {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < 3 && best > enough; tries += 1) best = Math.min(best, cost(work));
  return best;
};

/** What it costs here to go through as many characters a few times, each time into a new text or list. */
const yardstick = (length: number): number =>
  least(() => {
    const text = 'a\u00e9'.repeat(length / 2);
    return [JSON.parse(JSON.stringify(text)) as unknown, Array.from(text), text.replaceAll(/\u00e9/g, ' ')];
  }, 0);

// A pattern that needs exponential time shows at the first length, and one that needs quadratic time at the next ones, so that
// none takes more than seconds to be found. At the last, a linear one takes as long as a few passes.
const LENGTHS = [24, 2 ** 14, 2 ** 17, MEGABYTE];
const PASSES = 20;
/** A few milliseconds are noise. */
const FLOOR_MS = 100;
/** Whatever the machine: the manager's probes have to be answered. */
const LID_MS = 2_000;

describe('a megabyte of hostile text', () => {
  const allowed = new Map(LENGTHS.map((length) => [length, Math.min(LID_MS, FLOOR_MS + PASSES * yardstick(length))]));
  for (const [name, parse] of Object.entries(parsers))
    it(`takes ${name} about as long as to go through it`, () => {
      for (const [shape, make] of Object.entries(shapes))
        for (const [length, usual] of allowed) {
          const times = slower[name] ?? 1;
          // Seconds each, and nothing that the length before does not show.
          if (times > 1 && length === MEGABYTE) continue;
          const most = usual * times;
          const text = make(length);
          const took = least(() => parse(text), most);
          assert.ok(took <= most, `${length} characters of ${shape} took ${took} ms, more than ${most} ms`);
        }
    });
});

it('every parser of the shipped code has a row', () => {
  const files = globSync('{src,web}/**/*.{ts,tsx}').filter(
    (file) => !/\.test\.ts|\/testing\/|^src\/cli\/demo\/|^web\/.*api\.ts/.test(file),
  );
  const exported = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^export (?:const|function) ((?:parse|read|compile)[A-Z]\w*)/gm)].map(
      ([, name = '']) => name,
    ),
  );
  assert.ok(exported.length > 50);
  assert.deepEqual(
    exported.filter((name) => !(name in parsers) && !(name in readNoText)),
    [],
    'add a row to parsers.ts',
  );
  assert.deepEqual(
    Object.keys(readNoText).filter((name) => !exported.includes(name)),
    [],
    'remove the row',
  );
});
