import type { Phase } from '../../../rollout/index.ts';

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

// A line of length 0 with round ends is a dot.
export const phaseStyles: Readonly<Record<Phase, PhaseStyle>> = {
  updated: {
    glyph: '✓',
    ascii: '+',
    ansi: [35, 231],
    fill: '#22a565',
    ink: '#ffffff',
    path: 'M2.6 5.2 L4.4 7 L7.6 3.2',
  },
  updating: {
    glyph: '↻',
    ascii: '>',
    ansi: [33, 231],
    fill: '#2f81f7',
    ink: '#ffffff',
    path: 'M5 7.4 V2.8 M3 4.6 L5 2.6 L7 4.6',
  },
  outdated: { glyph: '·', ascii: '.', ansi: [250, 235], fill: '#b8c1cc', ink: '#24292f', path: 'M5 5 h0' },
  broken: { glyph: '!', ascii: '!', ansi: [208, 16], fill: '#f0883e', ink: '#1b1f24', path: 'M5 2.6 V5.6 M5 7.4 h0' },
  offline: { glyph: '–', ascii: '-', ansi: [238, 250], fill: '#3d444d', ink: '#c9d1d9', path: 'M3 5 H7' },
  settling: {
    glyph: '~',
    ascii: '~',
    ansi: [37, 231],
    fill: '#1b9aaa',
    ink: '#ffffff',
    path: 'M2.8 5 h0 M5 5 h0 M7.2 5 h0',
  },
  held: {
    glyph: '=',
    ascii: '=',
    ansi: [140, 16],
    fill: '#a78bfa',
    ink: '#1b1f24',
    path: 'M3.9 3.2 V6.8 M6.1 3.2 V6.8',
  },
  failed: {
    glyph: '✗',
    ascii: 'x',
    ansi: [160, 231],
    fill: '#d1242f',
    ink: '#ffffff',
    path: 'M3.2 3.2 L6.8 6.8 M6.8 3.2 L3.2 6.8',
  },
  missing: { glyph: '?', ascii: '?', ansi: [220, 16], fill: '#e3b341', ink: '#1b1f24', path: 'M3 3 H7 V7 H3 Z' },
};

/** From the most urgent to the least. Where one cell stands for several nodes, it shows the first of these. */
export const bySeverity: readonly Phase[] = [
  'failed',
  'broken',
  'missing',
  'updating',
  'settling',
  'offline',
  'held',
  'outdated',
  'updated',
];
