import { isNeverSeen, slotsOfStatus } from '../../../rollout/index.ts';
import { toLines } from '../../../text/index.ts';
import {
  type Cell,
  createTable,
  type Doubt,
  doubtTexts,
  formatSeconds,
  native,
  type OutputFormat,
  ownerOfRollout,
  type Paint,
  structured,
  timeUntil,
  toneOfStatus,
  withoutManagedFields,
} from '../../../view/index.ts';
import type { DaemonRollout, DaemonRolloutStatus } from '../../../words/index.ts';
import { createStageTable, openStage } from './stage-table.ts';

/** Offline nodes that a row names. */
const STRAGGLERS = 2;

const number = (value: number | undefined): string => String(value ?? 0);

/** The time since the latest of these moments. */
const sinceLast = (dateTimes: readonly (string | undefined)[], now: number): string => {
  const last = Math.max(...dateTimes.map((dateTime) => Date.parse(dateTime ?? '') || 0));
  return last > 0 && Number.isFinite(now) ? formatSeconds(Math.max(0, now - last) / 1000) : '';
};

/** The offline nodes that still need the target, and for how long they have been away: `shop-17 3d, shop-9 5h, 4 more`. */
const lastSeen = ({ stragglers = [], causes = [] }: DaemonRolloutStatus, now: number): string => {
  const all = causes.reduce(
    (sum, { phase, cause, count }) => (phase === 'offline' && cause !== 'offline-current' ? sum + count : sum),
    0,
  );
  const named = stragglers.slice(0, STRAGGLERS);
  const more = Math.max(all, stragglers.length) - named.length;
  const texts = named.map(
    ({ node, lastSeen: at }) => `${node} ${isNeverSeen(at) ? 'never' : formatSeconds((now - Date.parse(at)) / 1000)}`,
  );
  return [...texts, ...(more > 0 && named.length > 0 ? [`${more} more`] : [])].join(', ');
};

interface Column {
  title: string;
  wide?: boolean;
  cell: (status: DaemonRolloutStatus, now: number) => Cell;
}

const columns: readonly Column[] = [
  { title: 'STATUS', cell: (s) => ({ text: s.summary ?? 'Not started', tone: toneOfStatus(s) }) },
  { title: 'TARGET', cell: (s) => ({ text: s.target?.hash ?? '', tone: 'dim' }) },
  // Out of the online nodes: offline nodes have a column of their own and don't block the rollout.
  { title: 'UPDATED', cell: (s) => `${number(s.nodes?.updated)}/${number(s.nodes?.online)}` },
  { title: 'UPDATING', cell: (s) => number(s.nodes?.updating) },
  { title: 'OFFLINE', cell: (s) => number(s.nodes?.offline) },
  { title: 'FAILED', cell: (s) => ({ text: number(s.nodes?.failed), tone: s.nodes?.failed ? 'bad' : undefined }) },
  {
    title: 'BUDGET',
    // If owners replace their pods themselves, there is no budget.
    cell: (s) => {
      const { inUse, limit } = slotsOfStatus(s);
      return s.strategy === 'ota' && limit === 0 ? '-' : `${inUse}/${limit}`;
    },
  },
  { title: 'LEFT', cell: (s, now) => timeUntil(s.estimatedFinishAt, now) },
  { title: 'STAGE', wide: true, cell: (s) => openStage(s.stages) },
  { title: 'STRATEGY', wide: true, cell: (s) => s.strategy ?? '' },
  {
    title: 'LAST-CHANGE',
    wide: true,
    cell: (s, now) =>
      sinceLast([s.startedAt, s.finishedAt, ...(s.conditions ?? []).map((one) => one.lastTransitionTime)], now),
  },
  { title: 'OUTDATED', wide: true, cell: (s) => number(s.nodes?.outdated) },
  { title: 'BROKEN', wide: true, cell: (s) => number(s.nodes?.broken) },
  { title: 'SETTLING', wide: true, cell: (s) => number(s.nodes?.settling) },
  { title: 'HELD', wide: true, cell: (s) => number(s.nodes?.held) },
  { title: 'MISSING', wide: true, cell: (s) => number(s.nodes?.missing) },
  { title: 'SUSPECTS', wide: true, cell: (s) => number(s.breaker?.suspects) },
  { title: 'MAX-UNAVAILABLE', wide: true, cell: (s) => s.budget?.maxUnavailable ?? '' },
  { title: 'MAX-SURGE', wide: true, cell: (s) => s.budget?.maxSurge ?? '' },
  { title: 'LAST-SEEN', wide: true, cell: lastSeen },
];

