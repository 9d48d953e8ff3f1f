// The colors of both pages as CSS custom properties: Radix' scales and the phases by purpose, in light and dark. Only the build
// needs the packages.

import { fileURLToPath } from 'node:url';
import * as radix from '@radix-ui/colors';
import { phaseStyles } from '../src/view/phase-style.ts';

/** A file of the package whose colors are in the style sheets. */
export const COLOR_PACKAGE = fileURLToPath(import.meta.resolve('@radix-ui/colors'));

export type Scheme = 'light' | 'dark';
export const schemes: readonly Scheme[] = ['light', 'dark'];
export type Page = 'owner' | 'fleet';

/** Their steps: 1 and 2 are grounds, 3 to 5 components, 6 to 8 lines, 9 and 10 solid, 11 and 12 text. */
const scales = {
  sage: { light: Object.values(radix.sage), dark: Object.values(radix.sageDark) },
  sand: { light: Object.values(radix.sand), dark: Object.values(radix.sandDark) },
  jade: { light: Object.values(radix.jade), dark: Object.values(radix.jadeDark) },
  red: { light: Object.values(radix.red), dark: Object.values(radix.redDark) },
  amber: { light: Object.values(radix.amber), dark: Object.values(radix.amberDark) },
  orange: { light: Object.values(radix.orange), dark: Object.values(radix.orangeDark) },
  indigo: { light: Object.values(radix.indigo), dark: Object.values(radix.indigoDark) },
  mint: { light: Object.values(radix.mint), dark: Object.values(radix.mintDark) },
} as const;

type Scale = keyof typeof scales;

const WHITE = '#ffffff';

const step = (scale: Scale, scheme: Scheme, number: number): string => {
  const color = scales[scale][scheme][number - 1];
  if (color === undefined) throw new Error(`the scale ${scale} has no step ${number}`);
  return color;
};

const channels = (color: string): number[] => [1, 3, 5].map((from) => Number.parseInt(color.slice(from, from + 2), 16));

/** Between both text steps: step 11 has less than 4.5:1 on a tinted ground, and step 12 has little of the hue. */
const textOf = (scale: Scale, scheme: Scheme): string => {
  const [soft, strong] = [11, 12].map((number) => channels(step(scale, scheme, number)));
  const mixed = soft?.map((channel, index) => Math.round((channel + (strong?.[index] ?? 0)) / 2)) ?? [];
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`;
};

/** By day, the owner's page is warmer. */
const neutrals: Readonly<Record<Page, Readonly<Record<Scheme, { scale: Scale; ground: number }>>>> = {
  owner: { light: { scale: 'sand', ground: 3 }, dark: { scale: 'sage', ground: 1 } },
  fleet: { light: { scale: 'sage', ground: 2 }, dark: { scale: 'sage', ground: 1 } },
};

const phaseColors = (scheme: Scheme): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(phaseStyles).flatMap(([phase, style]): (readonly [name: string, color: string])[] => {
      const { color, ink, line } = style[scheme];
      return [[phase, color], [`on-${phase}`, ink], ...(line === undefined ? [] : [[`${phase}-line`, line] as const])];
    }),
  );

/** By the name of the custom property, without its dashes. */
export const colorsOf = (page: Page, scheme: Scheme): Readonly<Record<string, string>> => {
  const { scale, ground } = neutrals[page][scheme];
  const neutral = (number: number): string => step(scale, scheme, number);
  const isLight = scheme === 'light';
  const on = (hue: Scale): string => (isLight ? WHITE : step(hue, scheme, 1));
  return {
    ground: neutral(ground),
    surface: isLight ? WHITE : neutral(2),
    sunk: neutral(ground + (isLight ? 1 : 2)),
    line: neutral(isLight ? 6 : 5),
    frame: neutral(10),
    ink: neutral(12),
    soft: neutral(11),
    accent: textOf('mint', scheme),
    'on-accent': on('mint'),
    bad: textOf('red', scheme),
    'bad-ground': step('red', scheme, 3),
    'on-bad': on('red'),
    wait: textOf('amber', scheme),
    'wait-ground': step('orange', scheme, 3),
    go: textOf('indigo', scheme),
    'go-ground': step('indigo', scheme, 3),
    ok: textOf('mint', scheme),
    'ok-ground': step('jade', scheme, 3),
    focus: step('indigo', scheme, 11),
    ...(page === 'fleet' && phaseColors(scheme)),
  };
};

const declare = (colors: Readonly<Record<string, string>>): string =>
  `:root{${Object.entries(colors)
    .map(([name, color]) => `--${name}:${color}`)
    .join(';')}}`;

/** A style sheet. The dark scheme says only what differs. */
export const colorSheet = (page: Page): string => {
  const light = colorsOf(page, 'light');
  const dark = Object.entries(colorsOf(page, 'dark')).filter(([name, color]) => light[name] !== color);
  return `${declare(light)}@media(prefers-color-scheme:dark){${declare(Object.fromEntries(dark))}}`;
};
