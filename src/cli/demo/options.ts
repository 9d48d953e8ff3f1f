import { OptionError } from '../../runtime/index.ts';
import { isPartName, type PartName, partNames } from './parts/index.ts';

/** The flags of `edgeset demo` as they were typed. */
export interface DemoFlags {
  keep?: boolean;
  fleet?: string;
  speed?: string;
  seed?: string;
  picture?: string;
}

export interface DemoOptions {
  /** Played in the order of the story, whatever the order of the words. */
  parts: readonly PartName[];
  /** Leave the cluster up until interrupted. */
  keep: boolean;
  /** Nodes of the fleet, 5 to 1,000. Default 40. */
  fleet: number;
  /** Seconds of the cluster in one of ours, 0.1 to 30. Default 10. */
  speed: number;
  /** What delays, names and the choice of nodes follow from. Default 1. */
  seed: number;
  /** File to write the picture of the fleet to; undefined: none. */
  picture: string | undefined;
}

const readNumber = (flag: string, text: string, low: number, high: number, whole: boolean): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high) || (whole && !Number.isInteger(value)))
    throw new OptionError(flag, `"${text}" does not fit: give a ${whole ? 'whole ' : ''}number from ${low} to ${high}`);
  return value;
};

const readParts = (words: readonly string[]): PartName[] => {
  const names = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
  for (const name of names)
    if (!isPartName(name))
      throw new OptionError(name, `is no part of the demo: give some of ${partNames.join(', ')}, or none for all`);
  return partNames.filter((name) => names.length === 0 || names.includes(name));
};

/** Validates what was typed and fills in the defaults. Throws an `OptionError` that names the first bad word. */
export const resolveDemoOptions = (words: readonly string[], flags: DemoFlags): DemoOptions => {
  const parts = readParts(words);
  if (flags.picture !== undefined && !parts.includes('fleet'))
    throw new OptionError('--picture', 'is drawn of the fleet: play the part fleet too');
  if (flags.picture === '') throw new OptionError('--picture', 'is empty: give the name of a file to write');
  return {
    parts,
    keep: flags.keep ?? false,
    fleet: readNumber('--fleet', flags.fleet ?? '40', 5, 1000, true),
    speed: readNumber('--speed', flags.speed ?? '10', 0.1, 30, false),
    seed: readNumber('--seed', flags.seed ?? '1', 0, 2 ** 32 - 1, true),
    picture: flags.picture,
  };
};
