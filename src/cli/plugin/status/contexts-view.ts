import { escapeLine, toLines } from '../../../text/index.ts';
import {
  type Cell,
  createTable,
  cutTo,
  type Doubt,
  type OutputFormat,
  type Paint,
  structured,
  withoutManagedFields,
} from '../../../view/index.ts';
import type { DaemonRollout } from '../../../words/index.ts';
import { createRows, objectName } from './view.ts';

/** Of an error in a row; stderr has all of it. */
const ERROR_COLUMNS = 100;

/** What the cluster of one context says. */
export interface ContextStatus {
  context: string;
  /** By name. */
  rollouts: readonly DaemonRollout[];
  /** Why the status of one of them is not about the present. */
  doubt: (rollout: DaemonRollout) => Doubt | undefined;
  /** Why there are none, or fewer than the user asked for. */
  error: string | undefined;
}

export interface ContextsTextOptions {
  /** Whether the table has a column for the namespace. */
  namespaces: boolean;
  paint: Paint;
  now: number;
}

const shortError = (error: string): string => {
  const [first = ''] = error.split(/\r?\n|\r/);
  const line = escapeLine(first);
  const cut = cutTo(line, ERROR_COLUMNS);
  return cut === line ? line : `${cutTo(line, ERROR_COLUMNS - 1)}…`;
};

/** The rollouts of several contexts, in the order of the contexts. */
export const contextsText = (
  contexts: readonly ContextStatus[],
  format: OutputFormat | undefined,
  { namespaces, paint, now }: ContextsTextOptions,
): string => {
  if (format === 'json' || format === 'yaml') {
    const list = contexts.map(({ context, error, rollouts }) => ({
      context,
      ...(error !== undefined && { error }),
      items: rollouts.map(withoutManagedFields),
    }));
    return structured({ apiVersion: 'v1', kind: 'ContextList', contexts: list }, format);
  }
  if (format === 'name')
    return toLines(
      ...contexts.flatMap(({ context, rollouts }) => rollouts.map((rollout) => `${context} ${objectName(rollout)}`)),
    );
  const { header, cells, failure } = createRows(format, { namespaces });
  const rows = contexts.flatMap(({ context, rollouts, doubt, error }): Cell[][] => [
    ...rollouts.map((rollout) => [context, ...cells(rollout, doubt(rollout), now)]),
    ...(error === undefined ? [] : [[context, ...failure(shortError(error))]]),
  ]);
  return createTable(['CONTEXT', ...header], paint).withHeader(rows);
};
