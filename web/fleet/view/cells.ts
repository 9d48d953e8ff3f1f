import { MARK_BOX, type NodeCell, phaseMark, phaseStyles } from '../types.ts';
import { onEveryBeat, pulse, scheme } from './beat.ts';

const GAP = 2;
const SMALLEST = 6;
const LARGEST = 26;
/** On a wall, people stand further away. */
const LARGEST_ON_WALL = 44;
const WALL_WIDTH = 1_600;
/** Of what is shown, as in the style sheet. */
const MOST_WIDTH = 1_680;
/** The part of the window that the cells of a whole fleet may take: cards have heads and margins, too. */
const SHARE_OF_PAGE = 0.35;
/** Nobody scrolls there: groups that end in the middle of a row take more than their cells. */
const SHARE_OF_WALL = 0.2;

export interface Grid {
  /** Of a cell, CSS px, as are the others. */
  size: number;
  step: number;
  columns: number;
  width: number;
  height: number;
}

/** A grid for `count` of `all` nodes: every group of a fleet has cells of the same size, whatever the width of its card. */
export const gridFor = (count: number, width: number, all: number, isOnWall = false): Grid => {
  const most = innerWidth > WALL_WIDTH ? LARGEST_ON_WALL : LARGEST;
  const page = isOnWall
    ? innerWidth * innerHeight * SHARE_OF_WALL
    : Math.min(MOST_WIDTH, innerWidth) * innerHeight * SHARE_OF_PAGE;
  const room = Math.floor(Math.sqrt(page / Math.max(1, all)));
  const least = Math.max(SMALLEST, Math.min(most, room - GAP)) + GAP;
  const columns = Math.max(1, Math.floor((width + GAP) / least));
  // What is left of the width goes to the cells.
  const step = Math.max(least, Math.floor((width + GAP) / columns));
  return { size: step - GAP, step, columns, width, height: Math.max(1, Math.ceil(count / columns)) * step };
};

/** Of a place in the grid; -1 for none. */
export const indexAt = ({ step, columns }: Grid, count: number, x: number, y: number): number => {
  const column = Math.floor(x / step);
  const index = Math.floor(y / step) * columns + column;
  return column >= 0 && column < columns && index >= 0 && index < count ? index : -1;
};

type Phase = NodeCell[1];

/** A pixel, as an image has it. */
const BYTES = 4;

/** A canvas draws no line of length 0, which is a dot elsewhere. */
const pathOf = (d: string): Path2D => new Path2D(d.replaceAll(/h0\b/g, 'h0.01'));

/** The rows of pixels of a cell: drawn once for all nodes in this phase. `size` in CSS px, `side` in device pixels. */
const drawStamp = (phase: Phase, size: number, side: number, opacity: number): Uint32Array[] => {
  const stamp = document.createElement('canvas');
  stamp.width = stamp.height = side;
  const context = stamp.getContext('2d', { willReadFrequently: true });
  if (!context) return [];
  const colors = phaseStyles[phase][scheme()];
  context.scale(side / MARK_BOX, side / MARK_BOX);
  context.globalAlpha = opacity;
  context.lineJoin = 'round';
  for (const { d, fill, stroke, width = 1, dash = [], flat } of phaseMark(phase, size)) {
    if (fill) {
      context.fillStyle = colors[fill] ?? '';
      context.fill(pathOf(d));
    }
    if (!stroke) continue;
    context.strokeStyle = colors[stroke] ?? '';
    context.lineWidth = width;
    context.lineCap = flat ? 'butt' : 'round';
    context.setLineDash([...dash]);
    context.stroke(pathOf(d));
  }
  const { buffer } = context.getImageData(0, 0, side, side).data;
  return Array.from({ length: side }, (_, row) => new Uint32Array(buffer, row * side * BYTES, side));
};

