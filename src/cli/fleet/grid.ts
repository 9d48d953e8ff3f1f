import { bySeverity, phaseStyles } from '../../view/index.ts';
import { cellStyle } from './cell-style.ts';
import { type Line, type Piece, piece } from './line.ts';
import type { NodeState } from './snapshot.ts';

/** Up to this many nodes get a line each, with name and image. */
const MOST_LISTED = 6;

interface Shape {
  /** Columns of a cell. */
  width: number;
  /** Columns between cells. */
  gap: number;
  /** Empty lines between rows. */
  rowGap: number;
}

const densest: Shape = { width: 1, gap: 0, rowGap: 0 };
/** From sparse to dense. The first one in which all nodes fit is used. */
const shapes: readonly Shape[] = [
  { width: 5, gap: 1, rowGap: 1 },
  { width: 3, gap: 1, rowGap: 1 },
  { width: 3, gap: 1, rowGap: 0 },
  { width: 1, gap: 1, rowGap: 0 },
  densest,
];

const cellsPerRow = ({ width, gap }: Shape, columns: number): number => Math.floor((columns + gap) / (width + gap));

const fits = (nodes: number, across: number, { rowGap }: Shape, rows: number): boolean => {
  const lines = Math.ceil(nodes / across);
  return across > 0 && lines + (lines - 1) * rowGap <= rows;
};

/** Rows of ten are easy to count. Where they don't fit, rows of equal length look better than a short last row. */
const chooseAcross = (most: number, nodes: number, shape: Shape, rows: number): number => {
  const tens = most - (most % 10);
  return fits(nodes, tens, shape, rows) ? tens : Math.ceil(nodes / Math.ceil(nodes / most));
};

const cellPiece = (phase: NodeState['phase'], width: number, unicode: boolean): Piece => {
  const style = phase && phaseStyles[phase];
  const glyph = style ? style[unicode ? 'glyph' : 'ascii'] : ' ';
  const left = ' '.repeat((width - 1) >> 1);
  return { text: `${left}${glyph}`.padEnd(width), style: cellStyle(phase) };
};

const listNodes = (nodes: readonly NodeState[], rows: number, unicode: boolean): Line[] => {
  const names = Math.max(...nodes.map(({ name }) => name.length));
  const images = Math.max(12, ...nodes.map(({ image }) => image.length));
  const spaced = nodes.length * 2 - 1 <= rows;
  return nodes.flatMap(({ name, phase, image }, index): Line[] => {
    const line: Line = [
      cellPiece(phase, 3, unicode),
      piece(`  ${name.padEnd(names)}  `),
      piece((image || '–').padEnd(images), 'bold'),
    ];
    return spaced && index > 0 ? [[], line] : [line];
  });
};

/** Draws the nodes in at most `rows` lines of `columns`. If there are too many, one cell stands for several. */
export const drawGrid = (nodes: readonly NodeState[], columns: number, rows: number, unicode: boolean): Line[] => {
  if (nodes.length === 0 || rows < 1 || columns < 1) return [];
  if (nodes.length <= MOST_LISTED && nodes.length <= rows) return listNodes(nodes, rows, unicode);
  const fitting = shapes.find((shape) => fits(nodes.length, cellsPerRow(shape, columns), shape, rows));
  const perCell = fitting ? 1 : Math.ceil(nodes.length / (columns * Math.max(1, rows - 1)));
  const shape = fitting ?? densest;
  const cells = Array.from({ length: Math.ceil(nodes.length / perCell) }, (_, index) => {
    const group = nodes.slice(index * perCell, (index + 1) * perCell);
    const worst = bySeverity.find((phase) => group.some((node) => node.phase === phase));
    return cellPiece(worst, shape.width, unicode);
  });
  const across = chooseAcross(cellsPerRow(shape, columns), cells.length, shape, rows);
  const lines: Line[] = [];
  for (let at = 0; at < cells.length; at += across) {
    if (at > 0) lines.push(...Array.from({ length: shape.rowGap }, (): Line => []));
    const row = cells.slice(at, at + across);
    lines.push(row.flatMap((cell, index) => (index > 0 ? [{ text: ' '.repeat(shape.gap) }, cell] : [cell])));
  }
  if (perCell > 1)
    lines.push([{ text: `one cell = ${perCell} nodes, drawn as the worst of them`, style: { kind: 'dim' } }]);
  return lines;
};
