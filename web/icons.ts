// The icons of both pages, from Lucide's files. Only the build reads them.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const names = [
  'alert-triangle',
  'arrow-right',
  'check',
  'clock',
  'cloud',
  'cloud-off',
  'download',
  'globe',
  'moon',
  'phone',
  'refresh-cw',
  'search',
  'shield',
] as const;

export type IconName = (typeof names)[number];

const LUCIDE = path.dirname(fileURLToPath(import.meta.resolve('lucide-static/package.json')));

const fileOf = (name: IconName): string => path.join(LUCIDE, 'icons', `${name}.svg`);

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

/** The names that stand in the sources of a page. */
const usedIn = (folder: string): readonly IconName[] => {
  const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.tsx'))
    .map((file) => readFileSync(path.join(folder, file), 'utf8'));
  return names.filter((name) => sources.some((text) => text.includes(`'${name}'`) || text.includes(`"${name}"`)));
};

export interface Icons {
  /** What each icon draws in a box of 24 by 24. */
  drawings: Readonly<Partial<Record<IconName, string>>>;
  /** The absolute paths of their files. */
  files: readonly string[];
}

/** The icons that the page in this folder uses. */
export const iconsOf = (folder: string): Icons => {
  const used = usedIn(folder);
  const drawings: Partial<Record<IconName, string>> = {};
  for (const name of used) drawings[name] = drawingIn(readFileSync(fileOf(name), 'utf8'));
  return { drawings, files: used.map(fileOf) };
};
