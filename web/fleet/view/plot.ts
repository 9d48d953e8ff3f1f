import uPlot from 'uplot';
import { text } from '../text/index.ts';
import type { Moment } from './moments.ts';

export interface PlottedLine {
  title: string;
  value: (moment: Moment) => number;
  /** Nodes at the target are many, slots and failures few: each has an axis. */
  scale: 'nodes' | 'few';
  /** Of the style sheet. */
  color: string;
  /** Tells the lines apart without colors. */
  dash: readonly number[];
}

export const lines: readonly PlottedLine[] = [
  { title: text.timeLine.updated, value: ({ updated }) => updated, scale: 'nodes', color: '--updated', dash: [] },
  { title: text.timeLine.inUse, value: ({ inUse }) => inUse, scale: 'few', color: '--updating', dash: [7, 3] },
  { title: text.timeLine.failed, value: ({ failed }) => failed, scale: 'few', color: '--failed', dash: [2, 3] },
];

const HEIGHT = 150;
/** So that a line at the top is seen. */
const HEADROOM = 1.04;
const DAY_S = 86_400;
const MINUTE_S = 60;
/** Nodes and slots are whole. */
const WHOLE = [1, 2, 5]
  .flatMap((step) => [1, 10, 100, 1_000, 10_000].map((factor) => step * factor))
  .toSorted((a, b) => a - b);

/** Between two times of the axis, seconds. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30].flatMap((step) => [step, step * MINUTE_S]);
const LONG_STEPS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672].map((hours) => hours * 3_600);

// Made once: to make one takes longer than to draw the whole plot.
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const [days, minutes, seconds] = [
  { month: 'short', day: 'numeric' } as const,
  clock,
  { ...clock, second: '2-digit' } as const,
].map((options) => new Intl.DateTimeFormat(text.language, options));

const timeOf = (at: number, step: number): string => {
  const format = step >= DAY_S ? days : step < MINUTE_S ? seconds : minutes;
  return format?.format(at * 1_000) ?? '';
};

const dataOf = (moments: readonly Moment[]): uPlot.AlignedData => [
  moments.map(({ at }) => at / 1_000),
  ...lines.map(({ value }) => moments.map(value)),
];

export interface PlotOptions {
  box: HTMLElement;
  /** At the top of each axis, at least. */
  most: () => Readonly<Record<PlottedLine['scale'], number>>;
  /** The index of the moment that is pointed at; undefined for none. */
  pointed: (index: number | undefined) => void;
}

/** Draws moments in the box, in the colors that its style has now. */
export const createPlot = ({ box, most, pointed }: PlotOptions) => {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const style = getComputedStyle(box);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const axis = (more: uPlot.Axis): uPlot.Axis => ({
    stroke: color('--soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1 },
    font: `12px ${style.fontFamily}`,
    ...more,
  });
  const fromZero =
    (scale: PlottedLine['scale']): uPlot.Scale.Range =>
    (_plot, _least, greatest) => [0, Math.max(1, greatest ?? 0, most()[scale]) * HEADROOM];
  const plot = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, y: false },
      scales: { x: { time: true }, nodes: { range: fromZero('nodes') }, few: { range: fromZero('few') } },
      axes: [
        axis({
          incrs: [...TIME_STEPS.toSorted((a, b) => a - b), ...LONG_STEPS],
          space: 64,
          values: (_plot, splits, _axis, _space, step) => splits.map((at) => timeOf(at, step)),
        }),
        axis({ scale: 'nodes', incrs: WHOLE, size: 56 }),
        axis({ scale: 'few', incrs: WHOLE, side: 1, grid: { show: false } }),
      ],
      series: [
        {},
        ...lines.map(({ title, scale, color: name, dash }) => ({
          label: title,
          scale,
          stroke: color(name),
          width: 2,
          dash: [...dash],
          points: { show: false },
          ...(stepped && { paths: stepped }),
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => pointed(idx ?? undefined)] },
    },
    undefined,
    box,
  );
  return {
    draw: (moments: readonly Moment[]): void => plot.setData(dataOf(moments)),
    resize: (): void => plot.setSize({ width: box.clientWidth, height: HEIGHT }),
    remove: (): void => plot.destroy(),
  };
};
