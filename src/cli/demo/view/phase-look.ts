import type { Phase } from '../../../rollout/index.ts';

/** How a phase is drawn: readable by its glyph alone, in a terminal that knows no more than ASCII by `ascii`. */
export interface PhaseLook {
  glyph: string;
  ascii: string;
  /** Background and text among the 256 colours of a terminal. */
  ansi: readonly [background: number, text: number];
  /** The same for pictures. */
  fill: string;
  ink: string;
}

export const phaseLooks: Readonly<Record<Phase, PhaseLook>> = {
  updated: { glyph: '✓', ascii: '+', ansi: [35, 231], fill: '#22a565', ink: '#ffffff' },
  updating: { glyph: '↻', ascii: '>', ansi: [33, 231], fill: '#2f81f7', ink: '#ffffff' },
  outdated: { glyph: '·', ascii: '.', ansi: [250, 235], fill: '#b8c1cc', ink: '#24292f' },
  broken: { glyph: '!', ascii: '!', ansi: [208, 16], fill: '#f0883e', ink: '#1b1f24' },
  offline: { glyph: '–', ascii: '-', ansi: [238, 250], fill: '#3d444d', ink: '#c9d1d9' },
  settling: { glyph: '~', ascii: '~', ansi: [37, 231], fill: '#1b9aaa', ink: '#ffffff' },
  held: { glyph: '=', ascii: '=', ansi: [140, 16], fill: '#a78bfa', ink: '#1b1f24' },
  failed: { glyph: '✗', ascii: 'x', ansi: [160, 231], fill: '#d1242f', ink: '#ffffff' },
  missing: { glyph: '?', ascii: '?', ansi: [220, 16], fill: '#e3b341', ink: '#1b1f24' },
};

/** From what needs eyes first to what does not; where one cell must stand for several nodes, the first wins. */
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
