import { stringify } from 'yaml';
import { OptionError } from '../../runtime/index.ts';

/** Columns as kubectl aligns them: three blanks between, none at the end of a line. */
export const createTable = (header: readonly string[]) => {
  const widths = header.map((title) => title.length);
  const line = (cells: readonly string[]): string =>
    `${cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd()}\n`;
  /** Widths only grow, so that rows which are appended later stand under the earlier ones. */
  const measure = (rows: readonly (readonly string[])[]): void => {
    for (const row of rows)
      for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  };
  return {
    withHeader(rows: readonly (readonly string[])[]): string {
      measure(rows);
      return [header, ...rows].map(line).join('');
    },
    row(cells: readonly string[]): string {
      measure([cells]);
      return line(cells);
    },
  };
};

export const structured = (value: unknown, format: 'json' | 'yaml'): string =>
  format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);

/** Sentences on one line; empty parts are left out. */
export const sentences = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');

/** The first few names, and how many more there are. */
export const someOf = (names: readonly string[], most: number): string => {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
};

const kinds = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'dro', 'daemonrollout'];

/** `NAME`, `ds/NAME` or `daemonset/NAME` (`daemonsets.apps/NAME` too); other kinds are refused. */
export const readDaemonSetName = (text: string): string => {
  const [kind = '', name, ...more] = text.includes('/') ? text.split('/') : ['ds', text];
  const known = kinds.includes(kind.toLowerCase()) || kind.toLowerCase().startsWith('daemonrollouts');
  // The API server would refuse other names too, but not as the plain slip that they are.
  if (!known || more.length > 0 || !name || !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/.test(name))
    throw new OptionError(`"${text}"`, 'names no DaemonSet: give ds/NAME or NAME');
  return name;
};
