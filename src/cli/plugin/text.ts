import { stringify } from 'yaml';
import { OptionError } from '../../runtime/index.ts';

export type OutputFormat = 'table' | 'wide' | 'json' | 'yaml' | 'name';

/** Reads `-o`; undefined is the table. */
export const readFormat = (value: string | undefined, allowed: readonly OutputFormat[]): OutputFormat => {
  const format = value ?? 'table';
  const known = allowed.find((one) => one === format);
  if (!known) {
    const names = allowed.filter((one) => one !== 'table').join(', ');
    throw new OptionError('--output', `"${format}" is not a format: give one of ${names}, or leave it out`);
  }
  return known;
};

/** Columns as kubectl aligns them: three blanks between, none at the end of a line. */
export const table = (header: readonly string[], rows: readonly (readonly string[])[]): string => {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
    .concat('\n');
};

export const structured = (value: unknown, format: 'json' | 'yaml'): string =>
  format === 'json' ? `${JSON.stringify(value, null, 2)}\n` : stringify(value);

/** `NAME`, `ds/NAME` or `daemonset/NAME` (`daemonsets.apps/NAME` too); other kinds are refused. */
export const readDaemonSetName = (text: string): string => {
  const [kind, name, ...more] = text.includes('/') ? text.split('/') : ['ds', text];
  const kinds = ['ds', 'daemonset', 'daemonsets', 'daemonset.apps', 'daemonsets.apps', 'dro', 'daemonrollout'];
  if (!name || more.length > 0 || !kinds.includes((kind ?? '').toLowerCase()))
    throw new OptionError(text, 'names no DaemonSet: give ds/NAME or NAME');
  return name;
};
