import type { Phase } from '../words/index.ts';

/** How a phase is drawn. Glyphs alone tell the phases apart; `ascii` is for terminals without Unicode. */
export interface PhaseStyle {
  glyph: string;
  ascii: string;
  /** Colors of a terminal with 256 colors. */
  ansi: readonly [background: number, text: number];
  /** Colors in the SVG picture. */
  fill: string;
  ink: string;
  /** The glyph as an SVG path in a box of 10 by 10: fonts differ in the glyphs that they have. */
  path: string;
}

type Row = readonly [glyph: string, ascii: string, ansi: PhaseStyle['ansi'], fill: string, ink: string, path: string];

const toStyle = ([glyph, ascii, ansi, fill, ink, path]: Row): PhaseStyle => ({ glyph, ascii, ansi, fill, ink, path });

// From the most urgent to the least. In a path, a line of length 0 with round ends is a dot.
export const phaseStyles: Readonly<Record<Phase, PhaseStyle>> = {
  failed: toStyle(['✗', 'x', [160, 231], '#d1242f', '#ffffff', 'M3.2 3.2 L6.8 6.8 M6.8 3.2 L3.2 6.8']),
  broken: toStyle(['!', '!', [208, 16], '#f0883e', '#1b1f24', 'M5 2.6 V5.6 M5 7.4 h0']),
  missing: toStyle(['?', '?', [220, 16], '#e3b341', '#1b1f24', 'M3 3 H7 V7 H3 Z']),
  updating: toStyle(['↻', '>', [33, 231], '#2f81f7', '#ffffff', 'M5 7.4 V2.8 M3 4.6 L5 2.6 L7 4.6']),
  settling: toStyle(['~', '~', [37, 231], '#1b9aaa', '#ffffff', 'M2.8 5 h0 M5 5 h0 M7.2 5 h0']),
  offline: toStyle(['–', '-', [238, 250], '#3d444d', '#c9d1d9', 'M3 5 H7']),
  held: toStyle(['=', '=', [140, 16], '#a78bfa', '#1b1f24', 'M3.9 3.2 V6.8 M6.1 3.2 V6.8']),
  outdated: toStyle(['·', '.', [250, 235], '#b8c1cc', '#24292f', 'M5 5 h0']),
  updated: toStyle(['✓', '+', [35, 231], '#22a565', '#ffffff', 'M2.6 5.2 L4.4 7 L7.6 3.2']),
};

/** Where one cell stands for several nodes, it shows the first of these. */
export const bySeverity = Object.keys(phaseStyles) as readonly Phase[];
