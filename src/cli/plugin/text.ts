import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/index.ts';
import type { DryRun } from '../commands.ts';

/** Aligns columns as kubectl does: three spaces between them, none at the end of a line. */
export const createTable = (header: readonly string[]) => {
  const widths = header.map((title) => title.length);
  const line = (cells: readonly string[]): string =>
    `${cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('   ')
      .trimEnd()}\n`;
  /** Widths only grow, so that rows that are appended later line up with earlier ones. */
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

/** The object without `managedFields`, as kubectl prints it. */
export const withoutManagedFields = ({ apiVersion, kind, metadata, ...others }: KubeObject): object => {
  const shown = { ...metadata };
  delete shown.managedFields;
  return { apiVersion, kind, metadata: shown, ...others };
};

export const structured = (value: unknown, format: 'json' | 'yaml'): string =>
  format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);

/** A duration for a table: `90s`, `45m`, `5h`, `12d`. */
export const formatSeconds = (seconds: number): string => {
  if (seconds < 120) return `${Math.ceil(seconds)}s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)}m`;
  const hours = Math.round(seconds / 3600);
  return hours < 72 ? `${hours}h` : `${Math.round(hours / 24)}d`;
};

/** Joins sentences with spaces, without the empty ones. */
export const joinSentences = (...parts: string[]): string => parts.filter((part) => part !== '').join(' ');

/** The first `most` names, and the number of others. */
export const firstOf = (names: readonly string[], most: number): string => {
  const more = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${more}`;
};

/** Appended to the message for a change that was not made. */
export const dryRunSuffix = (dryRun: DryRun): string =>
  ({ none: '', client: ' (dry run)', server: ' (server dry run)' })[dryRun];
