import { phases } from '../../../rollout/index.ts';
import type { EventLine, Playing, Scene } from '../scene.ts';
import { drawGrid } from './grid.ts';
import { cut, type Line, type Piece, padded, widthOf, wrap } from './line.ts';
import { phaseLooks } from './phase-look.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  /** Glyphs beyond ASCII can be drawn. */
  unicode: boolean;
}

const MARGIN = ' ';
const LEGEND_WIDTH = 18;
/** Narrower screens have the legend below the nodes. */
const SIDE_BY_SIDE = 64;
const WIDEST = 120;
const MOST_BODY = 16;
const LEAST_BODY = 3;
const MOST_EVENTS = 5;
const REASON_WIDTH = 21;
const MOST_LINES_OF_EVENT = 3;

const minutes = (ms: number): string => {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
};

const both = (left: Line, right: Line, width: number): Line => [...padded(left, width - widthOf(right)), ...right];

const titleLine = ({ heading, step, steps, speed, elapsedMs }: Playing, width: number): Line =>
  both(
    [
      { text: 'edgeset demo', style: { kind: 'bold' } },
      { text: `  ${heading}`, style: { kind: 'dim' } },
    ],
    [{ text: `step ${step}/${steps}  time x${speed}  ${minutes(elapsedMs)}`, style: { kind: 'dim' } }],
    width,
  );

const legendEntry = (scene: Scene, phase: (typeof phases)[number], unicode: boolean): Piece[] => {
  const look = phaseLooks[phase];
  const number = scene.counts[phase] ?? 0;
  const [background, text] = look.ansi;
  const dim = number === 0;
  return [
    { text: ` ${unicode ? look.glyph : look.ascii} `, style: { kind: 'cell', background, text } },
    { text: ` ${phase.padEnd(9)}${String(number).padStart(4)}`, style: { kind: dim ? 'dim' : 'plain' } },
  ];
};

/** The legend in as many lines as the width asks for. */
const legendBelow = (scene: Scene, width: number, unicode: boolean): Line[] => {
  const across = Math.max(1, Math.floor((width + 1) / (LEGEND_WIDTH + 1)));
  const lines: Line[] = [];
  for (let at = 0; at < phases.length; at += across)
    lines.push(
      phases.slice(at, at + across).flatMap((phase) => [...legendEntry(scene, phase, unicode), { text: ' ' }]),
    );
  return lines;
};

const budgetLine = ({ budget, halted }: Scene, width: number, unicode: boolean): Line => {
  const { inUse, limit } = budget;
  if (limit === 0)
    return [
      { text: 'budget   ', style: { kind: 'bold' } },
      { text: 'nothing to roll out yet', style: { kind: 'dim' } },
    ];
  const words = `  ${inUse} of ${limit} in use`;
  const room = Math.max(4, Math.min(40, width - 9 - words.length - 14));
  const slots = Math.max(limit, 1);
  const share = (number: number): number => Math.round((Math.min(number, slots) / slots) * room);
  // A budget of a few slots shows each of them.
  const size = slots <= room / 3 ? Math.floor(room / slots) * slots : room;
  const full = slots <= room / 3 ? Math.floor(room / slots) * Math.min(inUse, slots) : share(inUse);
  const [on, off] = unicode ? ['█', '░'] : ['#', '.'];
  return [
    { text: 'budget   ', style: { kind: 'bold' } },
    { text: on.repeat(full), style: { kind: halted ? 'bad' : 'accent' } },
    { text: off.repeat(Math.max(0, size - full)), style: { kind: 'dim' } },
    { text: words },
    ...(halted ? [{ text: '  HALTED', style: { kind: 'bad' } } satisfies Piece] : []),
  ];
};

/** An Event's reason, and its note beside it; a long one goes on below. */
const eventLines = ({ reason, note, warning }: EventLine, width: number): Line[] =>
  wrap(note, Math.max(10, width - REASON_WIDTH))
    .slice(0, MOST_LINES_OF_EVENT)
    .map((text, index) => [
      { text: (index === 0 ? reason : '').padEnd(REASON_WIDTH), style: { kind: warning ? 'bad' : 'dim' } },
      { text, style: { kind: warning ? 'warning' : 'plain' } },
    ]);

/** The whole picture, never more lines than `rows` nor wider than `columns`. */
export const drawFrame = (playing: Playing, scene: Scene, { columns, rows, unicode }: FrameOptions): Line[] => {
  const width = Math.max(1, Math.min(columns, WIDEST) - 2 * MARGIN.length);
  const look = wrap(playing.look, width);
  const sideBySide = width >= SIDE_BY_SIDE;
  const legend = sideBySide ? [] : legendBelow(scene, width, unicode);
  // Title, blank, step, look, blank, body, legend, blank, budget: what stands whatever the height.
  const fixed = 6 + Math.max(2, look.length) + legend.length;
  const spare = rows - fixed;
  const events = Math.max(0, Math.min(MOST_EVENTS, spare - 1 - phases.length));
  const body = Math.max(LEAST_BODY, Math.min(MOST_BODY, spare - (events > 0 ? events + 1 : 0)));
  const gridWidth = sideBySide ? width - LEGEND_WIDTH - 4 : width;
  const grid = drawGrid(scene.nodes, gridWidth, body, unicode);
  const height = sideBySide ? Math.max(grid.length, Math.min(phases.length, body)) : grid.length;
  const rowsOfBody = Array.from({ length: height }, (_, index): Line => {
    const left = grid[index] ?? [];
    const phase = sideBySide ? phases[index] : undefined;
    return phase ? [...padded(cut(left, gridWidth), gridWidth + 4), ...legendEntry(scene, phase, unicode)] : left;
  });
  const lines: Line[] = [
    titleLine(playing, width),
    [],
    [{ text: `${unicode ? '▶' : '>'} ${playing.title}`, style: { kind: 'bold' } }],
    ...Array.from({ length: Math.max(2, look.length) }, (_, index): Line => [{ text: look[index] ?? '' }]),
    [],
    ...rowsOfBody,
    ...legend,
    [],
    budgetLine(scene, width, unicode),
    ...(events > 0 ? [[], ...lastEvents(scene.events, events, width)] : []),
  ];
  return lines.slice(0, rows).map((line) => [{ text: MARGIN }, ...cut(line, width)]);
};

/** As many lines whatever was told so far: a picture that grows would jump. */
const lastEvents = (events: readonly EventLine[], room: number, width: number): Line[] => {
  const last: Line[] = [];
  for (const event of events.toReversed()) {
    const lines = eventLines(event, width);
    if (last.length + lines.length > room) break;
    last.unshift(...lines);
  }
  return [...last, ...Array.from({ length: room - last.length }, (): Line => [])];
};