/**
 * Draws a group of nodes on a canvas: of a fleet that was drawn before, only what has changed. The pixels are put together here and
 * given to the canvas at once: ten thousand calls of its methods take longer than a frame.
 */
export const createPainter = (canvas: HTMLCanvasElement) => {
  const context = canvas.getContext('2d', { willReadFrequently: true });
  /** By look. */
  const stamps = new Map<string, Uint32Array[]>();
  let layout = '';
  let image: ImageData | undefined;
  let drawn: (string | undefined)[] = [];
  let marked = -1;
  let shown: Parameters<typeof paint> | undefined;

  /** The phase and, where it pulses, how opaque it is now: two nodes of one look have the same pixels. */
  const lookOf = (phase: Phase, opacity: number): string =>
    phaseStyles[phase].form === 'pulse' ? `${phase} ${opacity}` : phase;

  const paint = (nodes: readonly NodeCell[], { size, step, columns, width, height }: Grid, mark: number): void => {
    if (!context) return;
    const ratio = devicePixelRatio || 1;
    const [wide, side] = [Math.round(width * ratio), Math.round(size * ratio)];
    const high = Math.round(height * ratio);
    const next = [size, columns, width, ratio, scheme()].join();
    const opacity = pulse();
    let [top, bottom] = [high, 0];
    // A group that shrinks keeps its canvas, of which the page shows the top: to get another one, a browser waits for its other
    // processes, and a filter makes groups small and large again.
    if (next !== layout || !image || image.height < high) {
      layout = next;
      stamps.clear();
      drawn = [];
      image = context.createImageData(wide, high);
      canvas.width = wide;
      canvas.height = high;
      [top, bottom] = [0, high];
    }
    const pixels = new Uint32Array(image.data.buffer, 0, image.data.length / BYTES);
    const placeOf = (index: number): [x: number, y: number] => [
      Math.round((index % columns) * step * ratio),
      Math.round(Math.floor(index / columns) * step * ratio),
    ];
    const cover = (index: number): void => {
      const [, y] = placeOf(index);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y + side);
    };
    const stampOf = (phase: Phase, look: string): Uint32Array[] => {
      const stamp = stamps.get(look) ?? drawStamp(phase, size, side, look === phase ? 1 : opacity);
      stamps.set(look, stamp);
      return stamp;
    };
    const looks = new Map<Phase, string>();
    for (let index = 0; index < Math.max(nodes.length, drawn.length); index += 1) {
      const phase = nodes[index]?.[1];
      const look = phase && (looks.get(phase) ?? lookOf(phase, opacity));
      if (phase && look) looks.set(phase, look);
      if (drawn[index] === look) continue;
      const stamp = phase && look ? stampOf(phase, look) : undefined;
      const [x, y] = placeOf(index);
      // Whole rows: the first picture of a fleet is drawn before this is compiled, and must not take longer than a frame.
      for (let row = 0; row < side; row += 1) {
        const from = (y + row) * wide + x;
        const source = stamp?.[row];
        if (source) pixels.set(source, from);
        else pixels.fill(0, from, from + side);
      }
      cover(index);
      drawn[index] = look;
    }
    drawn.length = nodes.length;
    if (marked !== mark && marked >= 0) cover(marked);
    if (mark >= 0) cover(mark);
    marked = mark;
    if (bottom > top) context.putImageData(image, 0, 0, 0, top, wide, bottom - top);
    if (mark < 0) return;
    const [x, y] = placeOf(mark);
    context.strokeStyle = getComputedStyle(canvas).color;
    context.lineWidth = 2 * ratio;
    context.strokeRect(x + ratio, y + ratio, side - 2 * ratio, side - 2 * ratio);
  };

  const stop = onEveryBeat(() => {
    if (shown) paint(...shown);
  });
  return {
    paint: (...next: Parameters<typeof paint>): void => {
      shown = next;
      paint(...next);
    },
    /** Call it when the canvas is no longer shown. */
    stop,
  };
};
