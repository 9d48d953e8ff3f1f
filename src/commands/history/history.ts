import { listAll, pods } from '../../kube/index.ts';
import { controllerOf } from '../../rollout/index.ts';
import { toLines } from '../../text/index.ts';
import {
  type Cell,
  type Connection,
  createTable,
  formatSeconds,
  type Named,
  type Paint,
  structured,
  type Tone,
} from '../../view/index.ts';
import type { DaemonRolloutHistory } from '../../words/index.ts';
import { noSuchRevision } from './choose-revision.ts';
import { renderPastStages, renderRollouts } from './past-rollouts.ts';
import { HASH_LABEL, type Revision, type RevisionHistory, readHistory, selectorOf } from './revisions.ts';
import { diffTemplates, renderDifference } from './template-diff.ts';

export interface HistoryOptions {
  /** Only this one, and how its template differs from the current one. */
  revision?: number | undefined;
}

/** The number of the DaemonSet's pods of each revision, by hash. */
const countPods = async (
  { client, namespace }: Connection,
  { daemonSet }: RevisionHistory,
): Promise<Map<string, number>> => {
  const counts = new Map<string, number>();
  for (const pod of await listAll(client, pods, { namespace, labelSelector: selectorOf(daemonSet) })) {
    const hash = pod.metadata?.labels?.[HASH_LABEL];
    if (hash === undefined || controllerOf(pod)?.uid !== daemonSet.metadata?.uid) continue;
    counts.set(hash, (counts.get(hash) ?? 0) + 1);
  }
  return counts;
};

/** A revision, and how it relates to the rollout. */
interface Row extends Omit<Revision, 'template'> {
  pods: number;
  present: boolean;
  lastComplete: boolean;
  rolledBack: boolean;
}

const toRow = (kept: RevisionHistory, revision: Revision, podCounts: ReadonlyMap<string, number>): Row => {
  const { number, name, hash, createdAt, images, changeCause } = revision;
  return {
    number,
    name,
    hash,
    createdAt,
    images,
    changeCause,
    pods: podCounts.get(hash) ?? 0,
    present: name === kept.present?.name,
    lastComplete: name === kept.lastComplete?.name,
    rolledBack: hash === kept.rolledBackHash,
  };
};

const stateOf = ({ present, lastComplete, rolledBack }: Row): string =>
  [present && 'present', lastComplete && 'last complete', rolledBack && 'rolled back'].filter(Boolean).join(', ');

const toneOf = ({ lastComplete, rolledBack, present }: Row): Tone | undefined => {
  if (rolledBack) return 'bad';
  return lastComplete ? 'good' : present ? 'accent' : undefined;
};

interface Column {
  title: string;
  wide?: boolean;
  cell: (row: Row, now: number) => Cell;
}

const columns: readonly Column[] = [
  { title: 'REVISION', cell: ({ number }) => String(number) },
  { title: 'HASH', cell: ({ hash }) => ({ text: hash, tone: 'dim' }) },
  { title: 'NAME', wide: true, cell: ({ name }) => name },
  { title: 'AGE', cell: ({ createdAt }, now) => formatSeconds(Math.max(0, now - Date.parse(createdAt)) / 1000) },
  { title: 'CREATED', wide: true, cell: ({ createdAt }) => createdAt },
  { title: 'PODS', cell: (row) => String(row.pods) },
  { title: 'STATE', cell: (row) => ({ text: stateOf(row), tone: toneOf(row) }) },
  { title: 'IMAGES', cell: ({ images }) => images.join(',') },
  { title: 'CHANGE-CAUSE', cell: ({ changeCause }) => changeCause ?? '' },
];

const renderTable = (rows: readonly Row[], wide: boolean, now: number, paint?: Paint): string => {
  const shown = columns.filter((column) => wide || !column.wide);
  return createTable(
    shown.map(({ title }) => title),
    paint,
  ).withHeader(rows.map((row) => shown.map(({ cell }) => cell(row, now))));
};

