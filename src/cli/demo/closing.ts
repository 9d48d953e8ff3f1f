import type { DemoOptions } from './options.ts';
import type { Part } from './parts/index.ts';
import type { Witness } from './witness.ts';

/** Of our own time, for a step at the default speed on a slow machine. */
const SECONDS_A_STEP = 4;

/** The first words: what is going to happen, how long it takes and what it leaves behind. */
export const opening = (parts: readonly Part[], { speed, seed, keep }: DemoOptions): string[] => {
  const steps = parts.reduce((sum, part) => sum + part.steps.length, 0);
  const seconds = Math.ceil((steps * SECONDS_A_STEP * 10) / speed / 10) * 10;
  return [
    "edgeset demo: a Kubernetes cluster inside this process, edgeset's manager on it,",
    `${steps} checked steps, about ${seconds} s. Time runs ${speed} times as fast as yours (seed ${seed}).`,
    `Nothing is installed, nothing is left behind${keep ? ' once you press Ctrl-C' : ''}.`,
    '',
  ];
};

interface Figures {
  elapsedMs: number;
  clusterMs: number;
}

const LABEL_WIDTH = 24;
const row = (label: string, value: string): string => `  ${label.padEnd(LABEL_WIDTH)}${value}`;

const minutes = (ms: number): string => `${(ms / 60_000).toFixed(1)} minutes`;

/** What was shown, in figures that the witness counted. */
export const summary = (
  played: readonly { part: Part; witness: Witness }[],
  { elapsedMs, clusterMs }: Figures,
): string[] => [
  '',
  `All ${played.reduce((sum, { part }) => sum + part.steps.length, 0)} steps held: ${(elapsedMs / 1000).toFixed(0)} s, ${minutes(clusterMs)} of the cluster's time.`,
  ...played.flatMap(({ part, witness: { meter } }) => {
    const { down, limit } = meter.peak();
    return [
      '',
      `${part.heading.charAt(0).toUpperCase()}${part.heading.slice(1)}`,
      row('pods replaced', `${meter.takes().length}, none of them on an offline node`),
      row('most nodes down at once', `${down} of a budget of ${limit}`),
      ...part.figures().map(([label, value]) => row(label, value)),
    ];
  }),
  '',
];

/** After a run that leaves nothing behind. */
export const whatNext = (): string[] => [
  'Next:',
  '  npm run demo -- --keep             the same; the cluster stays up for kubectl',
  '  npm run demo -- fleet --fleet 400  a larger fleet',
  '  docs/how-to/roll-out.md             edgeset on a cluster of yours',
];

/** With the cluster still up: what to type in another terminal. */
export const kept = (parts: readonly Part[], kubeconfig: string): string[] => [
  'The cluster stays up until Ctrl-C. In another terminal, in this folder:',
  '',
  `  export KUBECONFIG=${kubeconfig}`,
  ...parts.flatMap(({ tries }) => {
    const width = Math.max(...tries.map(([command]) => command.length));
    return ['', ...tries.map(([command, what]) => `  ${command.padEnd(width)}  # ${what}`)];
  }),
  '',
  'With bin/ on PATH, `kubectl edgeset` is the same as `npx edgeset`.',
];
