import { phaseStyles, wrap } from '../../view/index.ts';
import { type Phase, phases } from '../../words/index.ts';
import { cellStyle } from './cell-style.ts';
import { drawGrid } from './grid.ts';
import { cut, type Line, type Piece, padded, piece } from './line.ts';
import type { EventLine, Snapshot } from './snapshot.ts';

/** What surrounds the nodes, their legend and the budget. Each function gets the columns that a line may have. */
export interface FrameText {
  /** Above the nodes. */
  head: (width: number) => readonly Line[];
  /** Below the nodes, above the budget. */
  bars?: (width: number, unicode: boolean) => readonly Line[];
  /** Below the budget. Left out from its end where the screen is too small. */
  notes?: (width: number) => readonly Line[];
}

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
/** Up to this many nodes, text that is easy to read matters more than the whole screen. */
const SMALL_FLEET = 1_000;
const WIDEST = 120;
const MOST_BODY = 16;
const LEAST_BODY = 3;
const MOST_EVENTS = 5;
const REASON_WIDTH = 21;
const MOST_LINES_PER_EVENT = 3;
const LABEL_WIDTH = 9;
const WIDEST_BAR = 40;
/** Bars of different figures have the same length. */
const FIGURES_WIDTH = 32;

const legendEntry = ({ counts }: Snapshot, phase: Phase, unicode: boolean): Piece[] => {
  const { glyph, ascii } = phaseStyles[phase];
  const number = counts[phase] ?? 0;
  return [
    { text: ` ${unicode ? glyph : ascii} `, style: cellStyle(phase) },
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

export interface Bar {
  label: string;
  value: number;
  limit: number;
  /** After the bar. */
  text: string;
  kind: 'accent' | 'good' | 'bad';
}

/** A label, a bar and its figures. A limit of a few shows each of them. */
export const barLine = ({ label, value, limit, text, kind }: Bar, width: number, unicode: boolean): Line => {
  const room = Math.max(4, Math.min(WIDEST_BAR, width - LABEL_WIDTH - FIGURES_WIDTH));
  const size = limit <= room / 3 ? Math.floor(room / limit) * limit : room;
  const used = Math.round((Math.min(value, limit) / limit) * size);
  const [on, off] = unicode ? ['█', '░'] : ['#', '.'];
  return [
    piece(label.padEnd(LABEL_WIDTH), 'bold'),
    piece(on.repeat(used), kind),
    piece(off.repeat(size - used), 'dim'),
    piece(text),
  ];
};

/** Why there are no slots. */
const noBudget = ({ nodes, byOwners = false }: Snapshot): string => {
  if (byOwners) return 'none: owners decide';
  return nodes.length === 0 ? 'nothing to roll out yet' : 'zero: no node is updated';
};

const budgetLine = (snapshot: Snapshot, width: number, unicode: boolean): Line => {
  const { budget, halted } = snapshot;
  const { inUse: value, limit } = budget;
  if (limit === 0) return [piece('budget'.padEnd(LABEL_WIDTH), 'bold'), piece(noBudget(snapshot), 'dim')];
  const text = `  ${value} of ${limit} in use`;
  const bar = barLine({ label: 'budget', value, limit, text, kind: halted ? 'bad' : 'accent' }, width, unicode);
  return halted ? [...bar, piece('  HALTED', 'bad')] : bar;
};

/** The reason and the note of an Event; a long note continues below. */
const eventLines = ({ reason, note, warning }: EventLine, width: number): Line[] => {
  const indent = Math.max(REASON_WIDTH, reason.length + 1);
  return wrap(note, Math.max(10, width - indent))
    .slice(0, MOST_LINES_PER_EVENT)
    .map((text, index) => [
      piece((index === 0 ? reason : '').padEnd(indent), warning ? 'bad' : 'dim'),
      piece(text, warning ? 'warning' : 'plain'),
    ]);
};

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

/** Text around one rollout's nodes, legend, budget and Events, in at most `rows` lines of at most `columns`. */
export const drawFrame = (
  { head, bars, notes }: FrameText,
  snapshot: Snapshot,
  { columns, rows, unicode }: FrameOptions,
): Line[] => {
  const small = snapshot.nodes.length <= SMALL_FLEET;
  const width = Math.max(1, Math.min(columns, small ? WIDEST : columns) - 2 * MARGIN.length);
  const above = head(width);
  const below = [...(bars?.(width, unicode) ?? []), budgetLine(snapshot, width, unicode)];
  const sideBySide = width >= SIDE_BY_SIDE;
  const legend = sideBySide ? [] : legendBelow(snapshot, width, unicode);
  // A blank line before and after the nodes.
  const room = rows - above.length - below.length - legend.length - 2;
  const noted = (notes?.(width) ?? []).slice(0, Math.max(0, room - LEAST_BODY));
  const spare = room - noted.length;
  const events = Math.max(0, Math.min(MOST_EVENTS, spare - 1 - phases.length));
  const most = small ? MOST_BODY : rows;
  const body = Math.max(LEAST_BODY, Math.min(most, spare - (events > 0 ? events + 1 : 0)));
  const gridWidth = sideBySide ? width - LEGEND_WIDTH - 4 : width;
  const grid = drawGrid(snapshot.nodes, gridWidth, body, unicode);
  const height = sideBySide ? Math.max(grid.length, Math.min(phases.length, body)) : grid.length;
  const bodyLines = Array.from({ length: height }, (_, index): Line => {
    const left = grid[index] ?? [];
    const phase = sideBySide ? phases[index] : undefined;
    return phase ? [...padded(cut(left, gridWidth), gridWidth + 4), ...legendEntry(snapshot, phase, unicode)] : left;
  });
  const lines: Line[] = [
    ...above,
    [],
    ...bodyLines,
    ...legend,
    [],
    ...below,
    ...noted,
    ...(events > 0 ? [[], ...lastEvents(snapshot.events, events, width)] : []),
  ];
  return lines.slice(0, rows).map((line) => [{ text: MARGIN }, ...cut(line, width)]);
};
