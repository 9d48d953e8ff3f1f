// The icons of both pages, from Lucide's files. Only the build reads them.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const names = [
  'activity',
  'alert-triangle',
  'arrow-right',
  'ban',
  'calendar',
  'check',
  'chevron-down',
  'circle-help',
  'clock',
  'cloud',
  'cloud-off',
  'copy',
  'download',
  'globe',
  'history',
  'list',
  'moon',
  'pause',
  'phone',
  'play',
  'refresh-cw',
  'search',
  'settings',
  'shield',
  'snowflake',
  'undo-2',
  'user-check',
  'x',
] as const;

export type IconName = (typeof names)[number];

const LUCIDE = path.dirname(fileURLToPath(import.meta.resolve('lucide-static/package.json')));

const fileOf = (name: IconName): string => path.join(LUCIDE, 'icons', `${name}.svg`);

/** The absolute paths of the files. */
export const iconFiles: readonly string[] = names.map(fileOf);

/** What is within the svg element, in one line. */
const drawingIn = (svg: string): string => {
  const [, drawing] = /<svg[^>]*>(.*)<\/svg>/s.exec(svg) ?? [];
  if (drawing === undefined) throw new Error(`there is no drawing in ${svg}`);
  return drawing
    .split('\n')
    .map((line) => line.trim())
    .join('')
    .replaceAll(' />', '/>');
};

/** What each icon draws in a box of 24 by 24. */
export const readIcons = (): Readonly<Record<IconName, string>> => {
  const icons: Partial<Record<IconName, string>> = {};
  for (const name of names) icons[name] = drawingIn(readFileSync(fileOf(name), 'utf8'));
  return icons as Record<IconName, string>;
};
