import { OptionError } from '../../runtime/index.ts';
import { type PartName, partNames } from './parts/index.ts';

/** The flags of `edgeset demo` as given. */
export interface DemoFlags {
  keep?: boolean;
  dashboard?: boolean;
  /** False with --no-browser. */
  browser?: boolean;
  fleet?: string;
  speed?: string;
  seed?: string;
  picture?: string;
}

export interface DemoOptions {
  /** In the order in which the demo runs them, whatever the order of the arguments. */
  parts: readonly PartName[];
  /** Keep the cluster running until interrupted. */
  keep: boolean;
  /** Serve the dashboard of the cluster, which is kept then. */
  dashboard: boolean;
  /** Number of nodes in the fleet, 5 to 1,000. Default 40. */
  fleet: number;
  /** Speed of the cluster's time, 0.1 to 30 times real time. Default 10. */
  speed: number;
  /** Determines delays, names and the choice of nodes. Default 1. */
  seed: number;
  /** File for the picture of the fleet. Default: none. */
  picture: string | undefined;
}

const readNumber = (flag: string, text: string, low: number, high: number, whole: boolean): number => {
  const value = Number(text);
  if (text.trim() === '' || !(value >= low && value <= high) || (whole && !Number.isInteger(value)))
    throw new OptionError(
      flag,
      `"${text}" is out of range: give a ${whole ? 'whole ' : ''}number from ${low} to ${high}`,
    );
  return value;
};

const readParts = (words: readonly string[]): PartName[] => {
  const names = words.flatMap((word) => word.split(',')).filter((word) => word !== '');
  const known: readonly string[] = partNames;
  for (const name of names)
    if (!known.includes(name))
      throw new OptionError(
        name,
        `is not a part of the demo: give one or more of ${known.join(', ')}, or none for all`,
      );
  return partNames.filter((name) => names.length === 0 || names.includes(name));
};

/** Validates the arguments and fills in defaults. Throws an `OptionError` that names the first invalid one. */
export const resolveDemoOptions = (words: readonly string[], flags: DemoFlags): DemoOptions => {
  const parts = readParts(words);
  if (flags.picture !== undefined && !parts.includes('fleet'))
    throw new OptionError('--picture', 'shows the fleet: also run the part fleet');
  if (flags.browser === false && !flags.dashboard)
    throw new OptionError('--no-browser', 'is about the dashboard: also give --dashboard');
  if (flags.picture === '') throw new OptionError('--picture', 'is empty: give the name of a file');
  return {
    parts,
    keep: (flags.keep || flags.dashboard) ?? false,
    dashboard: flags.dashboard ?? false,
    fleet: readNumber('--fleet', flags.fleet ?? '40', 5, 1000, true),
    speed: readNumber('--speed', flags.speed ?? '10', 0.1, 30, false),
    seed: readNumber('--seed', flags.seed ?? '1', 0, 2 ** 32 - 1, true),
    picture: flags.picture,
  };
};
