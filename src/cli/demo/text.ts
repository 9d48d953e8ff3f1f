import type { Availability } from './availability.ts';
import type { DemoOptions } from './options.ts';
import type { Part, Step } from './parts/index.ts';

/** What was counted while a part ran. */
export interface PartResult {
  part: Part;
  availability: Availability;
  /** Figures for the summary, in addition to those of every part. */
  figures: readonly [label: string, value: string][];
}

/** Starting the cluster, and what passes between two steps, in real time. */
const OVERHEAD_MS = 250;
const LABEL_WIDTH = 24;

const stepsOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + part.steps.length, 0);

/** How long the steps take in real time. */
export const estimateMs = (
  steps: readonly Pick<Step, 'takesMs'>[],
  { speed, readingMs }: { speed: number; readingMs: number },
): number => steps.reduce((sum, { takesMs }) => sum + takesMs / speed + readingMs + OVERHEAD_MS, 0);

/** `50 s`, or `1:20 min`. */
export const formatLeft = (ms: number): string => {
  const seconds = Math.round(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')} min`;
};

/** What will run, how long it takes, and what it leaves behind. */
export const introduction = (
  parts: readonly Part[],
  { speed, seed, keep }: Pick<DemoOptions, 'speed' | 'seed' | 'keep'>,
  readingMs: number,
): string[] => {
  const steps = stepsOf(parts);
  const all = parts.flatMap((part) => part.steps);
  const seconds = Math.ceil(estimateMs(all, { speed, readingMs }) / 5_000) * 5;
  return [
    'edgeset demo: a Kubernetes cluster inside this process, managed by edgeset.',
    `${steps} checked steps in about ${seconds} s. The cluster's time runs ${speed} times as fast as yours (seed ${seed}).`,
    `Nothing is installed, and nothing is left behind${keep ? ' after Ctrl-C' : ''}.`,
    '',
  ];
};

/** The results, in figures that the observers counted. */
export const summary = (
  results: readonly PartResult[],
  { elapsedMs, clusterMs }: { elapsedMs: number; clusterMs: number },
): string[] => {
  const row = ([label, value]: readonly [string, string]): string => `  ${label.padEnd(LABEL_WIDTH)}${value}`;
  const steps = stepsOf(results.map(({ part }) => part));
  return [
    '',
    `All ${steps} steps passed: ${(elapsedMs / 1000).toFixed(0)} s, ${(clusterMs / 60_000).toFixed(1)} minutes of the cluster's time.`,
    ...results.flatMap(({ part: { heading }, availability, figures }) => {
      const { down, limit } = availability.peak();
      return [
        '',
        `${heading.charAt(0).toUpperCase()}${heading.slice(1)}`,
        row(['pods replaced', `${availability.deletions().length}, none of them on an offline node`]),
        row(['most nodes down at once', `${down} of a budget of ${limit}`]),
        ...figures.map(row),
      ];
    }),
    '',
  ];
};

export const nextCommands: readonly string[] = [
  'Next:',
  '  npx edgeset demo --keep             the same, and the cluster keeps running for kubectl',
  '  npx edgeset demo --dashboard        the same on a page in your browser',
  '  npx edgeset demo fleet --fleet 400  a larger fleet',
  '  docs/how-to/roll-out.md             edgeset on your own cluster',
];

/** What to type in another terminal while the cluster keeps running. */
export const keptCluster = (parts: readonly Part[], kubeconfig: string, dashboard?: string): string[] => [
  ...(dashboard === undefined ? [] : ['The dashboard is still there. Its next page opens with:', dashboard]),
  'The cluster keeps running until Ctrl-C. In another terminal, in this directory:',
  '',
  `  export KUBECONFIG=${kubeconfig}`,
  ...parts.flatMap(({ tries }) => {
    const width = Math.max(...tries.map(([command]) => command.length));
    return ['', ...tries.map(([command, comment]) => `  ${command.padEnd(width)}  # ${comment}`)];
  }),
  '',
  'Once kubectl-edgeset is on your PATH, `kubectl edgeset` is the same as `npx edgeset`.',
];