/** A name that commands accept: a native DaemonSet by its bare name, an Advanced one with its kind. */
const titleOf = (rollout: DaemonRollout): string => {
  const { kind, name } = ownerOfRollout(rollout);
  return kind === native ? name : `${kind.short}/${name}`;
};

/** Whether this format is a table for people; the others are data for programs. */
export const isTable = (format: OutputFormat | undefined): boolean => format === undefined || format === 'wide';

/** The columns of a table of rollouts, and the cells of one in them. */
export const createRows = (format: OutputFormat | undefined, { namespaces }: { namespaces: boolean }) => {
  const shown = columns.filter(({ wide }) => !wide || format === 'wide');
  const names = [...(namespaces ? ['NAMESPACE'] : []), 'NAME'];
  return {
    header: [...names, ...shown.map(({ title }) => title)],
    /** `doubt`: why the status of the rollout is not about the present. */
    cells: (rollout: DaemonRollout, doubt: Doubt | undefined, now: number): Cell[] => [
      ...(namespaces ? [rollout.metadata.namespace ?? ''] : []),
      titleOf(rollout),
      ...(doubt === undefined
        ? shown.map(({ cell }) => cell(rollout.status ?? {}, now))
        : shown.map(({ title }): Cell => (title === 'STATUS' ? { text: doubtTexts[doubt], tone: 'warning' } : '-'))),
    ],
    /** A row about no rollout: what is wrong, in place of a status. */
    failure: (text: string): Cell[] => [...names.map(() => '-'), { text, tone: 'bad', spans: true }],
  };
};

/** The name of the object, as kubectl prints it with `-o name`. */
export const objectName = ({ metadata }: DaemonRollout): string => `daemonrollout.edgeset.io/${metadata.name}`;

export interface StatusView {
  /** A table for people, which can be redrawn in place; otherwise, data for programs. */
  table: boolean;
  all(rollouts: readonly DaemonRollout[], now: number): string;
  /** A new state of one rollout, to be appended: in a table its row, and a line for each of its stages. */
  one(rollout: DaemonRollout, now: number): string;
}

export interface StatusViewOptions {
  namespaces: boolean;
  /** The user asked for one by name. */
  single: boolean;
  /** Show the stages of each rollout below the table. */
  stages?: boolean;
  /** Why the status of a rollout is not about the present. */
  doubt?: (rollout: DaemonRollout) => Doubt | undefined;
  /** Default: without colors. */
  paint?: Paint;
}

/** Formats rollouts for `status`. */
export const createStatusView = (
  format: OutputFormat | undefined,
  { namespaces, single, stages = false, doubt, paint }: StatusViewOptions,
): StatusView => {
  if (format === 'json' || format === 'yaml')
    return {
      table: false,
      all: (rollouts) => {
        const [first] = rollouts;
        const list = { apiVersion: 'v1', kind: 'List', items: rollouts.map(withoutManagedFields) };
        return structured(single && first ? withoutManagedFields(first) : list, format);
      },
      one: (rollout) => `${format === 'yaml' ? '---\n' : ''}${structured(withoutManagedFields(rollout), format)}`,
    };
  if (format === 'name') {
    const one = (rollout: DaemonRollout): string => toLines(objectName(rollout));
    return { table: false, all: (rollouts) => rollouts.map(one).join(''), one };
  }
  const { header, cells: cellsOf } = createRows(format, { namespaces });
  const table = createTable(header, paint);
  const cells = (rollout: DaemonRollout, now: number): Cell[] => cellsOf(rollout, doubt?.(rollout), now);
  const stageTable = createStageTable(format === 'wide', paint);
  const hasStages = (rollout: DaemonRollout): boolean => stages && doubt?.(rollout) === undefined;
  /** With several, the name of each above its stages. */
  const sections = (rollouts: readonly DaemonRollout[], now: number): string =>
    rollouts
      .filter(hasStages)
      .map((rollout) => {
        const text = stageTable.withHeader(rollout, now);
        const name = rollouts.length > 1 ? toLines(`${titleOf(rollout)}:`) : '';
        return text === '' ? '' : `\n${name}${text}`;
      })
      .join('');
  return {
    table: true,
    all: (rollouts, now) =>
      `${table.withHeader(rollouts.map((rollout) => cells(rollout, now)))}${sections(rollouts, now)}`,
    one: (rollout, now) =>
      `${table.row(cells(rollout, now))}${hasStages(rollout) ? stageTable.lines(rollout, now) : ''}`,
  };
};
