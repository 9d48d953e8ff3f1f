import type { NodeCell } from '../scene.ts';
import type { Line, Piece } from './line.ts';
import { bySeverity, phaseLooks } from './phase-look.ts';

/** How many nodes get a line of their own, with name and version. */
const MOST_LISTED = 6;

interface Shape {
  /** Columns of a cell. */
  width: number;
  /** Columns between cells. */
  gap: number;
  /** Empty lines between rows. */
  rowGap: number;
}

/** From roomy to dense; the first in which all nodes fit is taken. */
const shapes: readonly Shape[] = [
  { width: 5, gap: 1, rowGap: 1 },
  { width: 3, gap: 1, rowGap: 1 },
  { width: 3, gap: 1, rowGap: 0 },
  { width: 1, gap: 1, rowGap: 0 },
  { width: 1, gap: 0, rowGap: 0 },
];
const densest = { width: 1, gap: 0, rowGap: 0 };

const perRow = ({ width, gap }: Shape, columns: number): number => Math.floor((columns + gap) / (width + gap));

const fits = (shape: Shape, nodes: number, columns: number, rows: number): boolean => {
  const across = perRow(shape, columns);
  if (across < 1) return false;
  const lines = Math.ceil(nodes / across);
  return lines + (lines - 1) * shape.rowGap <= rows;
};

/** Rows of ten are counted at a glance; where they do not fit, rows of equal length look less like a mistake. */
const roundly = (across: number, nodes: number, rows: number, rowGap: number): number => {
  const tens = across - (across % 10);
  const lines = Math.ceil(nodes / tens);
  if (tens > 0 && lines + (lines - 1) * rowGap <= rows) return tens;
  return Math.ceil(nodes / Math.ceil(nodes / across));
};

const cellPiece = ({ phase }: Pick<NodeCell, 'phase'>, width: number, unicode: boolean): Piece => {
  const look = phase && phaseLooks[phase];
  const glyph = look ? (unicode ? look.glyph : look.ascii) : ' ';
  const side = (width - 1) >> 1;
  const text = ' '.repeat(side) + glyph + ' '.repeat(width - 1 - side);
  const [background, ink] = look?.ansi ?? [236, 250];
  return { text, style: { kind: 'cell', background, text: ink } };
};

const worst = (nodes: readonly NodeCell[]): Pick<NodeCell, 'phase'> => ({
  phase: bySeverity.find((phase) => nodes.some((node) => node.phase === phase)),
});

const listed = (nodes: readonly NodeCell[], rows: number, unicode: boolean): Line[] => {
  const names = Math.max(...nodes.map(({ name }) => name.length));
  const images = Math.max(12, ...nodes.map(({ image }) => image.length));
  const lines = nodes.map(
    (node): Line => [
      cellPiece(node, 3, unicode),
      { text: `  ${node.name.padEnd(names)}  ` },
      { text: (node.image || '–').padEnd(images), style: { kind: 'bold' } },
    ],
  );
  const spaced = nodes.length * 2 - 1 <= rows;
  return lines.flatMap((line, index) => (spaced && index > 0 ? [[], line] : [line]));
};

/** The nodes in at most `rows` lines of `columns`. Where they are too many, one cell stands for several. */
export const drawGrid = (nodes: readonly NodeCell[], columns: number, rows: number, unicode: boolean): Line[] => {
  if (nodes.length === 0 || rows < 1 || columns < 1) return [];
  if (nodes.length <= MOST_LISTED && nodes.length <= rows) return listed(nodes, rows, unicode);
  const shape = shapes.find((each) => fits(each, nodes.length, columns, rows));
  const together = shape ? 1 : Math.ceil(nodes.length / (columns * Math.max(1, rows - 1)));
  const { width, gap, rowGap } = shape ?? densest;
  const cells = Array.from({ length: Math.ceil(nodes.length / together) }, (_, index) =>
    worst(nodes.slice(index * together, (index + 1) * together)),
  );
  const across = roundly(perRow({ width, gap, rowGap }, columns), cells.length, rows, rowGap);
  const lines: Line[] = [];
  for (let at = 0; at < cells.length; at += across) {
    if (at > 0) for (let blank = 0; blank < rowGap; blank += 1) lines.push([]);
    const row = cells.slice(at, at + across).map((cell) => cellPiece(cell, width, unicode));
    lines.push(row.flatMap((piece, index) => (index > 0 && gap > 0 ? [{ text: ' '.repeat(gap) }, piece] : [piece])));
  }
  if (together > 1)
    lines.push([{ text: `one cell = ${together} nodes, drawn as the worst of them`, style: { kind: 'dim' } }]);
  return lines;
};
