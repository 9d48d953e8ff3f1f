import { type Phase, phases } from '../../../rollout/index.ts';
import type { EventLine, Snapshot } from '../observer.ts';
import { drawGrid } from './grid.ts';
import { cut, type Line, type Piece, padded, type Style, widthOf, wrap } from './line.ts';
import { phaseStyles } from './phase-style.ts';
import type { StepProgress } from './view.ts';

export interface FrameOptions {
  columns: number;
  rows: number;
  /** The terminal has glyphs beyond ASCII. */
  unicode: boolean;
}

const MARGIN = ' ';
const LEGEND_WIDTH = 18;
/** On narrower screens, the legend is below the nodes. */
const SIDE_BY_SIDE = 64;
const WIDEST = 120;
const MOST_BODY = 16;
const LEAST_BODY = 3;
const MOST_EVENTS = 5;
const REASON_WIDTH = 21;
const MOST_LINES_PER_EVENT = 3;

const piece = (text: string, kind: Exclude<Style['kind'], 'cell'>): Piece => ({ text, style: { kind } });

const titleLine = ({ heading, step, steps, speed, elapsedMs }: StepProgress, width: number): Line => {
  const seconds = Math.floor(elapsedMs / 1000);
  const elapsed = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const left = [piece('edgeset demo', 'bold'), piece(`  ${heading}`, 'dim')];
  const right = [piece(`step ${step}/${steps}  time x${speed}  ${elapsed}`, 'dim')];
  return [...padded(left, width - widthOf(right)), ...right];
};

const legendEntry = ({ counts }: Snapshot, phase: Phase, unicode: boolean): Piece[] => {
  const { ansi, glyph, ascii } = phaseStyles[phase];
  const [background, text] = ansi;
  const number = counts[phase] ?? 0;
  return [
    { text: ` ${unicode ? glyph : ascii} `, style: { kind: 'cell', background, text } },
    piece(` ${phase.padEnd(9)}${String(number).padStart(4)}`, number === 0 ? 'dim' : 'plain'),
  ];
};

/** The legend in as many lines as the width requires. */
const legendBelow = (snapshot: Snapshot, width: number, unicode: boolean): Line[] => {
  const across = Math.max(1, Math.floor((width + 1) / (LEGEND_WIDTH + 1)));
  return Array.from({ length: Math.ceil(phases.length / across) }, (_, line) =>
    phases
      .slice(line * across, (line + 1) * across)
      .flatMap((phase) => [...legendEntry(snapshot, phase, unicode), { text: ' ' }]),
  );
};

const budgetLine = ({ budget, halted }: Snapshot, width: number, unicode: boolean): Line => {
  const { inUse, limit } = budget;
  const label = piece('budget   ', 'bold');
  if (limit === 0) return [label, piece('nothing to roll out yet', 'dim')];
  const text = `  ${inUse} of ${limit} in use`;
  const room = Math.max(4, Math.min(40, width - 9 - text.length - 14));
  // A budget of a few slots shows each of them.
  const size = limit <= room / 3 ? Math.floor(room / limit) * limit : room;
  const used = Math.round((Math.min(inUse, limit) / limit) * size);
  const [on, off] = unicode ? ['█', '░'] : ['#', '.'];
  return [
    label,
    piece(on.repeat(used), halted ? 'bad' : 'accent'),
    piece(off.repeat(size - used), 'dim'),
    { text },
    ...(halted ? [piece('  HALTED', 'bad')] : []),
  ];
};

/** The reason and the note of an Event; a long note continues below. */
const eventLines = ({ reason, note, warning }: EventLine, width: number): Line[] =>
  wrap(note, Math.max(10, width - REASON_WIDTH))
    .slice(0, MOST_LINES_PER_EVENT)
    .map((text, index) => [
      piece((index === 0 ? reason : '').padEnd(REASON_WIDTH), warning ? 'bad' : 'dim'),
      piece(text, warning ? 'warning' : 'plain'),
    ]);

/** The newest Events in exactly `room` lines, so that the picture keeps its height. */
const lastEvents = (events: readonly EventLine[], room: number, width: number): Line[] => {
  const last: Line[] = [];
  for (const event of events.toReversed()) {
    const lines = eventLines(event, width);
    if (last.length + lines.length > room) break;
    last.unshift(...lines);
  }
  return [...last, ...Array.from({ length: room - last.length }, (): Line => [])];
};

/** The whole picture, in at most `rows` lines of at most `columns`. */
export const drawFrame = (
  progress: StepProgress,
  snapshot: Snapshot,
  { columns, rows, unicode }: FrameOptions,
): Line[] => {
  const width = Math.max(1, Math.min(columns, WIDEST) - 2 * MARGIN.length);
  const text = wrap(progress.text, width);
  const textLines = Math.max(2, text.length);
  const sideBySide = width >= SIDE_BY_SIDE;
  const legend = sideBySide ? [] : legendBelow(snapshot, width, unicode);
  // Title, blank, step, blank, blank and budget are always there.
  const spare = rows - 6 - textLines - legend.length;
  const events = Math.max(0, Math.min(MOST_EVENTS, spare - 1 - phases.length));
  const body = Math.max(LEAST_BODY, Math.min(MOST_BODY, spare - (events > 0 ? events + 1 : 0)));
  const gridWidth = sideBySide ? width - LEGEND_WIDTH - 4 : width;
  const grid = drawGrid(snapshot.nodes, gridWidth, body, unicode);
  const height = sideBySide ? Math.max(grid.length, Math.min(phases.length, body)) : grid.length;
  const bodyLines = Array.from({ length: height }, (_, index): Line => {
    const left = grid[index] ?? [];
    const phase = sideBySide ? phases[index] : undefined;
    return phase ? [...padded(cut(left, gridWidth), gridWidth + 4), ...legendEntry(snapshot, phase, unicode)] : left;
  });
  const lines: Line[] = [
    titleLine(progress, width),
    [],
    [piece(`${unicode ? '▶' : '>'} ${progress.title}`, 'bold')],
    ...Array.from({ length: textLines }, (_, index): Line => [{ text: text[index] ?? '' }]),
    [],
    ...bodyLines,
    ...legend,
    [],
    budgetLine(snapshot, width, unicode),
    ...(events > 0 ? [[], ...lastEvents(snapshot.events, events, width)] : []),
  ];
  return lines.slice(0, rows).map((line) => [{ text: MARGIN }, ...cut(line, width)]);
};
