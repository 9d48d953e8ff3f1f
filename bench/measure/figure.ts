/** One printed line. */
export interface Figure {
  name: string;
  /** What was measured, with what is needed to read it. */
  measured: string;
  /** What it is held against. */
  goal: string;
  /** Undefined where nothing is promised. */
  met: boolean | undefined;
}

export interface RunOptions {
  /** Smaller fleets, for a look: the verdicts are those of the small size. */
  quick: boolean;
}

export interface Benchmark {
  name: string;
  /** Flags of Node for its process. Default none. */
  flags?: readonly string[];
  /** Those of minutes give each figure as soon as they have it. */
  run(options: RunOptions): Promise<Figure[]> | AsyncIterable<Figure>;
}

export const formatFigure = ({ name, measured, goal, met }: Figure): string => {
  const verdict = met === undefined ? '-' : met ? 'ok' : 'MISSED';
  return `${name.padEnd(22)} ${measured} | ${goal} | ${verdict}`;
};

const MIB = 1024 * 1024;
export const mib = (bytes: number): string => `${(bytes / MIB).toFixed(bytes < 10 * MIB ? 1 : 0)} MiB`;
/** 10^6 bytes each, as memory requests are often given. */
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
export const percent = (share: number): string => `${Math.round(share * 100)} %`;
