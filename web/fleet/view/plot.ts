import uPlot from 'uplot';
import { text } from '../text/index.ts';
import type { Picture } from './follow.ts';
import { type OnlinePhase, stacked, stackOf } from './moments.ts';
import { createPatterns } from './patterns.ts';

/** CSS px. What lies over the plot needs to know where the area between the axes is: `--axis` and `--edge` of time-line.css. */
const AXIS = 60;
const EDGE = 12;
const TOP = 14;
const LABEL = 18;
const TIME_AXIS = 28;
const HEIGHT = 200;
const STRIP_HEIGHT = 64;

const DAY_S = 86_400;
const MINUTE_S = 60;
/** Between two times of the axis, seconds. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30].flatMap((step) => [step, step * MINUTE_S]);
const LONG_STEPS = [1, 2, 3, 6, 12, 24, 48, 96, 168, 336, 672].map((hours) => hours * 3_600);
/** So that a full budget does not touch the top. */
const HEADROOM = 1.2;

// Made once: to make one takes longer than to draw the whole plot.
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
const [days, minutes, seconds] = [
  { month: 'short', day: 'numeric' } as const,
  clock,
  { ...clock, second: '2-digit' } as const,
].map((options) => new Intl.DateTimeFormat(text.language, options));
const percent = new Intl.NumberFormat(text.language, { style: 'percent' });

const timeOf = (at: number, step: number): string => {
  const format = step >= DAY_S ? days : step < MINUTE_S ? seconds : minutes;
  return format?.format(at * 1_000) ?? '';
};

/** From the top of the stack to its bottom: each is painted over those above it. */
const painted: readonly OnlinePhase[] = stacked.toReversed();

const timesOf = ({ moments }: Picture): number[] => moments.map(({ at }) => at / 1_000);

const stackData = (picture: Picture): uPlot.AlignedData => {
  const stacks = picture.moments.map(stackOf);
  return [timesOf(picture), ...painted.map((phase) => stacks.map((stack) => stack[stacked.indexOf(phase)] ?? 0))];
};

const budgetData = (picture: Picture): uPlot.AlignedData => [
  timesOf(picture),
  picture.moments.map(({ inUse }) => inUse),
  picture.moments.map(({ limit }) => limit),
];

/** The parts of the axis that are drawn from records, seconds. */
const recordedIn = ({ moments }: Picture): readonly (readonly [from: number, to: number])[] =>
  moments.flatMap(({ at, recorded }, index) => {
    const next = moments[index + 1];
    return recorded && next ? [[at / 1_000, next.at / 1_000] as const] : [];
  });

export interface PlotOptions {
  box: HTMLElement;
  /** Whether there is a budget to draw below. */
  hasBudget: boolean;
  /** What to draw when the plot is resized. */
  picture: () => Picture | undefined;
  /** The time that is pointed at, epoch ms; undefined for none. */
  pointed: (at: number | undefined) => void;
}

/** Draws a rollout in the box, in the colors that its style has now. */
export const createPlot = ({ box, hasBudget, picture, pointed }: PlotOptions) => {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  const area = { points: { show: false }, ...(stepped && { paths: stepped }) };
  const style = getComputedStyle(box);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const patterns = createPatterns(color);
  const axis = (more: uPlot.Axis): uPlot.Axis => ({
    stroke: color('--soft'),
    grid: { stroke: color('--line'), width: 1 },
    ticks: { stroke: color('--line'), width: 1, size: 4 },
    font: `12px ${style.fontFamily}`,
    labelFont: `12px ${style.fontFamily}`,
    labelSize: LABEL,
    labelGap: 0,
    gap: 4,
    ...more,
  });
  const timeAxis = (isShown: boolean): uPlot.Axis =>
    axis({
      incrs: [...TIME_STEPS.toSorted((a, b) => a - b), ...LONG_STEPS],
      space: 64,
      size: isShown ? TIME_AXIS : 0,
      ticks: { show: isShown },
      values: (_plot, splits, _axis, _space, step) => splits.map((at) => (isShown ? timeOf(at, step) : '')),
    });
  const veil = (plot: uPlot): void => {
    const { ctx, bbox } = plot;
    const shown = picture();
    const hatch = patterns.veil(ctx);
    if (!shown || !hatch) return;
    ctx.save();
    ctx.fillStyle = hatch;
    for (const [from, to] of recordedIn(shown)) {
      const left = plot.valToPos(from, 'x', true);
      ctx.fillRect(left, bbox.top, plot.valToPos(to, 'x', true) - left, bbox.height);
    }
    ctx.restore();
  };
  const common = (height: number): Omit<uPlot.Options, 'series'> => ({
    width: box.clientWidth,
    height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { show: false }, sync: { key: 'time-line' } },
    hooks: {
      setCursor: [
        (plot) => {
          const { left = -1 } = plot.cursor;
          pointed(left < 0 ? undefined : Math.round(plot.posToVal(left, 'x') * 1_000));
        },
      ],
      draw: [veil],
    },
  });
  const timeScale: uPlot.Scale = {
    time: true,
    range: () => {
      const shown = picture();
      return [(shown?.from ?? 0) / 1_000, (shown?.to ?? 1) / 1_000];
    },
  };

  const stack = new uPlot(
    {
      ...common(HEIGHT + (hasBudget ? 0 : TIME_AXIS)),
      padding: [TOP, EDGE, hasBudget ? 4 : 0, 0],
      scales: { x: timeScale, y: { range: () => [0, 100] } },
      axes: [
        timeAxis(!hasBudget),
        axis({
          label: text.timeLine.nodes,
          size: AXIS - LABEL,
          splits: () => [0, 25, 50, 75, 100],
          values: (_plot, splits) => splits.map((share) => percent.format(share / 100)),
        }),
      ],
      series: [
        {},
        ...painted.map((phase) => ({
          label: phase,
          // Between two phases of a similar color.
          stroke: color('--surface'),
          width: 1,
          fill: ({ ctx }: uPlot) => patterns.phase(ctx, phase),
          ...area,
        })),
      ],
    },
    undefined,
    box,
  );
  const strip =
    hasBudget &&
    new uPlot(
      {
        ...common(STRIP_HEIGHT + TIME_AXIS),
        padding: [4, EDGE, 0, 0],
        scales: {
          x: timeScale,
          y: { range: (_plot, _least, greatest) => [0, Math.max(1, greatest ?? 1) * HEADROOM] },
        },
        axes: [
          timeAxis(true),
          axis({
            label: text.timeLine.budget,
            size: AXIS - LABEL,
            grid: { show: false },
            splits: () => [0, picture()?.moments.at(-1)?.limit ?? 0],
          }),
        ],
        series: [
          {},
          { label: text.timeLine.inUse, fill: color('--updating'), ...area },
          {
            label: text.timeLine.limit,
            stroke: color('--ink'),
            width: 1.5,
            dash: [6, 4],
            ...area,
          },
        ],
      },
      undefined,
      box,
    );
  return {
    draw: (): void => {
      const shown = picture();
      if (!shown) return;
      stack.setData(stackData(shown));
      if (strip) strip.setData(budgetData(shown));
    },
    resize: (): void => {
      stack.setSize({ width: box.clientWidth, height: stack.height });
      if (strip) strip.setSize({ width: box.clientWidth, height: strip.height });
    },
    remove: (): void => {
      stack.destroy();
      if (strip) strip.destroy();
    },
  };
};
