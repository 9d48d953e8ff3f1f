import { knownKeys, OPENYURT_PREFIX, PREFIX, settingKeys } from '../../words/index.ts';
import type { PolicyError } from './values.ts';

// A key that is almost one of ours decides nothing, and the rollout runs without what it was meant to say.

/** Further ones are not reported: a rollout that is held by ten is held. */
const MAX_REPORTED = 10;
/** Longer names are none of ours, and would take long to compare. */
const LONGEST = 63;

const nameOf = (key: string): string => key.slice(key.indexOf('/') + 1);

/** What remains of a key's name when case and separators don't count: `maxUnavailable` is spelled like `max-unavailable`. */
const lettersOf = (key: string): string => nameOf(key).toLowerCase().replaceAll(/[-_.]/g, '');

/** The number of letters to insert, remove, replace or swap with their neighbour to turn `a` into `b`. */
export const editDistance = (a: string, b: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const edited = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(swapped ? Math.min(edited, (beforeLast[j - 2] ?? 0) + 1) : edited);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
};

/** How far a name may be from this one to be taken for it. */
const toleranceOf = (letters: string): number => (letters.length < 8 ? 1 : 2);

/** The settings in the order of how close their names are to `key`'s; of equally close ones, the same prefix first. */
const closest = (key: string): { meant: string; distance: number } | undefined => {
  const letters = lettersOf(key);
  if (letters.length > LONGEST) return undefined;
  const prefix = key.slice(0, key.indexOf('/') + 1);
  return settingKeys
    .map((meant) => ({ meant, distance: editDistance(letters, lettersOf(meant)) }))
    .toSorted(
      (a, b) => a.distance - b.distance || Number(b.meant.startsWith(prefix)) - Number(a.meant.startsWith(prefix)),
    )[0];
};

/**
 * The setting that an unknown key was meant to be. Under our own prefix every unknown key is a mistake, and the setting is
 * undefined if none is similar; OpenYurt has its own keys, so that only those that are very close to one of ours are.
 */
export const misspelling = (key: string): { meant: string | undefined } | undefined => {
  const own = key.startsWith(PREFIX);
  if ((!own && !key.startsWith(OPENYURT_PREFIX)) || knownKeys.has(key)) return undefined;
  const found = closest(key);
  const letters = found ? lettersOf(found.meant) : '';
  // Nothing else can be meant under our prefix, so a more distant name is worth naming.
  const tolerance = toleranceOf(letters) + (own ? Math.floor(letters.length / 6) : 0);
  if (found && found.distance <= tolerance) return { meant: found.meant };
  return own ? { meant: undefined } : undefined;
};

/**
 * The keys that are mistakes, as errors of the policy.
 * @param fields What the kind of DaemonSet has in place of some settings.
 */
export const misspelledKeys = (
  annotations: Readonly<Record<string, string>>,
  fields: Readonly<Record<string, string>> = {},
): PolicyError[] => {
  const errors: PolicyError[] = [];
  for (const [key, value] of Object.entries(annotations)) {
    const mistake = misspelling(key);
    if (!mistake) continue;
    const { meant } = mistake;
    const field = meant === undefined ? undefined : fields[meant];
    errors.push({
      field: key,
      value,
      problem: 'is not an annotation that edgeset knows',
      remedy:
        meant === undefined
          ? 'remove it, or correct its name'
          : field === undefined
            ? `rename it to ${meant}`
            : `remove it, and set ${field}`,
    });
    if (errors.length === MAX_REPORTED) break;
  }
  return errors;
};

const quoted = (letters: string): string => letters.replaceAll(/[^a-z0-9]/g, String.raw`\$&`);

/**
 * Every setting with a regular expression for the lower-case letters of names that are taken for it. It covers one mistake,
 * and none that `misspelling` would not, so that it stays short enough for a policy of the API server.
 */
export const spellings = (): { meant: string; letters: string }[] =>
  settingKeys.map((meant) => {
    const letters = lettersOf(meant);
    const at = (index: number, length: number, pattern: string): string =>
      quoted(letters.slice(0, index)) + pattern + quoted(letters.slice(index + length));
    const letter = toleranceOf(letters) > 1 ? '.{0,2}' : '.?';
    const one = Array.from(letters, (_, index) => at(index, 1, letter));
    const more = toleranceOf(letters) > 1 ? [] : Array.from({ length: letters.length + 1 }, (_, i) => at(i, 0, '.'));
    const swapped = Array.from(letters.slice(1), (second, i) => at(i, 2, `${second}${letters[i]}`));
    return { meant, letters: `^(${[...one, ...more, ...swapped].join('|')})$` };
  });
