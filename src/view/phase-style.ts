import type { Phase } from '../words/index.ts';

/**
 * How the cell of a phase is filled. `pulse`: a fill that pulses. `ring`: a fill with a ring of `line`. `outline` and `dashed`
 * are hollow. `hatch`: a fill with stripes of `line`.
 */
export type PhaseForm = 'fill' | 'ring' | 'pulse' | 'outline' | 'hatch' | 'dashed';

/** The colors of one scheme. */
export interface PhaseColors {
  /** Of the fill; of a hollow form, of its border and its glyph. */
  color: string;
  /** Text and glyphs on `color`. */
  ink: string;
  /** The ring, or the stripes of the hatch. */
  line?: string;
}

/** How a phase is drawn. Glyphs alone tell the phases apart; `ascii` is for terminals without Unicode. */
export interface PhaseStyle {
  glyph: string;
  ascii: string;
  /** Colors of a terminal with 256 colors. */
  ansi: readonly [background: number, text: number];
  form: PhaseForm;
  light: PhaseColors;
  dark: PhaseColors;
  /** The glyph as an SVG path in a box of 10 by 10: fonts differ in the glyphs that they have. */
  path: string;
  /** The size of a cell from which it shows the glyph, px. Infinity: only terminals show it. */
  glyphFrom: number;
}

const WHITE = '#ffffff';
const BLACK = '#101211';
/** In a smaller cell, a glyph is only noise. */
const SMALL = 12;
/** What needs nobody shows its glyph only where there is room. */
const LARGE = 20;

/** Each pair of colors is different enough for every kind of color vision, or the forms differ: phase-style.test.ts computes it. */
const colors = (
  [light, lightInk]: readonly [color: string, ink: string],
  [dark, darkInk]: readonly [color: string, ink: string],
): Pick<PhaseStyle, 'light' | 'dark'> => ({
  light: { color: light, ink: lightInk },
  dark: { color: dark, ink: darkInk },
});

const withLine = (
  { light, dark }: Pick<PhaseStyle, 'light' | 'dark'>,
  lightLine: string,
  darkLine: string,
): Pick<PhaseStyle, 'light' | 'dark'> => ({
  light: { ...light, line: lightLine },
  dark: { ...dark, line: darkLine },
});

const atWork = colors(['#3457c4', WHITE], ['#4f7fe0', BLACK]);
const waiting = colors(['#b7c6d0', BLACK], ['#3a4147', WHITE]);

// From the most urgent to the least. In a path, a line of length 0 with round ends is a dot.
export const phaseStyles: Readonly<Record<Phase, PhaseStyle>> = {
  failed: {
    glyph: '×',
    ascii: 'x',
    ansi: [124, 231],
    form: 'fill',
    ...colors(['#b91c32', WHITE], ['#e2504e', BLACK]),
    path: 'M3.2 3.2 L6.8 6.8 M6.8 3.2 L3.2 6.8',
    glyphFrom: SMALL,
  },
  broken: {
    glyph: '!',
    ascii: '!',
    ansi: [172, 16],
    form: 'fill',
    ...colors(['#d07a00', BLACK], ['#f59e0b', BLACK]),
    path: 'M5 2.6 V5.6 M5 7.4 h0',
    glyphFrom: SMALL,
  },
  missing: {
    glyph: '□',
    ascii: '?',
    ansi: [222, 16],
    form: 'ring',
    ...withLine(colors(['#fde68a', BLACK], ['#fef08a', BLACK]), '#a16207', '#a16207'),
    path: 'M3.4 3.4 H6.6 V6.6 H3.4 Z',
    glyphFrom: SMALL,
  },
  updating: {
    glyph: '↑',
    ascii: '^',
    ansi: [26, 231],
    form: 'pulse',
    ...atWork,
    path: 'M5 7.4 V2.8 M3 4.6 L5 2.6 L7 4.6',
    glyphFrom: SMALL,
  },
  settling: {
    glyph: '…',
    ascii: '~',
    ansi: [153, 18],
    form: 'outline',
    ...atWork,
    path: 'M3 5 h0 M5 5 h0 M7 5 h0',
    glyphFrom: SMALL,
  },
  offline: {
    glyph: '–',
    ascii: '-',
    ansi: [239, 254],
    form: 'dashed',
    ...colors(['#55606b', WHITE], ['#78838e', BLACK]),
    path: 'M3.2 5 H6.8',
    glyphFrom: SMALL,
  },
  held: {
    glyph: '‖',
    ascii: '=',
    ansi: [251, 55],
    form: 'hatch',
    ...withLine(waiting, '#5b52a3', '#a59bf0'),
    path: 'M4.1 3.4 V6.6 M5.9 3.4 V6.6',
    glyphFrom: LARGE,
  },
  outdated: {
    glyph: '·',
    ascii: '.',
    ansi: [251, 235],
    form: 'fill',
    ...waiting,
    path: 'M5 5 h0',
    glyphFrom: Number.POSITIVE_INFINITY,
  },
  updated: {
    glyph: '✓',
    ascii: '+',
    ansi: [72, 16],
    form: 'fill',
    ...colors(['#3aa38f', BLACK], ['#5eccb4', BLACK]),
    path: 'M2.6 5.2 L4.4 7 L7.6 3.2',
    glyphFrom: LARGE,
  },
};

/** Where one cell stands for several nodes, it shows the first of these. */
export const bySeverity = Object.keys(phaseStyles) as readonly Phase[];
