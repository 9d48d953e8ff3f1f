import type { Phase } from '../words/index.ts';
import { type PhaseColors, phaseStyles } from './phase-style.ts';

/** A color of the phase: see PhaseColors. */
export type MarkColor = keyof PhaseColors;

/** A path in a box of 10 by 10, as SVG and a canvas draw it: filled, or a stroke. */
export interface MarkLayer {
  d: string;
  fill?: MarkColor;
  stroke?: MarkColor;
  width?: number;
  dash?: readonly [on: number, off: number];
  /** The ends of the stroke are flat. Default: round. */
  flat?: true;
}

/** The box in which a mark is drawn. */
export const MARK_BOX = 10;
const RADIUS = 1.6;
const GLYPH_WIDTH = 1.2;
const RING_PX = 2;
const OUTLINE_PX = 3;
const DASHED_PX = 1.5;
const STRIPE_PX = 1.5;
/** A border is at most this share of its cell: a small cell stays hollow. */
const THICKEST = 0.22;
const DASHES_PER_SIDE = 3;
const STRIPES = 4;

const round = (value: number): number => Math.round(value * 100) / 100;

/** A square with round corners, `inset` from the edge. */
const square = (inset: number): string => {
  const radius = round(Math.max(0, RADIUS - inset));
  const [from, to] = [round(inset), round(MARK_BOX - inset)];
  const side = round(to - from - 2 * radius);
  const corner = (x: number, y: number): string => `a${radius} ${radius} 0 0 1 ${x * radius} ${y * radius}`;
  return `M${round(from + radius)} ${from} h${side} ${corner(1, 1)} v${side} ${corner(-1, 1)} h${-side} ${corner(-1, -1)} v${-side} ${corner(1, -1)} Z`;
};

/** From the lower left to the upper right, ending at the edge. */
const stripes = (): string => {
  const step = (2 * MARK_BOX) / (STRIPES + 1);
  return Array.from({ length: STRIPES }, (_, index) => {
    const at = round((index + 1) * step);
    const [low, high] = [Math.max(0, at - MARK_BOX), Math.min(MARK_BOX, at)];
    return `M${round(low)} ${round(high)} L${round(high)} ${round(low)}`;
  }).join(' ');
};

const HOLLOW: readonly string[] = ['outline', 'dashed'];

const bodyOf = (phase: Phase, px: number): readonly MarkLayer[] => {
  const scale = MARK_BOX / px;
  const wide = (thickness: number): number => round(Math.min(thickness * scale, THICKEST * MARK_BOX));
  const border = (thickness: number, stroke: MarkColor): MarkLayer => {
    const width = wide(thickness);
    return { d: square(width / 2), stroke, width };
  };
  const filled: MarkLayer = { d: square(0), fill: 'color' };
  switch (phaseStyles[phase].form) {
    case 'fill':
    case 'pulse':
      return [filled];
    case 'ring':
      return [filled, border(RING_PX, 'line')];
    case 'outline':
      return [border(OUTLINE_PX, 'color')];
    case 'dashed': {
      const dash = round(MARK_BOX / (2 * DASHES_PER_SIDE));
      return [{ ...border(DASHED_PX, 'color'), dash: [dash, dash], flat: true }];
    }
    case 'hatch':
      return [filled, { d: stripes(), stroke: 'line', width: wide(STRIPE_PX), flat: true }];
  }
};

/** What is drawn for a node in this phase in a cell of `px` by `px`, from the back to the front. */
export const phaseMark = (phase: Phase, px: number): readonly MarkLayer[] => {
  const { form, path, glyphFrom } = phaseStyles[phase];
  if (px < glyphFrom) return bodyOf(phase, px);
  const glyph: MarkLayer = { d: path, stroke: HOLLOW.includes(form) ? 'color' : 'ink', width: GLYPH_WIDTH };
  // A glyph on stripes could not be read.
  const room: readonly MarkLayer[] = form === 'hatch' ? [{ d: 'M2.6 2.2 H7.4 V7.8 H2.6 Z', fill: 'color' }] : [];
  return [...bodyOf(phase, px), ...room, glyph];
};