/** The template of one revision, and how it differs from the current one. */
interface Compared extends Pick<Revision, 'template'> {
  changes: ReturnType<typeof diffTemplates>;
}

/** The revisions of a DaemonSet, or one of them, and its last rollouts. */
export interface RolloutHistory {
  kept: RevisionHistory;
  rows: readonly Row[];
  /** Of the revision that was asked for. */
  compared: Compared | undefined;
  /** Newest first. */
  rollouts: readonly DaemonRolloutHistory[];
  now: number;
}

/** One revision: its row, what a rollback to it would change, and its template. */
const renderOne = ({ present }: RevisionHistory, row: Row, { template, changes }: Compared): string => {
  const state = stateOf(row);
  const title = `revision ${row.number} (${row.name})${state === '' ? '' : `: ${state}`}`;
  const differs =
    changes.length > 0
      ? [
          `Rolling back to it would change${present ? `, compared with revision ${present.number}` : ''}:`,
          ...changes.map((one) => `  ${renderDifference(one)}`),
        ]
      : ['It is the same as the current template.'];
  const head = toLines(
    title,
    `created ${row.createdAt}, used by ${row.pods} pod${row.pods === 1 ? '' : 's'}`,
    ...(row.changeCause === undefined ? [] : [`change-cause: ${row.changeCause}`]),
    '',
    ...differs,
    '',
  );
  return head + structured({ template: template ?? null }, 'yaml');
};

/** The revisions alone. Rejects with a `CommandError` if the one that is asked for is not kept. */
export const listRevisions = async (
  connection: Connection,
  named: Named,
  { revision: number }: HistoryOptions,
): Promise<{ kept: RevisionHistory; revisions: readonly Revision[] }> => {
  const kept = await readHistory(connection, named);
  const revisions = kept.revisions.filter((revision) => number === undefined || revision.number === number);
  if (number !== undefined && revisions.length === 0) throw noSuchRevision(kept, number);
  return { kept, revisions };
};

export const loadRolloutHistory = async (
  connection: Connection,
  named: Named,
  options: HistoryOptions,
): Promise<RolloutHistory> => {
  const { kept, revisions } = await listRevisions(connection, named, options);
  const podCounts = await countPods(connection, kept);
  const [one] = options.revision === undefined ? [] : revisions;
  return {
    kept,
    rows: revisions.map((revision) => toRow(kept, revision, podCounts)),
    compared: one && { changes: diffTemplates(kept.template, one.template), template: one.template },
    rollouts: (kept.status?.history ?? []).toReversed(),
    now: connection.env.clock.now(),
  };
};

/** For programs. */
export const historyData = ({ kept, rows, compared, rollouts }: RolloutHistory): object => {
  const daemonSet = { kind: kept.kind.label, namespace: kept.namespace, name: kept.name };
  return compared ? { daemonSet, ...rows[0], ...compared } : { daemonSet, revisions: rows, rollouts };
};

/** For people; `notes`: what is missing. */
export const historyText = (
  { kept, rows, compared, rollouts, now }: RolloutHistory,
  wide: boolean,
  paint?: Paint,
): { text: string; notes: readonly string[] } => {
  const [row] = rows;
  if (compared && row) return { text: renderOne(kept, row, compared), notes: [] };
  const tables = [
    rows.length > 0 ? renderTable(rows, wide, now, paint) : '',
    rollouts.length > 0 ? renderRollouts(rollouts, wide, now, paint) : '',
    renderPastStages(rollouts, wide, now, paint),
  ];
  const notes = [
    ...(rows.length === 0 ? [`${kept.kind.title} ${kept.namespace}/${kept.name} has no revisions.`] : []),
    ...(rows.length > 0 && !kept.present
      ? [`Note: the ${kept.kind.podController} has not recorded the current template yet.`]
      : []),
  ];
  return { text: tables.filter((table) => table !== '').join('\n'), notes };
};
