import type { DaemonRollout, DaemonRolloutStatus } from '../../../rollout/index.ts';
import type { StatusFlags } from '../../commands.ts';
import { readRolloutName } from '../kinds/names.ts';
import { native } from '../kinds/native.ts';
import { createTable, formatSeconds, structured, withoutManagedFields } from '../text.ts';

const number = (value: number | undefined): string => String(value ?? 0);

/** The time until then, in its largest unit; empty if unknown or past. */
const until = (dateTime: string | undefined, now: number): string => {
  const seconds = Math.ceil((Date.parse(dateTime ?? '') - now) / 1000);
  return seconds > 0 ? formatSeconds(seconds) : '';
};

interface Column {
  title: string;
  wide?: boolean;
  cell: (status: DaemonRolloutStatus, now: number) => string;
}

const columns: readonly Column[] = [
  { title: 'STATUS', cell: (s) => s.summary ?? 'Not started' },
  { title: 'TARGET', cell: (s) => s.target?.hash ?? '' },
  // Out of the online nodes: offline nodes have a column of their own and don't block the rollout.
  { title: 'UPDATED', cell: (s) => `${number(s.nodes?.updated)}/${number(s.nodes?.online)}` },
  { title: 'UPDATING', cell: (s) => number(s.nodes?.updating) },
  { title: 'OFFLINE', cell: (s) => number(s.nodes?.offline) },
  { title: 'FAILED', cell: (s) => number(s.nodes?.failed) },
  {
    title: 'BUDGET',
    // If owners replace their pods themselves, there is no budget.
    cell: (s) =>
      s.strategy === 'ota' && !s.budget?.nodes ? '-' : `${number(s.budget?.inUse)}/${number(s.budget?.nodes)}`,
  },
  { title: 'LEFT', cell: (s, now) => until(s.estimatedFinishAt, now) },
  { title: 'OUTDATED', wide: true, cell: (s) => number(s.nodes?.outdated) },
  { title: 'BROKEN', wide: true, cell: (s) => number(s.nodes?.broken) },
  { title: 'SETTLING', wide: true, cell: (s) => number(s.nodes?.settling) },
  { title: 'HELD', wide: true, cell: (s) => number(s.nodes?.held) },
  { title: 'MISSING', wide: true, cell: (s) => number(s.nodes?.missing) },
  { title: 'SUSPECTS', wide: true, cell: (s) => number(s.breaker?.suspects) },
  { title: 'MAX-UNAVAILABLE', wide: true, cell: (s) => s.budget?.maxUnavailable ?? '' },
  { title: 'MAX-SURGE', wide: true, cell: (s) => s.budget?.maxSurge ?? '' },
];

/** A name that commands accept: a native DaemonSet by its bare name, an Advanced one with its kind. */
const titleOf = (rolloutName: string): string => {
  const { kind, name } = readRolloutName(rolloutName);
  return kind === native ? name : `${kind.short}/${name}`;
};

export interface StatusView {
  /** All rollouts. */
  all(rollouts: readonly DaemonRollout[], now: number): string;
  /** A new state of one rollout, to be appended. */
  one(rollout: DaemonRollout, now: number): string;
}

/** Formats rollouts for `status`. `single`: the user asked for one by name. */
export const createStatusView = (
  format: StatusFlags['output'],
  { namespaces, single }: { namespaces: boolean; single: boolean },
): StatusView => {
  if (format === 'json' || format === 'yaml')
    return {
      all: (rollouts) => {
        const [first] = rollouts;
        const list = { apiVersion: 'v1', kind: 'List', items: rollouts.map(withoutManagedFields) };
        return structured(single && first ? withoutManagedFields(first) : list, format);
      },
      one: (rollout) => `${format === 'yaml' ? '---\n' : ''}${structured(withoutManagedFields(rollout), format)}`,
    };
  if (format === 'name') {
    const one = ({ metadata }: DaemonRollout): string => `daemonrollout.edgeset.io/${metadata.name}\n`;
    return { all: (rollouts) => rollouts.map(one).join(''), one };
  }
  const shown = columns.filter(({ wide }) => !wide || format === 'wide');
  const table = createTable([...(namespaces ? ['NAMESPACE'] : []), 'NAME', ...shown.map(({ title }) => title)]);
  const cells = ({ metadata, status = {} }: DaemonRollout, now: number): string[] => [
    ...(namespaces ? [metadata.namespace ?? ''] : []),
    titleOf(metadata.name ?? ''),
    ...shown.map(({ cell }) => cell(status, now)),
  ];
  return {
    all: (rollouts, now) => table.withHeader(rollouts.map((rollout) => cells(rollout, now))),
    one: (rollout, now) => table.row(cells(rollout, now)),
  };
};
