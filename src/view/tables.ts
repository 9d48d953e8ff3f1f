import { Document, visit } from 'yaml';
import type { KubeObject } from '../kube/index.ts';
import { escapeLine, escapeText, isActive } from '../text/index.ts';
import { columnsOf } from './columns.ts';
import { type Paint, type Toned, unpainted } from './tones.ts';

/** Values of `-o`. Without it, commands print text. */
export type OutputFormat = 'wide' | 'json' | 'yaml' | 'name';

/** A cell of a table, with or without a tone. One that `spans` runs on over the columns after it, and widens none. */
export type Cell = string | (Toned & { spans?: boolean });

const toned = (cell: Cell): Exclude<Cell, string> => (typeof cell === 'string' ? { text: cell } : cell);

/** Aligns columns as kubectl does: three spaces between them, none at the end of a line. */
export const createTable = (header: readonly string[], paint: Paint = unpainted) => {
  const widths = header.map((title) => title.length);
  const widthOf = (cell: Cell): number => columnsOf(escapeLine(toned(cell).text));
  const line = (cells: readonly Cell[]): string => {
    const last = cells.findLastIndex((cell) => toned(cell).text !== '');
    const padded = cells.slice(0, last + 1).map((cell, column) => {
      const { text, tone } = toned(cell);
      const missing = column === last ? 0 : Math.max(0, (widths[column] ?? 0) - widthOf(cell));
      return paint(escapeLine(text), tone) + ' '.repeat(missing);
    });
    return `${padded.join('   ')}\n`;
  };
  /** Widths only grow, so that rows that are appended later line up with earlier ones. */
  const measure = (rows: readonly (readonly Cell[])[]): void => {
    for (const row of rows)
      for (const [column, cell] of row.entries())
        if (!toned(cell).spans) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  };
  const titles = header.map((text): Toned => ({ text, tone: 'dim' }));
  return {
    withHeader(rows: readonly (readonly Cell[])[]): string {
      measure(rows);
      return [titles, ...rows].map(line).join('');
    },
    row(cells: readonly Cell[]): string {
      measure([cells]);
      return line(cells);
    },
  };
};

/** The object without `managedFields`, as kubectl prints it. */
export const withoutManagedFields = ({ apiVersion, kind, metadata, ...others }: KubeObject): object => {
  const shown = { ...metadata };
  delete shown.managedFields;
  return { apiVersion, kind, metadata: shown, ...others };
};

const toYaml = (value: unknown): string => {
  const document = new Document(value);
  visit(document, {
    Scalar(_, scalar) {
      // Quoted, because other styles have no escapes.
      if (typeof scalar.value === 'string' && isActive(scalar.value.replaceAll(/[\n\t]/g, '')))
        scalar.type = 'QUOTE_DOUBLE';
    },
  });
  return escapeText(document.toString());
};

/** JSON and quoted YAML have the same escapes for characters that act on a terminal, so the data stays the same. */
export const structured = (value: unknown, format: 'json' | 'yaml'): string =>
  format === 'json' ? `${escapeText(JSON.stringify(value, null, 2))}\n` : toYaml(value);

/** A duration for a table: `90s`, `45m`, `5h`, `12d`. */
export const formatSeconds = (seconds: number): string => {
  if (seconds < 120) return `${Math.ceil(seconds)}s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`;
  const hours = Math.round(seconds / 3600);
  return hours < 72 ? `${hours}h` : `${Math.round(hours / 24)}d`;
};

/** The time until then, in its largest unit; empty if unknown or past. */
export const timeUntil = (dateTime: string | undefined, now: number): string => {
  const seconds = Math.ceil((Date.parse(dateTime ?? '') - now) / 1000);
  return seconds > 0 ? formatSeconds(seconds) : '';
};

/** Joins sentences with spaces, without the empty ones. */
export const joinSentences = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');

/** The first `most` names, and the number of others. */
export const firstOf = (names: readonly string[], most: number): string => {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
};
