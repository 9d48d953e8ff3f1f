import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** A file of the repository. */
export const read = (file: string): string => readFileSync(join(root, file), 'utf8');

export const page = (name: string): string => read(`docs/reference/${name}.md`);

export const hasPage = (name: string): boolean => existsSync(join(root, `docs/reference/${name}.md`));

/** The text below a heading, up to the next one of the same or a higher level. */
export const section = (text: string, heading: string): string => {
  const lines = text.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`no heading "${heading}"`);
  const level = heading.indexOf(' ');
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => /^#+ /.test(line) && line.indexOf(' ') <= level);
  return rest.slice(0, end < 0 ? undefined : end).join('\n');
};

/** The first cell of each row of the tables in a text, without their heads. */
export const firstCells = (text: string): string[] =>
  text
    .split('\n')
    .filter((line, index, lines) => line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(lines[index + 1] ?? ''))
    .filter((line) => !/^\|[\s:|-]+\|$/.test(line))
    .map((line) => line.split('|')[1]?.trim() ?? '');

/** What stands in code spans. */
export const codeIn = (text: string): string[] => [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);

/** The code spans of the first cells of the tables in a text. */
export const rowsOf = (text: string): string[] => firstCells(text).flatMap(codeIn);
